//! Settings of the builder that say how long a breaker stays open, and how it closes again.

use std::time::Duration;

use nanobreaker_settings::millis;

use super::SharedBreakerBuilder;

impl SharedBreakerBuilder {
    /// How long a first trip rejects calls; 500 ms unless set.
    pub fn open_for(self, duration: Duration) -> Self {
        self.opening(|opening| opening.open_for_ms(millis(duration)))
    }

    /// What backoff may lengthen the open time to; 5 s unless set, or `open_for` if that is longer. It
    /// bounds what a `Retry-After` asks for, too.
    pub fn max_open(self, duration: Duration) -> Self {
        self.opening(|opening| opening.max_open_ms(millis(duration)))
    }

    /// A trip so soon after closing lengthens the next open time; as long as
    /// [`max_open`](Self::max_open) unless set.
    pub fn relapse_within(self, duration: Duration) -> Self {
        self.opening(|opening| opening.relapse_within_ms(millis(duration)))
    }

    /// Probes in flight at once while half-open.
    pub fn max_probes(self, probes: u32) -> Self {
        self.opening(|opening| opening.max_probes(probes))
    }

    /// Probes that must succeed to close; 3 unless set.
    pub fn probe_successes(self, successes: u32) -> Self {
        self.opening(|opening| opening.probe_successes(successes))
    }

    /// Probes that must fail to open again.
    pub fn probe_failures(self, failures: u32) -> Self {
        self.opening(|opening| opening.probe_failures(failures))
    }

    /// How long probes in flight may stay without any answer; 30 s unless set.
    pub fn probe_lease(self, duration: Duration) -> Self {
        self.opening(|opening| opening.probe_lease_ms(millis(duration)))
    }

    /// How long the admitted share grows after half-open; zero lets all pass at once.
    pub fn ramp(self, duration: Duration) -> Self {
        self.opening(|opening| opening.ramp_ms(millis(duration)))
    }

    /// Which part of an open time is cut off at random, in thousandths. Each breaker draws its own
    /// numbers.
    pub fn jitter_permille(self, permille: u32) -> Self {
        self.opening(|opening| opening.jitter_permille(permille))
    }

    /// Whether a trip holds the breaker open until someone resets it.
    pub fn latch(self, latch: bool) -> Self {
        self.opening(|opening| opening.latch(latch))
    }
}
