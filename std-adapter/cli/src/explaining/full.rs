//! Settings with nothing left out.

use std::time::Duration;

use nanobreaker::{Config, PartialSettings, Rate, SettingsError, WindowSettings};

/// What trips, with every setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Judges {
    Failures {
        threshold: u32,
        within: Duration,
    },
    Consecutive {
        threshold: u32,
    },
    /// Evidence that mounts: rates in per cent.
    Cusum {
        normal: f64,
        broken: f64,
        calls_per_false_trip: u64,
        sustained_for: Duration,
    },
    /// A rate over calls or over time.
    Rate {
        percent: f64,
        over: Over,
        min_calls: u32,
    },
}

impl Judges {
    /// Whether calls that are long past count less: then it matters how many come in a time.
    pub(crate) fn knows_time(&self) -> bool {
        matches!(self, Self::Failures { .. } | Self::Rate { over: Over::Time { .. }, .. })
    }
}

/// What a rate is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    Calls(u32),
    Time { span: Duration, buckets: u32 },
}

/// Settings with nothing left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Full {
    pub(crate) failed: Judges,
    pub(crate) slow: Option<Judges>,
    pub(crate) config: Config,
    pub(crate) slow_after: Option<Duration>,
    pub(crate) hung_after: Option<Duration>,
    pub(crate) jitter_permille: u32,
}

impl Full {
    pub(crate) fn of(settings: &PartialSettings) -> Result<Self, SettingsError> {
        // Values out of range would be explained as if they could be.
        let complete = settings.complete()?;
        Ok(Self {
            failed: Judges::of(complete.window),
            slow: complete.slow_window.map(Judges::of),
            config: complete.opening.build().map_err(SettingsError::from)?,
            slow_after: complete.slow_after_ms.map(|ms| Duration::from_millis(ms.into())),
            hung_after: settings.hung_after,
            jitter_permille: settings.jitter_permille.unwrap_or(0),
        })
    }

    pub(crate) fn open_for(&self) -> Duration {
        Duration::from_millis(self.config.open_for_ms().into())
    }

    pub(crate) fn max_open(&self) -> Duration {
        Duration::from_millis(self.config.max_open_ms().into())
    }

    pub(crate) fn probe_lease(&self) -> Duration {
        Duration::from_millis(self.config.probe_lease_ms().into())
    }

    pub(crate) fn ramp(&self) -> Duration {
        Duration::from_millis(self.config.ramp_ms().into())
    }
}

impl Judges {
    fn of(window: WindowSettings) -> Self {
        match window {
            WindowSettings::Failures { threshold, within_ms } => {
                Self::Failures { threshold, within: Duration::from_millis(within_ms) }
            }
            WindowSettings::Consecutive { threshold } => Self::Consecutive { threshold },
            WindowSettings::Calls { size, rate } => Self::rate(rate, Over::Calls(size)),
            WindowSettings::Time { span_ms, buckets, rate } => {
                Self::rate(rate, Over::Time { span: Duration::from_millis(span_ms), buckets })
            }
            WindowSettings::Cusum(cusum) => Self::Cusum {
                normal: percent(cusum.normal_ppm),
                broken: percent(cusum.broken_ppm),
                calls_per_false_trip: cusum.calls_per_false_trip,
                sustained_for: Duration::from_millis(cusum.sustained_for_ms.into()),
            },
        }
    }

    fn rate(rate: Rate, over: Over) -> Self {
        Self::Rate { percent: percent(rate.as_ppm()), over, min_calls: rate.least_calls() }
    }
}

fn percent(ppm: u32) -> f64 {
    f64::from(ppm) / 10_000.0
}
