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
//! | shadow     |    1 |      1 | never reject |
//! | cell       |    1 |      1 | which of two cells of settings is in force |
//! | generation |   12 |      8 | stepped on entering open, isolated, disabled, by a reset and by new settings |
//! | streak     |    4 |      3 | how often in a row it tripped again |
//! | payload    |   43 |     16 | depends on the phase |
//!
//! | phase      | payload, wide | payload, narrow |
//! | ---------- | ------------- | --------------- |
//! | closed     | returned 1, healthy from 42 | returned 1, healthy from 15 |
//! | open       | set anew 1, retry at 42 | set anew 1, retry at 15 |
//! | half-open  | in flight 6, succeeded 6, failed 4, given back 3, lease ends 24 | 3, 3, 2, 2, 6 |
//! | recovering | 0, ramp ends 42 | 0, ramp ends 15 |
//! | isolated, disabled | 0 | 0 |
//!
//! So there is one kind of time, the end of what a phase waits for, and it always lies at the top.
//! Times are counted in units of their span, see [`Span`]. Wide words count whole milliseconds, and leases
//! over 1.1 hours in up to 32. Narrow ones count units of at most 1/2,048 of the span, and of 1/8 for a
//! lease. The time's upper bits lie in a word of their own, see [`Anchor`].
//!
//! A closed breaker that is not in shadow has its four lowest bits zero: that is the whole test on
//! the healthy path.

mod anchor;
mod moves;
mod span;
mod tag;

pub(crate) use anchor::Anchor;
pub(crate) use moves::Round;
pub(crate) use span::{ADVICE_MARGIN_MS, Left, MAX_SPAN_MS, Span, bit_length};
pub(crate) use tag::{CONTENT_BITS, MAX_CONTENT, content, tag, tagged};

use crate::Phase;
use crate::sync::{Raw, WIDE};

/// The bits of one field.
#[derive(Clone, Copy)]
struct Field {
    shift: u32,
    bits: u32,
}

