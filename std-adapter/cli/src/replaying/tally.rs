//! What came of it: numbers of calls, and the time that rejecting doomed ones saves.

use nanobreaker::Outcome;

use crate::reading::Call;

/// Sums over all calls of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Calls in the log that were played.
    pub(crate) calls: u64,
    /// Those that failed in the log.
    pub(crate) failed: u64,
    /// Those that succeeded in the log.
    pub(crate) succeeded: u64,
    /// Those that say nothing: cancelled or ignored.
    pub(crate) uncounted: u64,
    /// Successes that took longer than the configuration's `slow_after`.
    pub(crate) slow: u64,
    /// Calls that the breaker would have rejected.
    pub(crate) rejected: u64,
    /// Of those, the ones that failed in the log or were slow.
    pub(crate) saved: u64,
    /// Of the saved ones, the slow ones.
    pub(crate) saved_slow: u64,
    /// Of those, the ones that succeeded in the log and were not slow.
    pub(crate) lost: u64,
    /// What the saved calls took in the log: time that callers would not have waited, and that
    /// workers would not have been held.
    pub(crate) saved_us: u64,
    /// The longest of them.
    pub(crate) longest_saved_us: u64,
    /// The most saved calls that were under way at once: workers that would have been free.
    pub(crate) workers_freed_at_once: u64,
    /// Times that the breaker opened while it let calls pass.
    pub(crate) trips: u64,
    /// Times that probes failed and it opened again, or that it tripped while recovering.
    pub(crate) reopenings: u64,
    /// The longest time from the start of a trouble's first failed call to the trip.
    pub(crate) longest_detection_delay_us: u64,
    /// Time during which a breaker was not closed, over all keys.
    pub(crate) not_closed_us: u64,
}

impl Tally {
    /// A call began.
    pub(crate) fn count(&mut self, call: &Call, is_slow: bool) {
        self.calls += 1;
        match call.outcome {
            Outcome::Failure | Outcome::SlowFailure => self.failed += 1,
            Outcome::Success | Outcome::Slow => {
                self.succeeded += 1;
                self.slow += u64::from(is_slow);
            }
            Outcome::Ignored | Outcome::Cancelled => self.uncounted += 1,
        }
    }

    /// And was rejected.
    pub(crate) fn reject(&mut self, call: &Call, is_slow: bool) {
        self.rejected += 1;
        match call.outcome {
            Outcome::Failure | Outcome::SlowFailure => self.save(call),
            Outcome::Success | Outcome::Slow if is_slow => {
                self.saved_slow += 1;
                self.save(call);
            }
            Outcome::Success | Outcome::Slow => self.lost += 1,
            Outcome::Ignored | Outcome::Cancelled => {}
        }
    }

    fn save(&mut self, call: &Call) {
        self.saved += 1;
        self.saved_us = self.saved_us.saturating_add(call.duration_us());
        self.longest_saved_us = self.longest_saved_us.max(call.duration_us());
    }

    /// Calls that it would have been good to reject: those that failed, and slow ones.
    pub(crate) const fn bad(&self) -> u64 {
        self.failed + self.slow
    }

    /// Calls that it is bad to reject.
    pub(crate) const fn good(&self) -> u64 {
        self.succeeded - self.slow
    }

    /// The same over more calls, or of another breaker. Workers are free at once only where the same
    /// breakers freed them.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            failed: self.failed + other.failed,
            succeeded: self.succeeded + other.succeeded,
            uncounted: self.uncounted + other.uncounted,
            slow: self.slow + other.slow,
            rejected: self.rejected + other.rejected,
            saved: self.saved + other.saved,
            saved_slow: self.saved_slow + other.saved_slow,
            lost: self.lost + other.lost,
            saved_us: self.saved_us.saturating_add(other.saved_us),
            longest_saved_us: self.longest_saved_us.max(other.longest_saved_us),
            workers_freed_at_once: self.workers_freed_at_once.max(other.workers_freed_at_once),
            trips: self.trips + other.trips,
            reopenings: self.reopenings + other.reopenings,
            longest_detection_delay_us: self.longest_detection_delay_us.max(other.longest_detection_delay_us),
            not_closed_us: self.not_closed_us.saturating_add(other.not_closed_us),
        }
    }

    /// A breaker was not closed for so long.
    pub(crate) fn not_closed_for(&mut self, us: u64) {
        self.not_closed_us = self.not_closed_us.saturating_add(us);
    }
}
