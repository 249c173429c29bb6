//! What the model is configured with, in plain numbers.

use nanobreaker_core::Config;

/// Whether the breaker's words are 64 bits wide; the limits tell.
pub const WIDE: bool = Config::MAX_PROBES == 63;

/// Generations before their number comes round again.
pub const GENERATIONS: u64 = if WIDE { 4_096 } else { 256 };

/// One window and its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowKind {
    Failures {
        threshold: u32,
        within_ms: u32,
    },
    Consecutive {
        threshold: u32,
    },
    Calls {
        size: u32,
        percent: u32,
        min_calls: u32,
    },
    Time {
        span_ms: u32,
        buckets: u32,
        percent: u32,
        min_calls: u32,
    },
}

impl WindowKind {
    /// The same with another number of failures, or smallest number of calls.
    pub fn with_threshold(mut self, number: u32) -> Self {
        match &mut self {
            Self::Failures { threshold, .. } | Self::Consecutive { threshold } => {
                *threshold = number;
            }
            Self::Calls { min_calls, .. } | Self::Time { min_calls, .. } => *min_calls = number,
        }
        self
    }

    fn after(self, last: Self) -> Self {
        match (self, last) {
            (Self::Failures { threshold, .. }, Self::Failures { within_ms, .. }) => {
                Self::Failures {
                    threshold,
                    within_ms,
                }
            }
            (
                Self::Time {
                    percent, min_calls, ..
                },
                Self::Time {
                    span_ms, buckets, ..
                },
            ) => Self::Time {
                span_ms,
                buckets,
                percent,
                min_calls,
            },
            _ => self,
        }
    }
}

/// All settings of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    pub window: WindowKind,
    /// A second window, for slow calls.
    pub slow: Option<WindowKind>,
    pub open_for_ms: u32,
    pub max_open_ms: u32,
    pub probes: u32,
    pub successes: u32,
    pub failures: u32,
    pub lease_ms: u32,
    pub ramp_ms: u32,
    pub latch: bool,
    pub jitter_permille: u32,
}

impl Settings {
    /// One probe decides, nothing grows, nothing latches.
    pub const fn plain(window: WindowKind) -> Self {
        Self {
            window,
            slow: None,
            open_for_ms: 1_000,
            max_open_ms: 1_000,
            probes: 1,
            successes: 1,
            failures: 1,
            lease_ms: 500,
            ramp_ms: 0,
            latch: false,
            jitter_permille: 0,
        }
    }

    /// The same for the breaker itself.
    pub fn config(&self) -> Config {
        Config::builder()
            .open_for_ms(self.open_for_ms.into())
            .max_open_ms(self.max_open_ms.into())
            .probes(self.probes)
            .successes(self.successes)
            .failures(self.failures)
            .probe_lease_ms(self.lease_ms.into())
            .ramp_ms(self.ramp_ms.into())
            .latch(self.latch)
            .jitter_permille(self.jitter_permille)
            .build()
            .expect("the generator keeps to the limits")
    }

    /// These, where they can follow upon `last` with an outcome that is known: the slow window, if any,
    /// stays one, calls keep their age and place, and times keep their unit.
    pub fn after(self, last: &Self) -> Self {
        let slow = last.slow.map(|last| match self.slow {
            Some(slow) => slow.after(last),
            None => last,
        });
        let next = Self {
            window: self.window.after(last.window),
            slow,
            ..self
        };
        if WIDE {
            return next;
        }
        Self {
            open_for_ms: last.open_for_ms,
            max_open_ms: last.max_open_ms,
            lease_ms: last.lease_ms,
            ramp_ms: last.ramp_ms,
            ..next
        }
    }

    /// The open time after `streak` further trips in a row.
    pub fn backoff_ms(&self, streak: u32) -> i128 {
        let doubled = i128::from(self.open_for_ms) << streak;
        doubled.min(self.max_open_ms.into())
    }
}
