//! Settings with nothing left out.

use std::time::Duration;

use nanobreaker::{Config, Settings, SettingsError, WindowKind, WindowSettings};

/// What trips, with every setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judges {
    Failures {
        threshold: u32,
        within: Duration,
    },
    Consecutive {
        threshold: u32,
    },
    /// A rate over calls or over time.
    Rate {
        percent: u32,
        over: Over,
        min_calls: u32,
    },
}

/// What a rate is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    Calls(u32),
    Time { span: Duration, buckets: u32 },
}

/// Settings with nothing left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Full {
    pub(super) failed: Judges,
    pub(super) slow: Option<Judges>,
    pub(super) config: Config,
    pub(super) slow_after: Option<Duration>,
    pub(super) hung_after: Option<Duration>,
    pub(super) jitter_permille: u32,
}

impl Full {
    pub(super) fn of(settings: &Settings) -> Result<Self, SettingsError> {
        // Values out of range would be explained as if they could be.
        settings.check()?;
        let window = settings.window.with_defaults()?;
        Ok(Self {
            failed: failed(&window),
            slow: window
                .slow_rate_percent
                .map(|percent| rate(&window, percent)),
            config: settings.config()?,
            slow_after: settings.slow_after,
            hung_after: settings.hung_after,
            jitter_permille: settings.jitter_permille.unwrap_or(0),
        })
    }

    pub(super) fn open_for(&self) -> Duration {
        Duration::from_millis(self.config.open_for_ms().into())
    }

    pub(super) fn max_open(&self) -> Duration {
        Duration::from_millis(self.config.max_open_ms().into())
    }

    pub(super) fn probe_lease(&self) -> Duration {
        Duration::from_millis(self.config.probe_lease_ms().into())
    }

    pub(super) fn ramp(&self) -> Duration {
        Duration::from_millis(self.config.ramp_ms().into())
    }
}

/// With defaults filled in, none of these is absent for its kind.
fn failed(window: &WindowSettings) -> Judges {
    match window.kind.unwrap_or_default() {
        WindowKind::Failures => Judges::Failures {
            threshold: window.threshold.unwrap_or_default(),
            within: window.within.unwrap_or_default(),
        },
        WindowKind::Consecutive => Judges::Consecutive {
            threshold: window.threshold.unwrap_or_default(),
        },
        WindowKind::Calls | WindowKind::Time => {
            rate(window, window.failure_rate_percent.unwrap_or_default())
        }
    }
}

fn rate(window: &WindowSettings, percent: u32) -> Judges {
    Judges::Rate {
        percent,
        over: match window.size {
            Some(size) => Over::Calls(size),
            None => Over::Time {
                span: window.span.unwrap_or_default(),
                buckets: window.buckets.unwrap_or_default(),
            },
        },
        min_calls: window.min_calls.unwrap_or_default(),
    }
}
