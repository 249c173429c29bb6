//! What a guard asks of its breaker.

use nanobreaker_core::window::Window;
use nanobreaker_core::{Breaker, Clock, Observer, Outcome, Rejected, Token};

use crate::OneWordBreaker;

/// A breaker as a guard sees it: asked before a call, told after it.
pub trait CircuitBreaker {
    /// Asks for one call.
    ///
    /// # Errors
    ///
    /// When the call must not be made.
    fn allow_token(&self) -> Result<Token, Rejected>;

    /// Says how the call with this token ended. Each token is recorded once.
    fn record(&self, token: Token, outcome: Outcome);
}

impl<W: Window, C: Clock, O: Observer> CircuitBreaker for Breaker<W, C, O> {
    #[inline]
    fn allow_token(&self) -> Result<Token, Rejected> {
        self.allow_token()
    }

    #[inline]
    fn record(&self, token: Token, outcome: Outcome) {
        self.record(token, outcome);
    }
}

impl<const THRESHOLD: u32, const OPEN_FOR_MS: u32, C: Clock> CircuitBreaker
    for OneWordBreaker<THRESHOLD, OPEN_FOR_MS, C>
{
    #[inline]
    fn allow_token(&self) -> Result<Token, Rejected> {
        self.allow_token()
    }

    #[inline]
    fn record(&self, token: Token, outcome: Outcome) {
        self.record(token, outcome);
    }
}

impl<B: CircuitBreaker + ?Sized> CircuitBreaker for &B {
    #[inline]
    fn allow_token(&self) -> Result<Token, Rejected> {
        (**self).allow_token()
    }

    #[inline]
    fn record(&self, token: Token, outcome: Outcome) {
        (**self).record(token, outcome);
    }
}
