//! The packed state word: everything that a transition depends on, in one value.
//!
//! [`State`] is plain data: no atomics, no clock, no configuration. The breaker loads a word, asks
//! the pure functions here what follows, and exchanges the word for the answer; so every step of the
//! state machine is one compare-exchange and nothing can be half-done.
//!
//! # Layout, from the lowest bit
//!
//! | field      | wide | narrow | meaning |
//! | ---------- | ---- | ------ | ------- |
//! | phase      |    3 |      3 | see `Code` |
//! | observe    |    1 |      1 | never reject |
//! | generation |   12 |      8 | stepped on entering open, isolated, disabled and by a reset |
//! | streak     |    4 |      4 | how often in a row it tripped again |
//! | payload    |   44 |     16 | depends on the phase |
//!
//! | phase      | payload, wide | payload, narrow |
//! | ---------- | ------------- | --------------- |
//! | closed     | since 43, returned 1 | since 15, returned 1 |
//! | open       | retry at 44 | retry at 16 |
//! | half-open  | in flight 6, succeeded 6, failed 4, given back 3, lease ends 25 | 3, 3, 2, 2, 6 |
//! | recovering | since 44 | since 16 |
//! | isolated, disabled | 0 | 0 |
//!
//! Times are counted in units of their span (see [`Span`]): whole milliseconds in the wide word, but
//! for leases over 2.3 hours; about 1/128 of the span in the narrow one, and 1/8 for its lease.
//! A closed breaker that is not observing has its four lowest bits zero: that is the whole test on
//! the healthy path.

mod moves;
mod span;

pub(crate) use moves::{Answer, Opening, Round};
pub(crate) use span::{Left, MAX_SPAN_MS, Span, bit_length};

use crate::phase::Phase;
use crate::sync::{Raw, WIDE};

/// The bits of one field.
#[derive(Clone, Copy)]
struct Field {
    shift: u32,
    bits: u32,
}

impl Field {
    const fn first(bits: u32) -> Self {
        Self { shift: 0, bits }
    }

    const fn after(previous: Self, bits: u32) -> Self {
        Self {
            shift: previous.shift + previous.bits,
            bits,
        }
    }

    /// The largest value; also the mask of the unshifted field.
    const fn max(self) -> Raw {
        (1 << self.bits) - 1
    }

    const fn get(self, raw: Raw) -> Raw {
        (raw >> self.shift) & self.max()
    }

    /// `value`, cut to the field and put in its place.
    const fn put(self, value: Raw) -> Raw {
        (value & self.max()) << self.shift
    }
}

const fn width(wide: u32, narrow: u32) -> u32 {
    if WIDE { wide } else { narrow }
}

const PHASE: Field = Field::first(3);
const OBSERVE: Field = Field::after(PHASE, 1);
const GENERATION: Field = Field::after(OBSERVE, width(12, 8));
const STREAK: Field = Field::after(GENERATION, 4);

const TIME: Field = Field::after(STREAK, width(44, 16));
const SINCE: Field = Field::after(STREAK, width(43, 15));
const RETURNED: Field = Field::after(SINCE, 1);

const IN_FLIGHT: Field = Field::after(STREAK, width(6, 3));
const SUCCEEDED: Field = Field::after(IN_FLIGHT, width(6, 3));
const FAILED: Field = Field::after(SUCCEEDED, width(4, 2));
const GIVEN_BACK: Field = Field::after(FAILED, width(3, 2));
const LEASE: Field = Field::after(GIVEN_BACK, width(25, 6));

const _: () = {
    assert!(
        TIME.shift + TIME.bits == Raw::BITS,
        "the times fill the word"
    );
    assert!(
        RETURNED.shift + RETURNED.bits == Raw::BITS,
        "closed fills the word"
    );
    assert!(
        LEASE.shift + LEASE.bits == Raw::BITS,
        "half-open fills the word"
    );
};

/// Significant bits of a span in the word: twice the span must stay well within the field.
pub(crate) const SPAN_DIGITS: u32 = width(27, 8);
/// The same for the lease, whose field is smaller.
pub(crate) const LEASE_DIGITS: u32 = width(23, 4);

const _: () = {
    assert!(SPAN_DIGITS + 2 < SINCE.bits, "a closing time has room");
    assert!(
        LEASE_DIGITS + 2 <= LEASE.bits,
        "twice the lease is half the range"
    );
    assert!(
        bit_length(MAX_SPAN_MS) <= 27,
        "wide times are whole milliseconds"
    );
};

/// Bits of a generation, in the state word and as the tag of window words.
pub(crate) const GENERATION_BITS: u32 = GENERATION.bits;
/// The most probes that may be in flight at once.
pub(crate) const MAX_PROBES: u32 = IN_FLIGHT.max() as u32;
/// The most successes that a verdict can take: the last one closes and is never stored.
pub(crate) const MAX_SUCCESSES: u32 = SUCCEEDED.max() as u32 + 1;
/// The most failures that a verdict can take: the last one reopens and is never stored.
pub(crate) const MAX_FAILURES: u32 = FAILED.max() as u32 + 1;