impl Field {
    const fn after(previous: Self, bits: u32) -> Self {
        Self { shift: previous.shift + previous.bits, bits }
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

const PHASE: Field = Field { shift: 0, bits: 3 };
const SHADOW: Field = Field::after(PHASE, 1);
const CELL: Field = Field::after(SHADOW, 1);
const GENERATION: Field = Field::after(CELL, width(12, 8));
const STREAK: Field = Field::after(GENERATION, width(4, 3));

/// Closed: it was open before. Open: the clock was set back, and the time was set anew once.
const FLAG: Field = Field::after(STREAK, 1);
/// When the phase's time is over.
const TIME: Field = Field::after(FLAG, width(42, 15));

const IN_FLIGHT: Field = Field::after(STREAK, width(6, 3));
const SUCCEEDED: Field = Field::after(IN_FLIGHT, width(6, 3));
const FAILED: Field = Field::after(SUCCEEDED, width(4, 2));
const GIVEN_BACK: Field = Field::after(FAILED, width(3, 2));
const LEASE: Field = Field::after(GIVEN_BACK, width(24, 6));

const _: () = {
    assert!(TIME.shift + TIME.bits == Raw::BITS, "a time lies at the top of the word");
    assert!(LEASE.shift + LEASE.bits == Raw::BITS, "so does a lease");
    assert!(SPAN_DIGITS + 2 <= TIME.bits, "a time has room");
    assert!(LEASE_DIGITS + 2 <= LEASE.bits, "a lease has room");
};

/// Significant bits of a span in the word: twice the span is at most half of the field's range.
pub(crate) const SPAN_DIGITS: u32 = width(28, 12);
/// The same for the lease, whose field is smaller.
pub(crate) const LEASE_DIGITS: u32 = width(22, 4);

/// Bits of a generation, in the state word and as the tag of window words.
pub(crate) const GENERATION_BITS: u32 = GENERATION.bits;
/// The longest streak.
pub(crate) const MAX_STREAK: u8 = STREAK.max() as u8;
/// The most probes that may be in flight at once.
pub(crate) const MAX_PROBES: u32 = IN_FLIGHT.max() as u32;
/// The most successes that a verdict can take: the last one closes and is never stored.
pub(crate) const MAX_SUCCESSES: u32 = SUCCEEDED.max() as u32 + 1;
/// The most failures that a verdict can take: the last one reopens and is never stored.
pub(crate) const MAX_FAILURES: u32 = FAILED.max() as u32 + 1;

/// The phase field's value. Unlike [`Phase`], which people see, it tells how an open time came about, since
/// that says which span bounds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Code(Raw);

impl Code {
    // Those that the window judges first: one comparison tells them from all others.
    pub(crate) const CLOSED: Self = Self(0);
    pub(crate) const RECOVERING: Self = Self(1);
    pub(crate) const ISOLATED: Self = Self(2);
    pub(crate) const DISABLED: Self = Self(3);
    pub(crate) const HALF_OPEN: Self = Self(4);
    /// Open for as long as the streak says.
    pub(crate) const OPEN: Self = Self(5);
    /// Open for as long as somebody asked for.
    pub(crate) const OPEN_ASKED: Self = Self(6);
    /// Open for as long as others advised.
    pub(crate) const OPEN_ADVISED: Self = Self(7);
}

/// What the word holds at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct State(pub(crate) Raw);

impl State {
    /// A new breaker: closed, generation 0, never tripped.
    pub(crate) const NEW: Self = Self(0);

    /// Closed and not in shadow: a call passes without a further look.
    #[inline]
    pub(crate) const fn is_healthy(self) -> bool {
        self.0 & (PHASE.put(PHASE.max()) | SHADOW.put(1)) == 0
    }

    #[inline]
    pub(crate) const fn generation(self) -> u16 {
        GENERATION.get(self.0) as u16
    }

    /// Which cell of settings is in force: 0 or 1.
    #[inline]
    pub(crate) const fn cell(self) -> usize {
        CELL.get(self.0) as usize
    }

    /// Whether an outcome of this generation goes to the window.
    #[inline]
    pub(crate) const fn judges_by_window(self) -> bool {
        matches!(self.code(), Code::CLOSED | Code::RECOVERING)
    }

    #[inline]
    pub(crate) const fn phase(self) -> Phase {
        match self.code() {
            Code::CLOSED => Phase::Closed,
            Code::HALF_OPEN => Phase::HalfOpen,
            Code::RECOVERING => Phase::Recovering,
            Code::ISOLATED => Phase::Isolated,
            Code::DISABLED => Phase::Disabled,
            _ => Phase::Open,
        }
    }

    /// The phase field.
    #[inline]
    pub(crate) const fn code(self) -> Code {
        Code(PHASE.get(self.0))
    }

    pub(crate) const fn is_in_shadow(self) -> bool {
        SHADOW.get(self.0) != 0
    }

    pub(crate) const fn streak(self) -> u8 {
        STREAK.get(self.0) as u8
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

    /// Closed: whether it was open before, so that a trip soon after lengthens the streak.
    /// Open: whether the clock was set back, and the time was set anew for it.
    pub(crate) const fn flag(self) -> bool {
        FLAG.get(self.0) != 0
    }

    /// Where this state's time begins, which reaches to the top of the word.
    const fn time_shift(self) -> u32 {
        if matches!(self.code(), Code::HALF_OPEN) { LEASE.shift } else { TIME.shift }
    }

    /// Whether this state's time is over where it ends too far ahead, and not set anew: that of probes, and
    /// an open time that was set anew already.
    pub(crate) const fn is_final(self) -> bool {
        let is_half_open = matches!(self.code(), Code::HALF_OPEN);
        is_half_open || (self.flag() && !matches!(self.code(), Code::CLOSED))
    }

    /// Whether these lower bits tell times apart without an [`Anchor`]: milliseconds in 42 bits come
    /// round after 139 years.
    pub(crate) const fn needs_no_anchor(self) -> bool {
        WIDE && !matches!(self.code(), Code::HALF_OPEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_holds_its_extremes_without_touching_its_neighbours() {
        let fields = [PHASE, SHADOW, CELL, GENERATION, STREAK];
        for set in [&[FLAG, TIME][..], &[IN_FLIGHT, SUCCEEDED, FAILED, GIVEN_BACK, LEASE]] {
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
        assert!(!State::NEW.is_in_shadow());
    }
}
