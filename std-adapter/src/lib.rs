//! A circuit breaker for servers: its healthy path writes nothing, however many threads share it.
//!
//! A breaker stands between your server and a dependency that can fail. When too many calls fail it
//! rejects further ones at once, instead of letting each wait for a timeout and take a worker with
//! it; after a pause it lets a few probes through, and closes again when they succeed.
//!
//! ```
//! use std::time::Duration;
//! use nanobreaker::{CallError, CallExt, SharedBreaker};
//!
//! # async fn charge() -> Result<&'static str, std::io::Error> { Ok("paid") }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let payments = SharedBreaker::builder()
//!     .failures(5, Duration::from_secs(10)) // 5 failures within 10 s trip
//!     .open_for(Duration::from_secs(10))
//!     .build()?;
//!
//! match payments.call_async(charge()).await {
//!     Ok(receipt) => println!("{receipt}"),
//!     Err(CallError::Rejected(why)) => println!("try again in {:?}", why.retry_after()),
//!     Err(error) => println!("payment failed: {error}"),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What is here
//!
//! * [`SharedBreaker`]: a handle that is cheap to clone, with everything a server usually wants.
//! * [`CallExt`]: [`call`](CallExt::call) and [`call_async`](CallExt::call_async) for it and for any
//!   [`Breaker`], with [`Caller`] for the details: classification, slow calls, hung calls.
//! * [`Fallback`]: what to do instead, for the results of calls.
//! * [`CoarseClock`], [`TimerClock`], [`WallClock`], and `TokioClock` for tests under paused time.
//! * All of [`nanobreaker_core`], for breakers in a `static`, other windows and other clocks.
//!
//! All public types are `Debug`, `Send` and `Sync`. They are `Clone` but for those that stand for one call or one
//! ready service, that are a part of one breaker, that collect what a registry or a fleet is made from, and errors
//! that hold another error.
//!
//! # Features
//!
//! None is on by default.
//!
//! | feature | adds |
//! | ------- | ---- |
//! | `admin` | `admin`: a page and a JSON interface for operators, as an axum router |
//! | `axum` | a module of that name: 503 with `Retry-After` for rejected requests, and a layer for routes |
//! | `check` | `Check`: asks in the background whether a dependency is well again; with `check-http` and `check-grpc` by those protocols |
//! | `config` | `catalog`: the settings of many breakers, from files and the environment, read again while calls go on |
//! | `fleet` | `fleet`: breakers of many processes share what they find out; the crate `nanobreaker-fleet` brings Redis and Valkey |
//! | `full` | all of these but `sqlx` |
//! | `metrics` | metrics of watched breakers through the facade of that name: see `observe::Monitor::publish` |
//! | `monitor` | `observe`: counts, recent transitions and health of breakers |
//! | `redis` | a [classifier](classify) of redis's errors |
//! | `registry` | `Registry`: breakers by key, bounded in number |
//! | `reqwest` | a module of that name: a middleware with a breaker per host; brings `registry` |
//! | `serde` | serialization of phases, outcomes, snapshots and transitions |
//! | `settings` | `PartialSettings`: what a file can say about a breaker, with durations such as "10s" |
//! | `sqlx` | a [classifier](classify) of sqlx's errors; needs Rust 1.94, as sqlx 0.9 does |
//! | `state-file` | `StateFile`: keeps what breakers know over restarts |
//! | `tokio` | `TokioClock`, and `hung_after`, which judges calls that don't return; with `monitor`, a broadcast of transitions |
//! | `tonic` | a module of that name: a channel behind a breaker, and rejections as UNAVAILABLE |
//! | `tower` | a module of that name: a layer for any service |
//! | `tower-http` | HTTP and gRPC in that layer, by tower-http's classifiers, to the end of a body |
//! | `tracing` | an event for each transition: see `SharedBreakerBuilder::traced` |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(feature = "admin")]
pub mod admin;
#[cfg(any(feature = "reqwest", feature = "tower-http"))]
mod asked;
#[cfg(feature = "axum")]
pub mod axum;
mod call;
#[cfg(feature = "config")]
pub mod catalog;
#[cfg(feature = "check")]
mod check;
pub mod classify;
mod clock;
#[cfg(any(feature = "reqwest", feature = "tower-http"))]
mod counted;
mod error;
#[cfg(feature = "tracing")]
mod event;
mod fallback;
#[cfg(feature = "fleet")]
pub mod fleet;
#[cfg(any(feature = "reqwest", feature = "tower-http"))]
mod host;
mod identity;
#[cfg(feature = "monitor")]
pub mod observe;
#[cfg(any(feature = "monitor", feature = "tracing"))]
mod reason;
#[cfg(feature = "registry")]
mod registry;
mod rejection;
#[cfg(feature = "reqwest")]
pub mod reqwest;
mod shared;
#[cfg(feature = "state-file")]
mod state_file;
mod stripes;
#[cfg(feature = "tonic")]
pub mod tonic;
#[cfg(feature = "tower")]
pub mod tower;
#[cfg(feature = "monitor")]
mod watch;

/// Its examples compile, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(feature = "tokio")]
pub use call::Timed;
pub use call::{ByResult, CallExt, Caller, Classifier, Handle};
#[cfg(feature = "check")]
pub use check::{Check, CheckError};
#[cfg(feature = "tokio")]
pub use clock::TokioClock;
pub use clock::{CoarseClock, TimerClock, WallClock};
#[cfg(any(feature = "reqwest", feature = "tower-http"))]
pub use counted::Counted;
pub use error::CallError;
pub use fallback::Fallback;
pub use nanobreaker_core::*;
pub use nanobreaker_settings::Percentile;
#[cfg(feature = "settings")]
pub use nanobreaker_settings::{
    CheckSettings, FleetSettings, PartialSettings, PartialWindow, SettingsError, StatusSet, Statuses, Then,
    WindowKind,
};
#[cfg(feature = "registry")]
pub use registry::{Registry, RegistryBuilder};
pub use rejection::Rejection;
pub use shared::{
    BreakerRef, Group, Listeners, PinnedBreaker, SharedBreaker, SharedBreakerBuilder, SharedClock,
    SharedWindow,
};
#[cfg(feature = "state-file")]
pub use state_file::{StateFile, StateFileError};
pub use stripes::{ThreadLanes, ThreadStripes};
