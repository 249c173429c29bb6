//! Lengths of time, and times read from a clock that can't be trusted.
//!
//! A time is a clock's reading in units of its span. Readings come round, so "is it over?" has no
//! exact answer. The rule here: a deadline is pending only if it lies at most its own span ahead. One
//! that lies further ahead, but less than twice the span, was set before the clock was set back. All
//! others are due. A clock that wrapped, jumped or was never right can thus lengthen no wait beyond
//! one span.

use crate::sync::{Raw, Signed};

/// The longest span that any setting may have, 2²⁶ ms or 18.6 hours: a quarter of the times that a
/// clock of 28 bits can tell apart.
pub(crate) const MAX_SPAN_MS: u32 = 1 << 26;

/// How much longer than the longest open time others may advise to stay open: twice, and this.
pub(crate) const ADVICE_MARGIN_MS: u32 = 10_000;

/// Bits of the longest span of all: the longest advice.
const LONGEST_DIGITS: u32 = bit_length(2 * MAX_SPAN_MS + ADVICE_MARGIN_MS);

/// A length of time and the unit, a power of two milliseconds, in which a word counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    ms: u32,
    shift: u32,
}

/// How a deadline looks from now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It has passed, or is nonsense.
    Due,
    /// It lies this many milliseconds ahead: at most its span and what rounding it up added.
    Pending(u32),
    /// It lies further ahead than its span: the clock was set back since.
    Beyond,
}

impl Left {
    /// Milliseconds left: 0 when due, at most the whole `span`.
    pub(crate) const fn ms(self, span: Span) -> u32 {
        match self {
            Self::Due => 0,
            Self::Pending(ms) => ms,
            Self::Beyond => span.ms,
        }
    }
}

impl Span {
    /// `ms`, counted in the smallest unit in which it takes at most `digits` bits.
    #[inline]
    pub(crate) const fn new(ms: u32, digits: u32) -> Self {
        Self::of_length(ms, bit_length(ms), digits)
    }

    /// The same, where it is known how many `bits` it takes.
    #[inline]
    pub(crate) const fn of_length(ms: u32, bits: u32, digits: u32) -> Self {
        // Where every span fits, the compiler knows that all units are whole milliseconds.
        let shift = if digits >= LONGEST_DIGITS { 0 } else { bits.saturating_sub(digits) };
        Self { ms, shift }
    }

    /// The length in milliseconds.
    pub(crate) const fn ms(self) -> u32 {
        self.ms
    }

    /// A reading of the clock in this span's unit.
    #[inline]
    pub(crate) const fn units(self, now: Raw) -> Raw {
        now >> self.shift
    }

    /// The deadline `ms` after `now`, rounded up to a unit: never early. One that has come already is rounded
    /// down: it is over, and not only soon.
    pub(crate) const fn deadline(self, now: Raw, ms: u32) -> Raw {
        let rounded_up = if ms == 0 { 0 } else { self.unit() - 1 };
        self.units(now.wrapping_add(ms as Raw).wrapping_add(rounded_up))
    }

    /// How `deadline` looks from `now`. A final one is never beyond: it is pending for up to an eighth more than
    /// the span, for readers whose clock is a little behind the writer's, and else due.
    pub(crate) const fn left(self, deadline: Raw, now: Raw, is_final: bool) -> Left {
        let ahead = (deadline << self.shift).wrapping_sub(now);
        // A fresh deadline that was rounded up lies less than a unit further ahead than the span.
        let most = self.ms as Raw + self.unit() - 1;
        if ahead.wrapping_sub(1) < most {
            return Left::Pending(ahead as u32);
        }
        let (limit, further) = if is_final {
            (most + ((self.ms + 7) >> 3) as Raw, Left::Pending(ahead as u32))
        } else {
            (2 * self.ms as Raw, Left::Beyond)
        };
        if ahead.wrapping_sub(1) < limit { further } else { Left::Due }
    }

    /// How many units `stamp`, kept in so many `bits`, lies before `now`; negative where it lies after.
    pub(crate) const fn age(self, stamp: Raw, now: Raw, bits: u32) -> Signed {
        let unknown = if self.shift > Raw::BITS - bits { self.shift } else { Raw::BITS - bits };
        (self.units(now).wrapping_sub(stamp) << unknown) as Signed >> unknown
    }

    /// The span in units, rounded up.
    pub(crate) const fn whole(self) -> Raw {
        (self.ms as Raw + (self.unit() - 1)) >> self.shift
    }

