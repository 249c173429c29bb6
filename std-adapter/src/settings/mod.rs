//! Everything that a file can say about one breaker.
//!
//! A setting that is absent has its default; [`Settings::or`] lays one set over another. Settings are
//! checked when they are used, or by [`Settings::check`], and errors name the key as it is written.

mod apply;
mod duration;
mod error;
mod number;
mod window;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use duration::Humane;
pub use error::SettingsError;
use number::whole;
pub use window::{WindowKind, WindowSettings};

/// The settings of one breaker, as written in a file. What is absent has its default.
///
/// Durations are written with their unit (`open_for = "10s"`), or as a whole number of milliseconds
/// under the name with `_ms` (`open_for_ms = 10000`).
///
/// | setting | default | meaning |
/// | ------- | ------- | ------- |
/// | `open_for` | 10s | how long a first trip rejects calls |
/// | `max_open` | `open_for` | what backoff may lengthen it to, and the longest `Retry-After` that is followed |
/// | `probes` | 1 | probes in flight at once while half-open |
/// | `successes` | 1 | probes that must succeed to close |
/// | `failures` | 1 | probes that must fail to open again |
/// | `probe_lease` | `open_for` | how long probes in flight may stay without any answer |
/// | `ramp` | 0s (off) | how long the admitted share grows after half-open |
/// | `jitter_permille` | 0 | which part of an open time may be cut off at random, in thousandths |
/// | `latch` | false | a trip holds the breaker open until a reset |
/// | `slow_after` | none | a call that took longer is slow |
/// | `hung_after` | none | an asynchronous call that runs longer has failed (needs the feature `tokio`) |
/// | `window` | 5 failures within 10s | what trips: see [`WindowSettings`] |
///
/// Limits are those of [`Config`](crate::Config) and of the [windows](crate::window).
///
/// ```
/// use nanobreaker::{Settings, SharedBreaker};
///
/// let settings: Settings = toml::from_str(r#"
///     open_for = "5s"
///     max_open = "2m"
///     slow_after_ms = 800
///
///     [window]
///     kind = "time"
///     span = "30s"
///     failure_rate_percent = 40
///     slow_rate_percent = 80
/// "#)?;
/// let breaker = SharedBreaker::builder().settings(&settings)?.build()?;
/// assert_eq!(breaker.config().max_open_ms(), 120_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct Settings {
    /// How long a first trip rejects calls.
    #[serde(
        serialize_with = "duration::serialize",
        skip_serializing_if = "Option::is_none"
    )]
    pub open_for: Option<Duration>,
    /// What backoff may lengthen the open time to.
    #[serde(
        serialize_with = "duration::serialize",
        skip_serializing_if = "Option::is_none"
    )]
    pub max_open: Option<Duration>,
    /// Probes in flight at once while half-open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<u32>,
    /// Probes that must succeed to close.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successes: Option<u32>,
    /// Probes that must fail to open again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<u32>,
    /// How long probes in flight may stay without any answer.
    #[serde(
        serialize_with = "duration::serialize",
        skip_serializing_if = "Option::is_none"
    )]
    pub probe_lease: Option<Duration>,
    /// How long the admitted share grows after half-open.
    #[serde(
        serialize_with = "duration::serialize",
        skip_serializing_if = "Option::is_none"
    )]
    pub ramp: Option<Duration>,
    /// Which part of an open time may be cut off at random, in thousandths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter_permille: Option<u32>,
    /// Whether a trip holds the breaker open until a reset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latch: Option<bool>,
    /// A call that took longer is slow.
    #[serde(
        serialize_with = "duration::serialize",
        skip_serializing_if = "Option::is_none"
    )]
    pub slow_after: Option<Duration>,
    /// An asynchronous call that runs longer has failed.
    #[serde(
        serialize_with = "duration::serialize",
        skip_serializing_if = "Option::is_none"
    )]
    pub hung_after: Option<Duration>,
    /// What trips.
    #[serde(skip_serializing_if = "WindowSettings::is_empty")]
    pub window: WindowSettings,
}

