//! What files say about circuit breakers, for servers, browsers and tools alike.
//!
//! * [`PartialSettings`]: the settings of one breaker as they are written, with [the keys](PartialSettings#keys).
//! * [`Catalog`]: the settings of many breakers, with defaults and profiles.
//! * [`CheckSettings`], [`FleetSettings`]: the checks and the fleet of a catalogue.
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
//! | `files` (default) | all of the above; without it there are the [defaults](DEFAULT) and [`nearest`] only, and no dependencies |

#![cfg_attr(not(test), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(feature = "files")]
mod catalog;
#[cfg(feature = "files")]
mod check;
#[cfg(feature = "files")]
mod complete;
#[cfg(feature = "files")]
mod error;
#[cfg(feature = "files")]
mod fleet;
pub mod grpc;
#[cfg(feature = "files")]
mod keys;
mod nearest;
mod percentile;
#[cfg(feature = "files")]
mod statuses;
#[cfg(feature = "files")]
mod table;
#[cfg(feature = "files")]
mod then;
#[cfg(feature = "files")]
mod value;
#[cfg(feature = "files")]
mod window;
#[cfg(feature = "files")]
mod written;

#[cfg(feature = "files")]
pub use catalog::{Catalog, CatalogError};
#[cfg(feature = "files")]
pub use check::{Asked, CheckSettings};
#[cfg(feature = "files")]
pub use error::SettingsError;
#[cfg(feature = "files")]
pub use fleet::{FleetSettings, Place};
use nanobreaker_core::{Config, ConfigError};
pub use nanobreaker_core::{ConfigBuilder, CusumSettings, Rate, Settings, WindowSettings};
pub use nearest::nearest;
pub use percentile::Percentile;
#[cfg(feature = "files")]
pub use statuses::{StatusSet, Statuses};
#[cfg(feature = "files")]
pub use table::{PartialSettings, PartialWindow};
#[cfg(feature = "files")]
pub use then::Then;
#[cfg(feature = "files")]
pub use window::WindowKind;

/// The words of the windows of a server's breaker: enough for a threshold of 129, 1,024 calls or 64
/// buckets. [`PartialSettings::complete`] checks against them.
pub const WORDS: usize = 129;

/// What holds where nothing is written, in files and in the builder of servers' breakers.
///
/// Evidence opens a breaker, never noise: [`Cusum`](nanobreaker_core::window::Cusum) takes 2 % of failures
/// for normal and 50 % for broken, and is wrong once in 500 million calls that fail at the normal rate.
/// The evidence must have been mounting for 20 ms, so that the calls of one lost connection don't trip.
/// It opens for 500 ms, doubling with each trip in a row, and three probes must succeed for it to
/// close. A round of probes may take 30 s, so that a dependency that is slow but well closes it.
///
/// What isn't set here depends on the other settings: see [`with_dependent_defaults`].
///
/// Source: of the rules and openings that nanobreaker's own measurement of detection compares
/// (`benches/DETECTION.md` in its repository), these cost least over 108 simulated days.
pub const DEFAULT: Settings = Settings {
    window: WindowSettings::Cusum(CusumSettings {
        normal_ppm: 20_000,
        broken_ppm: 500_000,
        calls_per_false_trip: 500_000_000,
        sustained_for_ms: 20,
    }),
    slow_window: None,
    opening: Config::builder().open_for_ms(500).probe_successes(3).probe_lease_ms(30_000),
    slow_after_ms: None,
    hung_after_ms: None,
};

/// What backoff may lengthen the open time to where nobody says more.
const MAX_OPEN_MS: u64 = 5_000;

/// The opening with those defaults that depend on other settings: `max_open` is five seconds, or
/// `open_for` if that is longer, and `relapse_within` is as long as `max_open`.
///
/// ```
/// use nanobreaker_settings::{DEFAULT, with_dependent_defaults};
///
/// let opening = with_dependent_defaults(DEFAULT.opening.open_for_ms(10_000));
/// assert_eq!(opening.max_open_ms, Some(10_000));
/// assert_eq!(opening.relapse_within_ms, Some(10_000));
/// ```
pub fn with_dependent_defaults(opening: ConfigBuilder) -> ConfigBuilder {
    let max_open_ms = opening.max_open_ms.unwrap_or(opening.open_for_ms.max(MAX_OPEN_MS));
    ConfigBuilder {
        max_open_ms: Some(max_open_ms),
        relapse_within_ms: Some(opening.relapse_within_ms.unwrap_or(max_open_ms)),
        ..opening
    }
}

/// Whether a check in the background can be so: how often it asks and how long it waits, in milliseconds, and
/// how many in a row must succeed.
///
/// # Errors
///
/// A [`ConfigError`] that names the first number outside its limits.
pub fn check_limits(every_ms: u64, timeout_ms: u64, healthy_after: u32) -> Result<(), ConfigError> {
    let longest = u64::from(Config::MAX_DURATION_MS);
    for (field, value, most) in [
        ("check.every_ms", every_ms, longest),
        ("check.timeout_ms", timeout_ms, longest),
        ("check.healthy_after", healthy_after.into(), 1_000),
    ] {
        if !(1..=most).contains(&value) {
            return Err(ConfigError::new(field, value, 1, most));
        }
    }
    Ok(())
}

/// Whole milliseconds, rounded up, so that nothing but zero becomes zero.
pub fn millis(duration: core::time::Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

#[cfg(all(doctest, feature = "files"))]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(all(test, feature = "files"))]
mod tests;
