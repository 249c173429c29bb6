//! Lengths of time, and deadlines read from a clock that can't be trusted.
//!
//! A deadline is stored modulo its field's range, so "is it over?" has no exact answer.
//! The rule here: a deadline is pending only if it lies at most twice its own span ahead, otherwise
//! it is due. A clock that wrapped, jumped or was never right can thus lengthen no wait beyond that,
//! and a reader whose clock is a little behind the writer's doesn't find a fresh deadline over.

use crate::sync::Raw;

/// The longest span that any setting may have: a quarter of the range that stays unambiguous,
/// 2²⁶ ms or 18.6 hours.
pub(crate) const MAX_SPAN_MS: u32 = 1 << 26;

/// A length of time and the unit, a power of two milliseconds, in which a word counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    ms: u32,
    shift: u8,
}

/// How a deadline looks from now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It has passed, or is nonsense.
    Due,
    /// It lies this many milliseconds ahead, at most its span and what rounding it up added.
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
    pub(crate) const fn new(ms: u32, digits: u32) -> Self {
        Self::with_length(ms, bit_length(ms), digits)
    }

    /// The same, where the bit length of `ms` is already known.
    pub(crate) const fn with_length(ms: u32, bit_length: u32, digits: u32) -> Self {
        // Where every span fits, the compiler knows that all are whole milliseconds.
        let shift = if digits >= self::bit_length(MAX_SPAN_MS) {
            0
        } else {
            bit_length.saturating_sub(digits)
        };
        Self {
            ms,
            shift: shift as u8,
        }
    }

    /// The length in milliseconds.
    pub(crate) const fn ms(self) -> u32 {
        self.ms
    }

    /// A reading of the clock in this span's unit.
    pub(crate) const fn units(self, now: Raw) -> Raw {
        now >> self.shift
    }

    /// The deadline `ms` after `now`, rounded down to a unit: never late.
    pub(crate) const fn deadline(self, now: Raw, ms: u32) -> Raw {
        self.units(now.wrapping_add(ms as Raw))
    }

    /// The deadline a whole span after `now`, rounded up to a unit: never early.
    pub(crate) const fn late_deadline(self, now: Raw) -> Raw {
        self.units(
            now.wrapping_add(self.ms as Raw)
                .wrapping_add(self.unit() - 1),
        )
    }

    /// How `deadline`, kept modulo `mask + 1`, looks from `now`.
    pub(crate) const fn left(self, deadline: Raw, now: Raw, mask: Raw) -> Left {
        let mask = self.range(mask);
        let ahead = deadline.wrapping_sub(self.units(now)) & mask;
        let whole = self.whole_units();
        if ahead == 0 || ahead > 2 * whole {
            return Left::Due;
        }
        let begun = now & (self.unit() - 1);
        let ms = ((ahead << self.shift) - begun) as u32;
        // A fresh deadline that was rounded up lies less than a unit further ahead than the span:
        // were it taken for one of a clock set back, setting it anew would never end.
        if ms < self.ms + self.unit() as u32 {
            Left::Pending(ms)
        } else {
            Left::Beyond
        }
    }

    /// How many milliseconds passed from `since`, kept modulo `mask + 1`, until `now`,
    /// at most one more than the span. A start at most a span ahead is a clock set back: nothing
    /// has passed yet.
    pub(crate) const fn elapsed(self, since: Raw, now: Raw, mask: Raw) -> u32 {
        let mask = self.range(mask);
        let whole = self.whole_units();
        let ahead = since.wrapping_sub(self.units(now)) & mask;
        if ahead <= whole {
            return 0;
        }
        let passed = self.units(now).wrapping_sub(since) & mask;
        if passed > whole {
            self.ms + 1
        } else {
            (passed << self.shift) as u32
        }
    }

    /// Whether `stamp`, kept modulo `mask + 1`, is one that the clock has yet to reach.
    pub(crate) const fn is_ahead(self, stamp: Raw, now: Raw, mask: Raw) -> bool {
        let mask = self.range(mask);
        let ahead = stamp.wrapping_sub(self.units(now)) & mask;
        ahead != 0 && ahead <= mask / 2
    }

    /// Whether `stamp`, kept modulo `mask + 1`, lies at most a span away from `now`, on either side.
    pub(crate) const fn is_near(self, stamp: Raw, now: Raw, mask: Raw) -> bool {
        let mask = self.range(mask);
        let whole = self.whole_units();
        let behind = self.units(now).wrapping_sub(stamp) & mask;
        let ahead = stamp.wrapping_sub(self.units(now)) & mask;
        behind <= whole || ahead <= whole
    }

    /// Whether a stamp, kept modulo `mask + 1`, that lies `age` units back is surely expired: more
    /// than a span old, and not so old that it could as well lie ahead.
    pub(crate) const fn is_shorter_than(self, age: Raw, mask: Raw) -> bool {
        self.whole_units() < age && age <= self.range(mask) / 2
    }

    /// What is left of a field's range where the clock itself wraps earlier: narrow words only.
    const fn range(self, mask: Raw) -> Raw {
        mask & (Raw::MAX >> self.shift)
    }

    const fn unit(self) -> Raw {
        1 << self.shift
    }

    /// The span in units, rounded up.
    const fn whole_units(self) -> Raw {
        (self.ms as Raw + (self.unit() - 1)) >> self.shift
    }
}

