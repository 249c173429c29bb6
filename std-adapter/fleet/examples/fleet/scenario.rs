//! Who calls how often, and when the dependency fails.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) const BUSY: usize = 10;
pub(crate) const ALL: usize = 50;

/// All times, of which `--fast` takes a quarter.
#[derive(Clone, Copy)]
pub(crate) struct Scenario {
    quarter: bool,
}

impl Scenario {
    pub(crate) fn new(quarter: bool) -> Self {
        Self { quarter }
    }

    fn time(self, ms: u64) -> Duration {
        Duration::from_millis(if self.quarter { ms / 4 } else { ms })
    }

    pub(crate) fn before(self) -> Duration {
        self.time(5_000)
    }

    pub(crate) fn outage(self) -> Duration {
        self.time(60_000)
    }

    pub(crate) fn after(self) -> Duration {
        self.time(25_000)
    }

    /// How long a poisoned instance may do harm.
    pub(crate) fn poisoned(self) -> Duration {
        self.time(12_000)
    }

    /// Between two calls of this instance.
    pub(crate) fn every(self, number: usize) -> Duration {
        self.time(if number < BUSY { 50 } else { 10_000 })
    }

    /// The open time, within which five failures trip as well.
    pub(crate) fn open_for(self) -> Duration {
        self.time(10_000)
    }

    /// What backoff lengthens it to.
    pub(crate) fn max_open(self) -> Duration {
        self.time(15_000)
    }

    /// Nobody is open for longer on what others said.
    pub(crate) fn advised_at_most(self) -> Duration {
        2 * self.max_open() + Duration::from_secs(10)
    }

    /// After the outage nobody waits for longer: for its own open time, or for the holder's, its probe and the
    /// spread. A second is for what the machine does beside that.
    pub(crate) fn longest_wait(self) -> Duration {
        self.max_open() + self.patience() + self.max_open() / 60 + Duration::from_secs(1)
    }

    /// How long a call may take.
    pub(crate) fn patience(self) -> Duration {
        self.time(2_000)
    }
}

/// Milliseconds by the machine's clock, which all processes share.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
