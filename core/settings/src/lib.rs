//! What files say about circuit breakers, for servers, browsers and tools alike.
//!
//! * [`PartialSettings`]: the settings of one breaker as they are written, with [the keys](PartialSettings#keys).
//! * [`Catalog`]: the settings of many breakers, with defaults and profiles.
//! * [`SettingsError`]: names the key, its value and what is allowed.
//!
//! [`PartialSettings::complete`] makes the plain [`Settings`] of nanobreaker-core of them.
//!
//! This crate is `no_std` with an allocator. It reads through serde, so the format is yours to choose.
//!
//! # Features
//!
//! | feature | adds |
//! | ------- | ---- |
//! | `files` (default) | all of the above; without it there are the [defaults](DEFAULT) only, and no dependencies |

#![cfg_attr(not(test), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(feature = "files")]
extern crate alloc;

#[cfg(feature = "files")]
mod catalog;
#[cfg(feature = "files")]
mod complete;
#[cfg(feature = "files")]
mod error;
#[cfg(feature = "files")]
mod nearest;
#[cfg(feature = "files")]
mod table;
#[cfg(feature = "files")]
mod value;
#[cfg(feature = "files")]
mod window;

#[cfg(feature = "files")]
pub use catalog::{Catalog, CatalogError};
#[cfg(feature = "files")]
pub use error::SettingsError;
pub use nanobreaker_core::{ConfigBuilder, CusumSettings, Rate, Settings, WindowSettings};
#[cfg(feature = "files")]
pub use table::{PartialSettings, PartialWindow};
#[cfg(feature = "files")]
pub use window::WindowKind;

/// The words of the windows of a server's breaker: enough for a threshold of 65, 1,024 calls or 32
/// buckets. [`PartialSettings::complete`] checks against them.
pub const WORDS: usize = 65;

/// What holds where nothing is written, in files and in the builder of servers' breakers.
pub const DEFAULT: Settings = Settings::DEFAULT;

/// Whole milliseconds, rounded up, so that nothing but zero becomes zero.
pub fn millis(duration: core::time::Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

#[cfg(all(doctest, feature = "files"))]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(all(test, feature = "files"))]
mod tests;
