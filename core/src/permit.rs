//! The right to make one call: as plain data, and as a guard.

use core::fmt;
use core::mem::ManuallyDrop;

use crate::state::State;
use crate::window::Window;
use crate::{Breaker, Clock, Observer, Outcome, Recorded};

/// How a call's outcome is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
/// over or no probe is in flight). Nor does a token know its breaker: the outcome of another breaker's
/// token counts here, if their generations happen to be the same. Prefer
/// [`Permit`] where you can; it can be neither mistaken nor spent twice.
///
/// One word: the generation below, how the outcome is judged above it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[must_use = "a token must be recorded, or its place is lost until the lease ends"]
pub struct Token(u32);

const KIND: u32 = 16;

impl Token {
    /// The right to a call that is admitted in `state`.
    #[inline]
    pub(crate) const fn new(state: State, kind: Kind) -> Self {
        Self(state.generation() as u32 | (kind as u32) << KIND)
    }

    #[inline]
    pub(crate) const fn kind(self) -> Kind {
        match self.0 >> KIND {
            0 => Kind::Counted,
            1 => Kind::Probe,
            _ => Kind::Uncounted,
        }
    }

    /// The generation in which the call was admitted.
    #[inline]
    pub const fn generation(self) -> u16 {
        self.0 as u16
    }

    /// Whether this call is a probe of a half-open breaker.
    pub const fn is_probe(self) -> bool {
        matches!(self.kind(), Kind::Probe)
    }

    /// The token as an integer, for code that can hold nothing else.
    pub const fn to_bits(self) -> u32 {
        self.0
    }

    /// The token that [`to_bits`](Self::to_bits) made. Any other integer makes a token whose outcome
    /// is stale or not counted, or counts for a call that nobody made.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("generation", &self.generation()).field("kind", &self.kind()).finish()
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
    pub fn slow(self) {
        self.record(Outcome::Slow);
    }

    /// The call failed.
    pub fn failure(self) {
        self.record(Outcome::Failure);
    }

    /// The call ended in a way that says nothing about the dependency's health.
    pub fn ignore(self) {
        self.record(Outcome::Ignored);
    }

    /// The call failed, and took too long as well.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::GENERATION_BITS;

    #[test]
    fn a_token_comes_back_from_its_bits() {
        for kind in [Kind::Counted, Kind::Probe, Kind::Uncounted] {
            let mut state = State::NEW;
            for generation in 0..1 << GENERATION_BITS {
                let token = Token::from_bits(Token::new(state, kind).to_bits());
                assert_eq!((token.generation(), token.kind()), (generation, kind));
                state = state.reset();
            }
            // Of another width of words, whose generations have more bits.
            let token = Token::from_bits((kind as u32) << KIND | u32::from(u16::MAX));
            assert_eq!((token.generation(), token.kind()), (u16::MAX, kind));
        }
    }
}