/// The phase field's values. Unlike [`Phase`], which people see, it tells whether an open time was
/// asked for: its length then isn't the backoff's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Code {
    Closed = 0,
    Open = 1,
    HalfOpen = 2,
    Recovering = 3,
    Isolated = 4,
    Disabled = 5,
    OpenAsked = 6,
}

/// What the word holds at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct State(Raw);

impl State {
    /// A new breaker: closed, generation 0, never tripped.
    pub(crate) const NEW: Self = Self(0);

    #[inline]
    pub(crate) const fn from_raw(raw: Raw) -> Self {
        Self(raw)
    }

    #[inline]
    pub(crate) const fn raw(self) -> Raw {
        self.0
    }

    /// Closed and not observing: a call passes without a further look.
    #[inline]
    pub(crate) const fn is_healthy(self) -> bool {
        self.0 & (PHASE.put(PHASE.max()) | OBSERVE.put(1)) == 0
    }

    /// Isolated and not observing: a call is rejected without a further look.
    #[inline]
    pub(crate) const fn is_held(self) -> bool {
        self.0 & (PHASE.put(PHASE.max()) | OBSERVE.put(1)) == PHASE.put(Code::Isolated as Raw)
    }

    /// Open and not observing: a call is rejected until the open time is over.
    #[inline]
    pub(crate) const fn is_shut(self) -> bool {
        const SHUT: u16 = 1 << Code::Open as u16 | 1 << Code::OpenAsked as u16;
        SHUT >> (self.0 & (PHASE.put(PHASE.max()) | OBSERVE.put(1))) & 1 != 0
    }

    #[inline]
    pub(crate) const fn generation(self) -> u16 {
        GENERATION.get(self.0) as u16
    }

    /// Whether an outcome of this generation goes to the window.
    #[inline]
    pub(crate) const fn judges_by_window(self) -> bool {
        let code = PHASE.get(self.0) as u8;
        code == Code::Closed as u8 || code == Code::Recovering as u8
    }

    #[inline]
    pub(crate) const fn phase(self) -> Phase {
        match PHASE.get(self.0) as u8 {
            0 => Phase::Closed,
            2 => Phase::HalfOpen,
            3 => Phase::Recovering,
            4 => Phase::Isolated,
            5 => Phase::Disabled,
            // 1 and 6; 7 is never stored.
            _ => Phase::Open,
        }
    }

    pub(crate) const fn is_observing(self) -> bool {
        OBSERVE.get(self.0) != 0
    }

    pub(crate) const fn streak(self) -> u8 {
        STREAK.get(self.0) as u8
    }

    /// Whether the open time was asked for, instead of computed from the streak.
    pub(crate) const fn open_time_was_asked(self) -> bool {
        PHASE.get(self.0) as u8 == Code::OpenAsked as u8
    }

    pub(crate) const fn in_flight(self) -> u8 {
        IN_FLIGHT.get(self.0) as u8
    }

    pub(crate) const fn succeeded(self) -> u8 {
        SUCCEEDED.get(self.0) as u8
    }

    pub(crate) const fn failed(self) -> u8 {
        FAILED.get(self.0) as u8
    }

    /// While open: how long until a probe may go.
    pub(crate) const fn open_time_left(self, now: Raw, span: Span) -> Left {
        span.left(TIME.get(self.0), now, TIME.max())
    }

    /// While half-open: how long the probes in flight may still stay without an answer.
    pub(crate) const fn lease_left(self, now: Raw, lease: Span) -> Left {
        lease.left(LEASE.get(self.0), now, LEASE.max())
    }

    /// While recovering: how much of the ramp is over, in milliseconds.
    pub(crate) const fn ramp_elapsed(self, now: Raw, ramp: Span) -> u32 {
        ramp.elapsed(TIME.get(self.0), now, TIME.max())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_holds_its_extremes_without_touching_its_neighbours() {
        let fields = [PHASE, OBSERVE, GENERATION, STREAK];
        for set in [
            &[TIME][..],
            &[SINCE, RETURNED],
            &[IN_FLIGHT, SUCCEEDED, FAILED, GIVEN_BACK, LEASE],
        ] {
            let all: Vec<Field> = fields.iter().chain(set).copied().collect();
            for (i, field) in all.iter().enumerate() {
                let raw = field.put(Raw::MAX);
                for (j, other) in all.iter().enumerate() {
                    let expected = if i == j { other.max() } else { 0 };
                    assert_eq!(other.get(raw), expected, "field {i} read as {j}");
                }
            }
            let together = all.iter().fold(0, |raw, field| raw | field.put(Raw::MAX));
            assert_eq!(together, Raw::MAX);
        }
    }

    #[test]
    fn a_new_state_is_closed_and_healthy() {
        assert!(State::NEW.is_healthy());
        assert_eq!(State::NEW.phase(), Phase::Closed);
        assert_eq!(State::NEW.generation(), 0);
        assert_eq!(State::NEW.streak(), 0);
        assert!(!State::NEW.is_observing());
    }
}
