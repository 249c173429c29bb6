//! A second window that judges slow calls.

use crate::clock::Clock;
use crate::outcome::Outcome;
use crate::window::call::Call;
use crate::window::judge::{Judge, Verdict};

/// Two windows side by side: one judges failed calls, one slow calls. Either may trip.
///
/// A [slow](Outcome::Slow) call is good to the first and bad to the second; a failed call the other
/// way round. Both windows take in every call, so a call costs what both cost. Where the second is
/// an `Option` that is `None`, or [`AnyWindow::missing`](super::AnyWindow::missing), a slow call is a failure to the first.
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

    pub(super) const fn windows(&self) -> (&F, &S) {
        (&self.failed, &self.slow)
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
        let is_slow = outcome == Outcome::Slow;
        let is_failure = outcome == Outcome::Failure || (is_slow && !self.slow.is_there());
        let failed = self.failed.count(is_failure, call);
        failed.and(self.slow.count(is_slow, call))
    }

    fn sweep<C>(&self, call: &Call<'_, C>) {
        self.failed.sweep(call);
        self.slow.sweep(call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::{Calls, Consecutive};
    use crate::{Breaker, Config, ManualClock, Phase};

    fn phase_after<F: Judge, S: Judge>(window: WithSlow<F, S>, outcomes: &[Outcome]) -> Phase {
        let breaker = Breaker::new(window, Config::DEFAULT, ManualClock::new(0));
        for outcome in outcomes {
            breaker.allow().unwrap().record(*outcome);
        }
        breaker.snapshot().phase
    }

    #[test]
    fn a_slow_call_is_good_to_the_first_window_and_bad_to_the_second() {
        let windows = || {
            WithSlow::new(
                Consecutive::new(2).unwrap(),
                Calls::<1>::new(4, 75, 4).unwrap(),
            )
        };
        use Outcome::{Failure, Slow, Success};
        assert_eq!(
            phase_after(windows(), &[Failure, Slow, Failure]),
            Phase::Closed
        );
        assert_eq!(
            phase_after(windows(), &[Slow, Slow, Slow, Success]),
            Phase::Open
        );
        assert_eq!(
            phase_after(windows(), &[Slow, Slow, Failure, Success]),
            Phase::Closed
        );
        assert_eq!(phase_after(windows(), &[Failure, Failure]), Phase::Open);
    }

    #[test]
    fn where_no_window_judges_slow_calls_they_are_failures() {
        let windows = WithSlow::new(Consecutive::new(2).unwrap(), None::<Consecutive>);
        assert_eq!(
            phase_after(windows, &[Outcome::Slow, Outcome::Failure]),
            Phase::Open
        );
    }
}
