//! What firmware needs around a breaker of [`nanobreaker_core`].
//!
//! * `guarded`: I²C and SPI devices, pins and byte streams behind a breaker. Driver crates run on
//!   them unchanged.
//! * [`OneWordBreaker`]: a breaker of 4 bytes for chips with little flash, which guards take as well.
//! * [`clock`]: the clocks of the embedded ecosystem as a breaker's clock.
//! * `Queue`: a bounded queue of transitions, from an interrupt to the main loop.
//!
//! This crate is apart from the core so that the core's version does not depend on the versions of
//! the traits that are implemented here.
//!
//! # Features
//!
//! None is on by default.
//!
//! | feature | adds |
//! | ------- | ---- |
//! | `defmt` | `defmt::Format` for the public types, here and in the core |
//! | `embedded-hal` | `guarded`: I²C, SPI devices and pins behind a breaker |
//! | `embedded-hal-async` | the same for async I²C and SPI devices |
//! | `embedded-io` | `guarded`: byte streams behind a breaker |
//! | `embedded-io-async` | the same for async byte streams |
//! | `embedded-time` | [`clock::EmbeddedTimeClock`](clock) over an `embedded_time::Clock` |
//! | `heapless` | `Queue`; needs a [critical section](https://docs.rs/critical-section) and Rust 1.88 |

#![cfg_attr(not(test), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub mod clock;
#[cfg(any(feature = "embedded-hal", feature = "embedded-io"))]
pub mod guarded;
mod one_word;
#[cfg(feature = "heapless")]
mod queue;
mod sync;

pub use one_word::OneWordBreaker;
#[cfg(feature = "heapless")]
pub use queue::Queue;

#[cfg(all(doctest, feature = "embedded-hal"))]
#[doc = include_str!("../README.md")]
struct Readme;
