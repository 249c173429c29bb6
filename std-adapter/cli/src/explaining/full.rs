//! PartialSettings with nothing left out.

use std::time::Duration;

use nanobreaker::{Config, PartialSettings, PartialWindow, Rate, SettingsError, WindowKind};

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

/// PartialSettings with nothing left out.
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
        let window = settings.window.with_defaults()?;
        Ok(Self {
            failed: failed(&window),
            slow: window.slow_rate.map(|slow| rate(&window, slow)),
            config: complete.opening.build().map_err(SettingsError::from)?,
            slow_after: settings.slow_after,
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

/// With defaults filled in, none of these is absent for its kind.
fn failed(window: &PartialWindow) -> Judges {
    match window.kind.unwrap_or_default() {
        WindowKind::Failures => Judges::Failures {
            threshold: window.threshold.unwrap_or_default(),
            within: window.within.unwrap_or_default(),
        },
        WindowKind::Consecutive => Judges::Consecutive { threshold: window.threshold.unwrap_or_default() },
        WindowKind::Cusum => Judges::Cusum {
            normal: percent(window.normal),
            broken: percent(window.broken),
            calls_per_false_trip: window.calls_per_false_trip.unwrap_or_default(),
        },
        WindowKind::Calls | WindowKind::Time => rate(window, window.failure_rate.unwrap_or(Rate::percent(0))),
    }
}

fn percent(rate: Option<Rate>) -> f64 {
    rate.map_or(0.0, |rate| f64::from(rate.as_ppm()) / 10_000.0)
}

fn rate(window: &PartialWindow, share: Rate) -> Judges {
    Judges::Rate {
        percent: percent(Some(share)),
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
