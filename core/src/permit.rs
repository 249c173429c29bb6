//! The right to make one call, as a guard.

use core::fmt;
use core::mem::ManuallyDrop;

use crate::window::Window;
use crate::{Breaker, Clock, Observer, Outcome, Recorded, Token};

/// The right to make one call; spend it with an outcome.
///
/// A permit that is dropped without one records [`Outcome::Cancelled`], which gives a probe's place
/// back. It can't be cloned, so it can't be spent twice.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, Phase, window::Consecutive};
///
/// let breaker = Breaker::new(Consecutive::new(1)?, Config::DEFAULT, ManualClock::new(0));
/// let permit = breaker.allow()?;
/// permit.failure();
/// assert_eq!(breaker.phase(), Phase::Open);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a dropped permit records that the call was cancelled"]
pub struct Permit<'a, W: Window, C: Clock, O: Observer> {
    breaker: &'a Breaker<W, C, O>,
    token: Token,
}

impl<'a, W: Window, C: Clock, O: Observer> Permit<'a, W, C, O> {
    #[inline]
    pub(crate) const fn new(breaker: &'a Breaker<W, C, O>, token: Token) -> Self {
        Self { breaker, token }
    }

    /// Spends the permit, and tells what became of the outcome.
    #[inline]
    pub fn record(self, outcome: Outcome) -> Recorded {
        let breaker = self.breaker;
        breaker.record(self.into_token(), outcome)
    }

    /// The call succeeded.
    #[inline]
    pub fn success(self) {
        self.record(Outcome::Success);
    }

    /// The call succeeded, but took too long.
    #[inline]
    pub fn slow(self) {
        self.record(Outcome::Slow);
    }

    /// The call failed.
    #[inline]
    pub fn failure(self) {
        self.record(Outcome::Failure);
    }

    /// The call ended in a way that says nothing about the dependency's health.
    #[inline]
    pub fn ignore(self) {
        self.record(Outcome::Ignored);
    }

    /// The call failed, and took too long as well.
    #[inline]
    pub fn slow_failure(self) {
        self.record(Outcome::SlowFailure);
    }

    /// Takes the token out of its guard. From here on the caller must see to it that it is recorded,
    /// and by this very breaker.
    #[inline]
    pub fn into_token(self) -> Token {
        ManuallyDrop::new(self).token
    }

    /// The generation in which the call was admitted.
    pub fn generation(&self) -> u16 {
        self.token.generation()
    }

    /// Whether this call is a probe of a half-open breaker.
    pub fn is_probe(&self) -> bool {
        self.token.is_probe()
    }
}

impl<W: Window, C: Clock, O: Observer> Drop for Permit<'_, W, C, O> {
    #[inline]
    fn drop(&mut self) {
        self.breaker.record(self.token, Outcome::Cancelled);
    }
}

impl<W: Window, C: Clock, O: Observer> fmt::Debug for Permit<'_, W, C, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Permit").field(&self.token).finish()
    }
}
