//! One call between the breaker's yes and its outcome.

use nanobreaker_core::{Outcome, Token};

use super::{CircuitBreaker, GuardedError, Policy};

/// A call that was admitted. However it goes, the breaker hears of it once: when this is dropped.
pub(super) struct Call<B: CircuitBreaker> {
    breaker: B,
    token: Token,
    outcome: Outcome,
}

impl<B: CircuitBreaker> Call<B> {
    /// The call that `token` admitted; `if_dropped` is its outcome unless it comes to its end.
    #[inline]
    pub(super) fn new(breaker: B, token: Token, if_dropped: Outcome) -> Self {
        Self { breaker, token, outcome: if_dropped }
    }

    /// The end: `policy` judges the answer.
    ///
    /// Takes the policy alone because an answer may borrow the guarded stream.
    #[inline]
    pub(super) fn end<R, E>(
        mut self,
        policy: &mut impl Policy<E>,
        answer: Result<R, E>,
    ) -> Result<R, GuardedError<E>> {
        self.outcome = match &answer {
            Ok(_) => Outcome::Success,
            Err(error) => policy.judge(error),
        };
        answer.map_err(GuardedError::Failed)
    }
}

impl<B: CircuitBreaker> Drop for Call<B> {
    #[inline]
    fn drop(&mut self) {
        self.breaker.record(self.token, self.outcome);
    }
}