/// The number of bits that `value` takes.
pub(crate) const fn bit_length(value: u32) -> u32 {
    u32::BITS - value.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASK: Raw = (1 << 16) - 1;

    #[test]
    fn a_deadline_is_pending_until_its_last_millisecond() {
        let span = Span::new(100, 8);
        let deadline = span.deadline(1_000, 100);
        assert_eq!(span.left(deadline, 1_000, MASK), Left::Pending(100));
        assert_eq!(span.left(deadline, 1_099, MASK), Left::Pending(1));
        assert_eq!(span.left(deadline, 1_100, MASK), Left::Due);
        assert_eq!(span.left(deadline, 40_000, MASK), Left::Due);
    }

    #[test]
    fn a_reader_one_millisecond_behind_does_not_find_a_fresh_deadline_over() {
        let span = Span::new(100, 8);
        let deadline = span.deadline(1_000, 100);
        assert_eq!(span.left(deadline, 999, MASK), Left::Beyond);
        assert_eq!(span.left(deadline, 900, MASK), Left::Beyond);
        assert_eq!(span.left(deadline, 899, MASK), Left::Due);
    }

    #[test]
    fn the_longest_spans_survive_the_wrap_of_a_clock_as_wide_as_a_word() {
        let span = Span::new(MAX_SPAN_MS, 8);
        let now = Raw::MAX - 5;
        let later = now.wrapping_add(1_000_000);
        let deadline = span.deadline(now, MAX_SPAN_MS);
        assert!(matches!(span.left(deadline, later, MASK), Left::Pending(_)));
        let since = span.units(now);
        assert!((1..=1_048_576).contains(&span.elapsed(since, later, MASK)));
        assert!(span.is_near(since, later, MASK));
        assert!(!span.is_ahead(since, later, MASK));
    }

    #[test]
    fn deadlines_survive_the_wrap_of_their_field() {
        let span = Span::new(100, 8);
        let deadline = span.deadline(0xFFFF, 100) & MASK;
        assert_eq!(span.left(deadline, 0xFFFF, MASK), Left::Pending(100));
        assert_eq!(span.left(deadline, 0x1_0000, MASK), Left::Pending(99));
        assert_eq!(span.left(deadline, 0x1_0000 + 99, MASK), Left::Due);
    }

    #[test]
    fn long_spans_are_counted_in_coarser_units_and_never_end_late() {
        let span = Span::new(10_000, 8); // 64 ms a unit
        let deadline = span.deadline(1_000, 10_000);
        let Left::Pending(left) = span.left(deadline, 1_000, MASK) else {
            panic!("a fresh deadline is pending");
        };
        assert!((10_000 - 64..=10_000).contains(&left), "{left}");
        assert_eq!(span.left(deadline, 11_000, MASK), Left::Due);
    }

    #[test]
    fn a_fresh_deadline_is_pending_from_any_millisecond_on() {
        for ms in [1, 15, 16, 17, 100, 472, 1_000, 10_000, MAX_SPAN_MS] {
            for digits in [4, 8] {
                let span = Span::new(ms, digits);
                for now in (0..2_000).chain([Raw::MAX - 1, Raw::MAX]) {
                    for deadline in [span.deadline(now, ms), span.late_deadline(now)] {
                        let left = span.left(deadline, now, MASK);
                        assert!(
                            matches!(left, Left::Pending(left) if left < ms + span.unit() as u32),
                            "{ms} ms, {digits} digits, at {now}: {left:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn elapsed_time_counts_from_zero_and_stops_past_the_span() {
        let span = Span::new(100, 8);
        assert_eq!(span.elapsed(1_000, 1_000, MASK), 0);
        assert_eq!(span.elapsed(1_000, 1_001, MASK), 1);
        assert_eq!(span.elapsed(1_000, 1_100, MASK), 100);
        assert_eq!(span.elapsed(1_000, 1_101, MASK), 101);
        assert_eq!(span.elapsed(1_000, 30_000, MASK), 101);
    }

    #[test]
    fn a_start_ahead_of_the_clock_has_nothing_elapsed() {
        let span = Span::new(100, 8);
        assert_eq!(span.elapsed(1_000, 999, MASK), 0);
        assert_eq!(span.elapsed(1_000, 900, MASK), 0);
        assert_eq!(span.elapsed(1_000, 899, MASK), 101);
    }

    #[test]
    fn the_longest_span_fits() {
        let span = Span::new(MAX_SPAN_MS, 8);
        let deadline = span.deadline(5, MAX_SPAN_MS);
        assert!(matches!(span.left(deadline, 5, MASK), Left::Pending(_)));
    }
}