/// Settings as written: durations in either form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename = "Settings")]
struct Written {
    open_for: Option<Humane>,
    #[serde(default, deserialize_with = "whole")]
    open_for_ms: Option<u64>,
    max_open: Option<Humane>,
    #[serde(default, deserialize_with = "whole")]
    max_open_ms: Option<u64>,
    #[serde(default, deserialize_with = "whole")]
    probes: Option<u32>,
    #[serde(default, deserialize_with = "whole")]
    successes: Option<u32>,
    #[serde(default, deserialize_with = "whole")]
    failures: Option<u32>,
    probe_lease: Option<Humane>,
    #[serde(default, deserialize_with = "whole")]
    probe_lease_ms: Option<u64>,
    ramp: Option<Humane>,
    #[serde(default, deserialize_with = "whole")]
    ramp_ms: Option<u64>,
    #[serde(default, deserialize_with = "whole")]
    jitter_permille: Option<u32>,
    latch: Option<bool>,
    slow_after: Option<Humane>,
    #[serde(default, deserialize_with = "whole")]
    slow_after_ms: Option<u64>,
    hung_after: Option<Humane>,
    #[serde(default, deserialize_with = "whole")]
    hung_after_ms: Option<u64>,
    #[serde(default)]
    window: WindowSettings,
    /// Only in a catalogue.
    profile: Option<String>,
}

/// Settings that may name a profile which they stand over.
#[cfg(feature = "config")]
#[derive(Deserialize)]
#[serde(try_from = "Written")]
pub(crate) struct NamedSettings {
    pub(crate) profile: Option<String>,
    pub(crate) settings: Settings,
}

#[cfg(feature = "config")]
impl TryFrom<Written> for NamedSettings {
    type Error = SettingsError;

    fn try_from(mut written: Written) -> Result<Self, SettingsError> {
        Ok(Self {
            profile: written.profile.take(),
            settings: Settings::try_from(written)?,
        })
    }
}

impl TryFrom<Written> for Settings {
    type Error = SettingsError;

    fn try_from(written: Written) -> Result<Self, SettingsError> {
        if written.profile.is_some() {
            return Err(SettingsError::misplaced(
                "profile",
                "[breakers.NAME] of a catalogue",
            ));
        }
        use duration::one_of;
        Ok(Self {
            open_for: one_of("open_for", written.open_for, written.open_for_ms)?,
            max_open: one_of("max_open", written.max_open, written.max_open_ms)?,
            probes: written.probes,
            successes: written.successes,
            failures: written.failures,
            probe_lease: one_of("probe_lease", written.probe_lease, written.probe_lease_ms)?,
            ramp: one_of("ramp", written.ramp, written.ramp_ms)?,
            jitter_permille: written.jitter_permille,
            latch: written.latch,
            slow_after: one_of("slow_after", written.slow_after, written.slow_after_ms)?,
            hung_after: one_of("hung_after", written.hung_after, written.hung_after_ms)?,
            window: written.window,
        })
    }
}

impl Settings {
    /// These settings, and those of `base` where these say nothing.
    ///
    /// ```
    /// use nanobreaker::Settings;
    /// use std::time::Duration;
    ///
    /// let base: Settings = toml::from_str("open_for = '5s'\nprobes = 3")?;
    /// let own: Settings = toml::from_str("open_for = '1m'")?;
    /// let settings = own.or(base);
    /// assert_eq!(settings.open_for, Some(Duration::from_secs(60)));
    /// assert_eq!(settings.probes, Some(3));
    /// # Ok::<(), toml::de::Error>(())
    /// ```
    #[must_use]
    pub fn or(self, base: Self) -> Self {
        Self {
            open_for: self.open_for.or(base.open_for),
            max_open: self.max_open.or(base.max_open),
            probes: self.probes.or(base.probes),
            successes: self.successes.or(base.successes),
            failures: self.failures.or(base.failures),
            probe_lease: self.probe_lease.or(base.probe_lease),
            ramp: self.ramp.or(base.ramp),
            jitter_permille: self.jitter_permille.or(base.jitter_permille),
            latch: self.latch.or(base.latch),
            slow_after: self.slow_after.or(base.slow_after),
            hung_after: self.hung_after.or(base.hung_after),
            window: self.window.or(base.window),
        }
    }
}

#[cfg(test)]
mod tests;
