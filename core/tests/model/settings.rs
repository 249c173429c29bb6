//! What the model is configured with: the settings of the crate, resolved to plain numbers.

use nanobreaker_core::{Config, Settings, WindowSettings};

/// Whether the breaker's words are 64 bits wide; the limits tell.
pub const WIDE: bool = Config::MAX_PROBES == 63;

/// Generations before their number comes round again.
pub const GENERATIONS: u64 = if WIDE { 4_096 } else { 256 };

/// The longest streak.
pub const LONGEST_STREAK: u32 = if WIDE { 15 } else { 7 };

/// Probes given up in a row with which a round has failed.
pub const GIVEN_UP: u32 = if WIDE { 8 } else { 4 };

/// Readings that a clock can show.
pub const CLOCK: i128 = if WIDE { 1 << 64 } else { 1 << 32 };

/// All settings, with the defaults in place of what is not set. Where two are the same, settings come to
/// the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Numbers {
    pub window: WindowSettings,
    pub slow: Option<WindowSettings>,
    pub open_for_ms: i128,
    pub max_open_ms: i128,
    pub relapse_ms: i128,
    pub lease_ms: i128,
    pub ramp_ms: i128,
    pub probes: u32,
    pub successes: u32,
    pub failures: u32,
    pub jitter_permille: i128,
    pub latch: bool,
    limits_ms: [u32; 2],
}

impl From<Settings> for Numbers {
    fn from(settings: Settings) -> Self {
        let opening = settings.opening;
        let or_open_for = |ms: Option<u64>| i128::from(ms.unwrap_or(opening.open_for_ms));
        Self {
            window: in_whole_buckets(settings.window),
            slow: settings.slow_window.map(in_whole_buckets),
            open_for_ms: opening.open_for_ms.into(),
            max_open_ms: or_open_for(opening.max_open_ms),
            relapse_ms: or_open_for(opening.relapse_within_ms),
            lease_ms: or_open_for(opening.probe_lease_ms),
            ramp_ms: opening.ramp_ms.into(),
            probes: opening.max_probes,
            successes: opening.probe_successes,
            failures: opening.probe_failures,
            jitter_permille: opening.jitter_permille.into(),
            latch: opening.latch,
            limits_ms: [settings.slow_after_ms, settings.hung_after_ms].map(|limit| limit.unwrap_or(0)),
        }
    }
}

/// A bucket is a whole number of milliseconds, rounded up.
fn in_whole_buckets(window: WindowSettings) -> WindowSettings {
    match window {
        WindowSettings::Time { span_ms, buckets, rate } => WindowSettings::Time {
            span_ms: span_ms.div_ceil(buckets.into()) * u64::from(buckets),
            buckets,
            rate,
        },
        other => other,
    }
}

/// The time within which a window judges; 0 where it knows no time.
pub fn window_ms(window: WindowSettings) -> u64 {
    match window {
        WindowSettings::Failures { within_ms, .. } => within_ms,
        WindowSettings::Time { span_ms, .. } => span_ms,
        WindowSettings::Cusum(settings) => settings.sustained_for_ms.into(),
        WindowSettings::Consecutive { .. } | WindowSettings::Calls { .. } => 0,
    }
}

impl Numbers {
    /// The open time after `streak` further trips in a row.
    pub fn backoff_ms(&self, streak: u32) -> i128 {
        (self.open_for_ms << streak).min(self.max_open_ms)
    }

    /// The longest open time that others may advise.
    pub fn advised_ms(&self) -> i128 {
        2 * self.max_open_ms + 10_000
    }

    /// The longest that any of its times can be.
    pub fn longest_ms(&self) -> i128 {
        self.advised_ms().max(self.lease_ms).max(self.ramp_ms)
    }
}
