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
            .build()
            .expect("the generator keeps to the limits")
    }

    /// The open time after `streak` further trips in a row.
    pub fn backoff_ms(&self, streak: u32) -> i128 {
        let doubled = i128::from(self.open_for_ms) << streak;
        doubled.min(self.max_open_ms.into())
    }
}
