//! A second window that judges slow calls.

use crate::state::State;
use crate::window::Evidence;
use crate::window::call::Call;
use crate::window::judge::{Judge, Plain, Verdict};
use crate::{Clock, Outcome};

/// Two windows side by side: one judges failed calls, one slow calls. Either may trip.
///
/// A [slow](Outcome::Slow) call is good to the first and bad to the second, a failed call the other
/// way round, and a [slow failure](Outcome::SlowFailure) is bad to both. Both windows take in every
/// call, so a call costs what both cost.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, Phase, Rate, window::{Calls, WithSlow}};
///
/// let failed = Calls::<1>::new(20, Rate::percent(50).min_calls(10))?;
/// let slow = Calls::<1>::new(20, Rate::percent(80).min_calls(10))?;
/// let window = WithSlow::new(failed, slow);
/// let breaker = Breaker::new(window, Config::DEFAULT, ManualClock::new(0));
/// for _ in 0..10 {
///     breaker.allow()?.slow();
/// }
/// assert_eq!(breaker.phase(), Phase::Open);
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

/// Takes in one outcome for two windows: `failed` judges failed calls, `slow` slow ones.
#[inline]
pub(super) fn judge_both(
    outcome: Outcome,
    slow_is_judged: bool,
    failed: impl FnOnce(bool) -> Verdict,
    slow: impl FnOnce(bool) -> Verdict,
) -> Verdict {
    let is_slow = matches!(outcome, Outcome::Slow | Outcome::SlowFailure);
    let is_failure = outcome != Outcome::Success && !(slow_is_judged && outcome == Outcome::Slow);
    // Both windows take the call in, whatever the first one says.
    match (failed(is_failure), slow(is_slow)) {
        (Verdict::Trips, _) => Verdict::Trips,
        (_, Verdict::Trips) => Verdict::TripsBySlow,
        (Verdict::Stale, _) | (_, Verdict::Stale) => Verdict::Stale,
        (first, _) => first,
    }
}

impl<F: Plain, S: Plain> Plain for WithSlow<F, S> {}

impl<F: Plain, S: Plain> Judge for WithSlow<F, S> {
    #[inline]
    fn judge<C: Clock>(&self, outcome: Outcome, call: &Call<'_, C>) -> Verdict {
        let outcome_of = |bad| if bad { Outcome::Failure } else { Outcome::Success };
        let failed = |bad| self.failed.judge(outcome_of(bad), call);
        let slow = |bad| self.slow.judge(outcome_of(bad), call);
        judge_both(outcome, true, failed, slow)
    }

    fn evidence<C: Clock>(&self, call: &Call<'_, C>) -> Result<Evidence, State> {
        Ok(Evidence { failed: self.failed.evidence(call)?.failed, slow: self.slow.evidence(call)?.failed })
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
    use crate::{Breaker, Config, ManualClock, Phase, Rate};

    fn phase_after<F: Plain, S: Plain>(window: WithSlow<F, S>, outcomes: &[Outcome]) -> Phase {
        let breaker = Breaker::new(window, Config::DEFAULT, ManualClock::new(0));
        for outcome in outcomes {
            breaker.allow().unwrap().record(*outcome);
        }
        breaker.phase()
    }

    #[test]
    fn a_slow_call_is_good_to_the_first_window_and_bad_to_the_second() {
        let windows = || {
            WithSlow::new(
                Consecutive::new(2).unwrap(),
                Calls::<1>::new(4, Rate::percent(75).min_calls(4)).unwrap(),
            )
        };
        use Outcome::{Failure, Slow, Success};
        assert_eq!(phase_after(windows(), &[Failure, Slow, Failure]), Phase::Closed);
        assert_eq!(phase_after(windows(), &[Slow, Slow, Slow, Success]), Phase::Open);
        assert_eq!(phase_after(windows(), &[Slow, Slow, Failure, Success]), Phase::Closed);
        assert_eq!(phase_after(windows(), &[Failure, Failure]), Phase::Open);
    }
}
