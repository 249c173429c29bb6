//! A failure rate with a minimum number of calls.

use crate::ConfigError;
use crate::settings::error::{attempt, within};

/// A share of bad calls, as people write it, and how many calls there must be before it is judged.
/// Checked by the window that takes it.
///
/// ```
/// use nanobreaker_core::{Rate, window::Calls};
///
/// let half_of_ten_or_more = Rate::percent(50).min_calls(10);
/// assert!(Calls::<1>::new(20, half_of_ten_or_more).is_ok());
/// let one_in_a_thousand = Rate::permille(1);
/// assert!(Calls::<1>::new(20, one_in_a_thousand).is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Rate {
    parts: u32,
    of: u32,
    min_calls: u32,
}

/// The largest rate: all calls, in parts per million.
pub(crate) const MILLION: u32 = 1_000_000;

impl Rate {
    /// So many of a hundred calls.
    pub const fn percent(parts: u32) -> Self {
        Self::of(parts, 100)
    }

    /// So many of a thousand calls.
    pub const fn permille(parts: u32) -> Self {
        Self::of(parts, 1_000)
    }

    /// So many of a million calls.
    pub const fn ppm(parts: u32) -> Self {
        Self::of(parts, MILLION)
    }

    const fn of(parts: u32, of: u32) -> Self {
        Self { parts, of, min_calls: 1 }
    }

    /// Judged from so many calls on; 1 unless set.
    pub const fn min_calls(self, min_calls: u32) -> Self {
        Self { min_calls, ..self }
    }

    /// The rate in parts per million.
    pub const fn as_ppm(self) -> u32 {
        self.parts.saturating_mul(MILLION / self.of)
    }

    /// From how many calls on it is judged.
    pub const fn least_calls(self) -> u32 {
        self.min_calls
    }

    /// The rate, checked; `most_calls` is the largest minimum.
    pub(crate) const fn checked(self, most_calls: u32) -> Result<Threshold, ConfigError> {
        let field = match self.of {
            100 => "failure_rate_percent",
            1_000 => "failure_rate_permille",
            _ => "failure_rate_ppm",
        };
        attempt!(within(field, self.parts as u64, 1, self.of as u64));
        attempt!(within("min_calls", self.min_calls as u64, 1, most_calls as u64));
        Ok(Threshold { ppm: self.as_ppm(), min_calls: self.min_calls })
    }
}

/// A checked rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Threshold {
    pub(crate) ppm: u32,
    pub(crate) min_calls: u32,
}

impl Threshold {
    /// Whether `bad` of `calls` calls are too many.
    #[inline]
    pub(crate) const fn is_reached(self, bad: u64, calls: u64) -> bool {
        if bad == 0 || calls < self.min_calls as u64 {
            return false;
        }
        // Below 2⁴⁴ calls 64 bits hold the products. Narrow counts are always below.
        if crate::sync::WIDE && calls >> 44 != 0 {
            bad as u128 * MILLION as u128 >= calls as u128 * self.ppm as u128
        } else {
            bad * MILLION as u64 >= calls * self.ppm as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_itself_trips_and_anything_below_holds() {
        let rate = Rate::percent(50).min_calls(4).checked(10).unwrap();
        assert!(rate.is_reached(2, 4));
        assert!(!rate.is_reached(1, 4));
        assert!(!rate.is_reached(3, 3), "below the minimum");
        assert!(!rate.is_reached(2, 5));
    }

    #[test]
    fn the_smallest_rate_needs_a_failure() {
        for (rate, calls) in [(Rate::percent(1), 100), (Rate::permille(1), 1_000), (Rate::ppm(1), 1_000_000)]
        {
            let rate = rate.checked(10).unwrap();
            assert!(!rate.is_reached(0, 10));
            assert!(rate.is_reached(1, calls));
            assert!(!rate.is_reached(1, calls + 1));
        }
    }

    #[test]
    fn as_many_calls_as_a_window_can_hold_do_not_overflow() {
        let most = if crate::sync::WIDE { u64::MAX } else { 1 << 28 };
        let rate = Rate::percent(100).checked(10).unwrap();
        assert!(rate.is_reached(most, most));
        assert!(!rate.is_reached(most - 1, most));
    }

    #[test]
    fn limits_are_refused_by_name_and_in_the_unit_that_was_given() {
        let refused = |rate: Rate| {
            let error = rate.checked(10).unwrap_err();
            (error.field(), error.value(), error.maximum())
        };
        assert_eq!(refused(Rate::percent(0)), ("failure_rate_percent", 0, 100));
        assert_eq!(refused(Rate::percent(101)), ("failure_rate_percent", 101, 100));
        assert_eq!(refused(Rate::permille(1_001)), ("failure_rate_permille", 1_001, 1_000));
        assert_eq!(refused(Rate::ppm(u32::MAX)), ("failure_rate_ppm", u64::from(u32::MAX), 1_000_000));
        assert_eq!(refused(Rate::percent(1).min_calls(0)), ("min_calls", 0, 10));
        assert_eq!(refused(Rate::percent(1).min_calls(11)), ("min_calls", 11, 10));
        assert!(Rate::percent(100).min_calls(10).checked(10).is_ok());
    }
}