    /// The largest time in this unit: the clock itself wraps where a reading is as wide as a word.
    pub(crate) const fn range(self) -> Raw {
        Raw::MAX >> self.shift
    }

    const fn unit(self) -> Raw {
        1 << self.shift
    }
}

/// The number of bits that `value` takes.
pub(crate) const fn bit_length(value: u32) -> u32 {
    u32::BITS - value.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_pending_until_its_last_millisecond() {
        let span = Span::new(100, 8);
        let deadline = span.deadline(1_000, 100);
        assert_eq!(span.left(deadline, 1_000, false), Left::Pending(100));
        assert_eq!(span.left(deadline, 1_099, false), Left::Pending(1));
        assert_eq!(span.left(deadline, 1_100, false), Left::Due);
        assert_eq!(span.left(deadline, 40_000, false), Left::Due);
    }

    #[test]
    fn a_reader_behind_the_writer_does_not_find_a_fresh_deadline_over() {
        let span = Span::new(100, 8);
        let deadline = span.deadline(1_000, 100);
        assert_eq!(span.left(deadline, 999, false), Left::Beyond);
        assert_eq!(span.left(deadline, 990, true), Left::Pending(110));
        assert_eq!(span.left(deadline, 986, true), Left::Due);
        assert_eq!(span.left(deadline, 900, false), Left::Beyond);
        assert_eq!(span.left(deadline, 899, false), Left::Due);
    }

    #[test]
    fn the_longest_spans_survive_the_wrap_of_a_clock_as_wide_as_a_word() {
        let span = Span::new(MAX_SPAN_MS, 8);
        let now = Raw::MAX - 5;
        let later = now.wrapping_add(1_000_000);
        let deadline = span.deadline(now, MAX_SPAN_MS);
        assert!(matches!(span.left(deadline, later, false), Left::Pending(_)));
        assert_eq!(span.age(span.units(now), later, Raw::BITS), (1_000_000 >> span.shift) as Signed + 1);
    }

    #[test]
    fn a_stamp_has_an_age_on_either_side_of_now() {
        let (span, bits, mask) = (Span::new(100, 8), 16, 0xFFFF);
        for now in [0, 50, 1_000, mask, mask + 1, Raw::MAX] {
            for age in [0, 1, 100, 101, 0x7FFF] {
                assert_eq!(span.age(now.wrapping_sub(age) & mask, now, bits), age as Signed, "behind {now}");
                assert_eq!(
                    span.age(now.wrapping_add(age) & mask, now, bits),
                    -(age as Signed),
                    "after {now}"
                );
            }
        }
    }

    #[test]
    fn deadlines_survive_the_wrap_of_the_clock() {
        let span = Span::new(100, 8);
        let deadline = span.deadline(Raw::MAX, 100);
        assert_eq!(span.left(deadline, Raw::MAX, false), Left::Pending(100));
        assert_eq!(span.left(deadline, 0, false), Left::Pending(99));
        assert_eq!(span.left(deadline, 99, false), Left::Due);
    }

    #[test]
    fn long_spans_are_counted_in_coarser_units_and_never_end_early() {
        let span = Span::new(10_000, 8); // 64 ms a unit
        let deadline = span.deadline(1_000, 10_000);
        let Left::Pending(left) = span.left(deadline, 1_000, false) else {
            panic!("a fresh deadline is pending");
        };
        assert!((10_000..10_064).contains(&left), "{left}");
        assert!(matches!(span.left(deadline, 10_999, false), Left::Pending(_)));
        assert_eq!(span.left(deadline, 11_064, false), Left::Due);
    }

    #[test]
    fn a_fresh_deadline_is_pending_from_any_millisecond_on() {
        for ms in [1, 15, 16, 17, 100, 472, 1_000, 10_000, MAX_SPAN_MS] {
            for digits in [4, 8, 12] {
                let span = Span::new(ms, digits);
                for now in (0..2_000).chain([Raw::MAX - 1, Raw::MAX]) {
                    let left = span.left(span.deadline(now, ms), now, false);
                    assert!(
                        matches!(left, Left::Pending(left) if left < ms + span.unit() as u32),
                        "{ms} ms, {digits} digits, at {now}: {left:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_deadline_that_has_come_is_over_at_once() {
        let span = Span::new(10_000, 8);
        for now in [0, 1, 63, 64, 1_000, Raw::MAX] {
            assert_eq!(span.left(span.deadline(now, 0), now, false), Left::Due);
        }
    }
}
