//! The word of a [`OneWordBreaker`](super::OneWordBreaker), as plain data.
//!
//! From the lowest bit:
//!
//! | phase     | 2 bits | 4 bits | 16 bits | 10 bits |
//! | --------- | ------ | ------ | ------- | ------- |
//! | closed    | 0 | 0 | generation | failures in a row |
//! | half-open | 1 | lease ends, 30 bits, of which the 16 in the middle are the generation | | |
//! | open      | 2 | retry at, 30 bits | | |
//!
//! A time is counted in units of which an open time has 16 to 31. So times that lie a whole open time apart
//! differ in the 26 upper bits, of which a generation is the lower 16. A round of half-open begins when the
//! time before it is over, and its lease is an open time long. So no two rounds have the same generation,
//! until the numbers come round after 65,536 open times at least. Closing keeps the generation of the probe
//! that closed it.

use nanobreaker_core::{Phase, Token};

/// Significant bits of an open time: it has 16 to 31 units.
pub(super) const SPAN_DIGITS: u32 = 5;

const PHASE: u32 = 3;
const CLOSED: u32 = 0;
const HALF_OPEN: u32 = 1;
const OPEN: u32 = 2;

const TIME_SHIFT: u32 = 2;
const GENERATION_SHIFT: u32 = TIME_SHIFT + SPAN_DIGITS - 1;
const GENERATION: u32 = (u16::MAX as u32) << GENERATION_SHIFT;
const FAILURES_SHIFT: u32 = GENERATION_SHIFT + u16::BITS;

/// The bits of a time.
pub(super) const TIME_BITS: u32 = u32::BITS - TIME_SHIFT;
/// The largest threshold: the last failure trips and is never stored.
pub(super) const MAX_THRESHOLD: u32 = 1 << (u32::BITS - FAILURES_SHIFT);

/// In a token's bits, above the generation: this call is a probe.
const PROBE_TOKEN: u32 = 1 << u16::BITS;
const _: () = {
    let probe = Token::from_bits(PROBE_TOKEN | 77);
    assert!(probe.is_probe() && probe.generation() == 77);
    let call = Token::from_bits(77);
    assert!(!call.is_probe() && call.generation() == 77);
};

/// What the word holds at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State(u32);

impl State {
    /// Closed, no failure yet.
    pub(super) const NEW: Self = Self(CLOSED);

    pub(super) const fn from_raw(raw: u32) -> Self {
        Self(raw)
    }

    pub(super) const fn raw(self) -> u32 {
        self.0
    }

    /// Open until a time.
    pub(super) const fn open(until: u32) -> Self {
        Self(until << TIME_SHIFT | OPEN)
    }

    /// Half-open with the probe in flight, whose lease ends at a time.
    pub(super) const fn half_open(until: u32) -> Self {
        Self(until << TIME_SHIFT | HALF_OPEN)
    }

    /// Closed, in the same generation, after a success.
    pub(super) const fn closed(self) -> Self {
        Self(self.0 & GENERATION | CLOSED)
    }

    /// Closed, with one more failure.
    pub(super) const fn failed(self) -> Self {
        Self(self.0 + (1 << FAILURES_SHIFT))
    }

    pub(super) const fn is_closed(self) -> bool {
        self.0 & PHASE == CLOSED
    }

    pub(super) const fn phase(self) -> Phase {
        match self.0 & PHASE {
            CLOSED => Phase::Closed,
            HALF_OPEN => Phase::HalfOpen,
            _ => Phase::Open,
        }
    }

    /// Failures in a row, while closed.
    pub(super) const fn failures(self) -> u32 {
        self.0 >> FAILURES_SHIFT
    }

    /// When the open time or the lease ends.
    pub(super) const fn until(self) -> u32 {
        self.0 >> TIME_SHIFT
    }

    pub(super) const fn generation(self) -> u16 {
        (self.0 >> GENERATION_SHIFT) as u16
    }

    /// The right to a call that is admitted in this state: the probe while half-open.
    pub(super) const fn token(self) -> Token {
        let kind = if self.is_closed() { 0 } else { PROBE_TOKEN };
        Token::from_bits(self.generation() as u32 | kind)
    }

    /// Whether the outcome of the call with this token changes anything.
    pub(super) const fn awaits(self, token: Token) -> bool {
        let phase = if token.is_probe() { HALF_OPEN } else { CLOSED };
        self.0 & (GENERATION | PHASE) == (token.generation() as u32) << GENERATION_SHIFT | phase
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_beside_the_generation() {
        let mut state = State::half_open(0x1234_5678 >> TIME_SHIFT).closed();
        let generation = state.generation();
        for failures in 0..MAX_THRESHOLD {
            assert_eq!((state.failures(), state.generation()), (failures, generation));
            assert_eq!(state.phase(), Phase::Closed);
            if failures + 1 < MAX_THRESHOLD {
                state = state.failed();
            }
        }
        assert_eq!(state.closed().failures(), 0);
    }

    #[test]
    fn times_come_back_whole() {
        for until in [0, 1, 15, 16, 0x1234_5678, (1 << TIME_BITS) - 1] {
            assert_eq!((State::open(until).until(), State::open(until).phase()), (until, Phase::Open));
            assert_eq!(State::half_open(until).until(), until);
            assert_eq!(State::half_open(until).phase(), Phase::HalfOpen);
        }
    }

    #[test]
    fn rounds_an_open_time_apart_have_different_generations() {
        for until in (0..5_000).chain([(1 << TIME_BITS) - 40, (1 << TIME_BITS) - 16]) {
            for units in [16, 17, 31, 32, 62, 1_000] {
                let later = State::half_open(until + units);
                assert_ne!(State::half_open(until).generation(), later.generation(), "{until} + {units}");
            }
        }
    }

    #[test]
    fn a_state_awaits_the_tokens_that_it_gave_and_no_others() {
        let half_open = State::half_open(1_000);
        let later = State::half_open(1_016);
        let states = [State::NEW, half_open, half_open.closed(), half_open.closed().failed(), later];
        for (i, giver) in states.iter().enumerate() {
            for (j, taker) in states.iter().enumerate() {
                // The states 2 and 3 differ in a failure alone.
                let is_same = i == j || (i.min(j), i.max(j)) == (2, 3);
                assert_eq!(taker.awaits(giver.token()), is_same, "{giver:?} {taker:?}");
            }
            assert!(!State::open(1_000).awaits(giver.token()), "{giver:?}");
        }
    }
}
