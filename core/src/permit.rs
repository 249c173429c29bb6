//! The right to make one call: a guard for code with scopes, a plain token for code without.

use core::fmt;
use core::mem::ManuallyDrop;

use crate::breaker::Breaker;
use crate::clock::Clock;
use crate::observer::Observer;
use crate::outcome::{Outcome, Recorded};
use crate::window::Window;

/// How a permit's outcome is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) enum Kind {
    /// By the window.
    Counted,
    /// By the half-open round that admitted it.
    Probe,
    /// Not at all.
    Uncounted,
}

/// The right to make one call, as plain data.
///
/// For interrupts, C-like code and state machines that can't hold a guard. It is `Copy`, so nothing
/// stops code from losing it or spending it twice: a lost probe holds its place until the round's
/// lease ends, and a second outcome is refused where that can be known (always once the round is
/// over or no probe is in flight). Prefer [`Permit`] where you can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[must_use = "a token must be recorded, or its place is lost until the lease ends"]
pub struct Token {
    generation: u16,
    kind: Kind,
}

impl Token {
    pub(crate) const fn new(generation: u16, kind: Kind) -> Self {
        Self { generation, kind }
    }

    pub(crate) const fn kind(self) -> Kind {
        self.kind
    }

    /// The generation in which the call was admitted.
    pub const fn generation(self) -> u16 {
        self.generation
    }

    /// Whether this call is a probe of a half-open breaker.
    pub const fn is_probe(self) -> bool {
        matches!(self.kind, Kind::Probe)
    }
}

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
/// assert_eq!(breaker.snapshot().phase, Phase::Open);
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

    /// Spends the permit.
    #[inline]
    pub fn record(self, outcome: Outcome) -> Recorded {
        let breaker = self.breaker;
        breaker.record(self, outcome)
    }

    /// The call succeeded.
    #[inline]
    pub fn success(self) -> Recorded {
        self.record(Outcome::Success)
    }

    /// The call succeeded, but took too long.
    #[inline]
    pub fn slow(self) -> Recorded {
        self.record(Outcome::Slow)
    }

    /// The call failed.
    #[inline]
    pub fn failure(self) -> Recorded {
        self.record(Outcome::Failure)
    }

    /// The call ended in a way that says nothing about the dependency's health.
    #[inline]
    pub fn ignore(self) -> Recorded {
        self.record(Outcome::Ignored)
    }

    /// The generation in which the call was admitted.
    pub fn generation(&self) -> u16 {
        self.token.generation
    }

    /// Whether this call is a probe of a half-open breaker.
    pub fn is_probe(&self) -> bool {
        self.token.is_probe()
    }
}

/// Takes the token out of its guard: from here on the caller must see to it that it is recorded.
impl<W: Window, C: Clock, O: Observer> From<Permit<'_, W, C, O>> for Token {
    #[inline]
    fn from(permit: Permit<'_, W, C, O>) -> Self {
        ManuallyDrop::new(permit).token
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
