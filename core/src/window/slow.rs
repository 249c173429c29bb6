//! A second window that judges slow calls.

use crate::clock::Clock;
use crate::outcome::Outcome;
use crate::window::judge::{Call, Judge, Verdict};

/// Two windows side by side: one judges failed calls, one slow calls. Either may trip.
///
/// A [slow](Outcome::Slow) call is good to the first and bad to the second; a failed call the other
/// way round. Both windows take in every call, so a call costs what both cost.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, Phase, window::{Calls, WithSlow}};
///
/// let failed = Calls::<1>::new(20, 50, 10)?;
/// let slow = Calls::<1>::new(20, 80, 10)?;
/// let window = WithSlow::new(failed, slow);
/// let breaker = Breaker::new(window, Config::DEFAULT, ManualClock::new(0));
/// for _ in 0..10 {
///     breaker.allow()?.slow();
/// }
/// assert_eq!(breaker.snapshot().phase, Phase::Open);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WithSlow<F, S> {
    failed: F,
    slow: S,
}

impl<F, S> WithSlow<F, S> {
    /// `failed` judges failed calls, `slow` slow ones.
    pub const fn new(failed: F, slow: S) -> Self {
        Self { failed, slow }
    }
}

impl<F: Judge, S: Judge> Judge for WithSlow<F, S> {
    #[inline]
    fn count<C: Clock>(&self, bad: bool, call: &Call<'_, C>) -> Verdict {
        self.judge(
            if bad {
                Outcome::Failure
            } else {
                Outcome::Success
            },
            call,
        )
    }

    #[inline]
    fn judge<C: Clock>(&self, outcome: Outcome, call: &Call<'_, C>) -> Verdict {
        let failed = self.failed.count(outcome == Outcome::Failure, call);
        let slow = self.slow.count(outcome == Outcome::Slow, call);
        match (failed, slow) {
            (Verdict::Trips, _) | (_, Verdict::Trips) => Verdict::Trips,
            (Verdict::Stale, _) | (_, Verdict::Stale) => Verdict::Stale,
            (Verdict::Holds, Verdict::Holds) => Verdict::Holds,
        }
    }

    fn sweep<C>(&self, call: &Call<'_, C>) {
        self.failed.sweep(call);
        self.slow.sweep(call);
    }
}
