//! A circuit breaker whose healthy path is two loads: no lock, no allocation, no store, no clock
//! read. The same code runs in a web server at a million calls a second and in an interrupt of a
//! Cortex-M0.
//!
//! A breaker stands between a caller and a dependency that can fail: a payment API, a database, a
//! sensor on an I²C bus, a radio. It judges the outcomes of calls; when too many fail it **opens**
//! and rejects calls at once, instead of letting each wait for a timeout. After a pause it is
//! **half-open**: a few probes pass, and when they succeed it **closes** again.
//!
//! This crate is `no_std`, needs no allocator, holds no unsafe code and never panics at run time.
//! Servers will rather add the crate `nanobreaker`, which re-exports it and adds clocks, futures,
//! fallbacks and more. Firmware adds `nanobreaker-embedded` for guarded buses, clocks of the embedded
//! ecosystem and a queue of transitions.
//!
//! # A static breaker
//!
//! ```
//! use nanobreaker_core::{Breaker, Clock, Config, checked, window::Failures};
//!
//! struct Uptime;
//! impl Clock for Uptime {
//!     fn now_ms(&self) -> u64 {
//!         # 0
//!         # /*
//!         milliseconds_since_reset()
//!         # */
//!     }
//! }
//!
//! static RADIO: Breaker<Failures<3>, Uptime> = Breaker::new(
//!     checked!(Failures::within_ms(10_000)), // 3 failures within 10 s trip
//!     checked!(Config::builder().open_for_ms(5_000).build()),
//!     Uptime,
//! );
//!
//! # fn send() -> Result<(), ()> { Ok(()) }
//! if let Ok(permit) = RADIO.allow() {
//!     match send() {
//!         Ok(()) => permit.success(),
//!         Err(()) => permit.failure(),
//!     };
//! }
//! ```
//!
//! # The parts
//!
//! * [`Breaker`]: [`allow`](Breaker::allow) before a call, [`record`](Breaker::record) after it.
//! * [`window`]: what it remembers, and the rule that says trip.
//! * [`Config`]: how long it stays open and what closes it again.
//! * [`Clock`]: where the time comes from.
//! * [`Observer`]: is told of each transition once.
//!
//! # Features
//!
//! None is on by default.
//!
//! | feature | adds |
//! | ------- | ---- |
//! | `alloc` | nothing: an `Arc<C>` is a clock without it, as each pointer to one is |
//! | `defmt` | `defmt::Format` for the public types |
//! | `serde` | serialization of phases, outcomes, causes, snapshots and transitions |
//!
//! # Chips without a compare-and-swap
//!
//! On Cortex-M0 and others without one the *binary* chooses how `portable-atomic` makes exchanges
//! atomic: its feature `critical-section` (with an implementation, such as cortex-m's
//! `critical-section-single-core`, or on the two cores of an RP2040 rp2040-hal's
//! `critical-section-impl`), or, on a single core where masking interrupts is allowed,
//! `unsafe-assume-single-core`. On an ESP32-C2 or C3 esp-hal selects one of them. Without either this
//! crate does not compile and says so. Chips with a 32-bit compare-and-swap (Cortex-M3 and up) need nothing.

#![cfg_attr(not(test), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![allow(
    clippy::unnecessary_cast,
    clippy::useless_conversion,
    reason = "a word is of 64 or 32 bits: what converts in one width is needless in the other"
)]

mod breaker;
mod clock;
pub mod observer;
mod outcome;
mod permit;
mod phase;
mod rejected;
mod settings;
mod snapshot;
mod state;
mod sync;
pub mod window;

pub use breaker::{Breaker, Calm, RestoreError};
pub use clock::{Clock, ManualClock};
pub use observer::{Observer, Transition};
pub use outcome::{Outcome, Recorded};
pub use permit::{Permit, Token};
pub use phase::{Cause, Phase};
pub use rejected::Rejected;
pub use settings::{
    AdjustError, Config, ConfigBuilder, ConfigError, CusumSettings, Rate, Settings, WindowSettings,
};
pub use snapshot::Snapshot;
pub use window::{Evidence, Measured};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
