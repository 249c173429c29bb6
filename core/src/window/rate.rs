//! A failure rate with a minimum number of calls.

use crate::config::ConfigError;
use crate::config::within;
use crate::sync::Raw;
use crate::window::parts::Parts;

/// Trips when at least `percent` of at least `min_calls` calls were bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    percent: u8,
    min_calls: u32,
}

impl Rate {
    pub(crate) const fn new(
        percent: u32,
        min_calls: u32,
        most_calls: u32,
    ) -> Result<Self, ConfigError> {
        let percent = match within("failure_rate_percent", percent as u64, 1, 100) {
            Ok(value) => value as u8,
            Err(error) => return Err(error),
        };
        match within("min_calls", min_calls as u64, 1, most_calls as u64) {
            Ok(min_calls) => Ok(Self { percent, min_calls }),
            Err(error) => Err(error),
        }
    }

    /// A rate that was checked when it was taken apart.
    pub(super) const fn from_parts(parts: Parts) -> Self {
        Self {
            percent: parts.percent,
            min_calls: parts.min_calls,
        }
    }

    pub(super) const fn percent(self) -> u8 {
        self.percent
    }

    pub(crate) const fn min_calls(self) -> u32 {
        self.min_calls
    }

    /// Whether `bad` of `calls` calls are too many.
    #[inline]
    pub(crate) const fn is_reached(self, bad: Raw, calls: Raw) -> bool {
        // No overflow: calls are below 2^(bits of a word − 9), see the windows' limits.
        bad > 0 && calls >= self.min_calls as Raw && bad * 100 >= calls * self.percent as Raw
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_itself_trips_and_anything_below_holds() {
        let rate = Rate::new(50, 4, 10).unwrap();
        assert!(rate.is_reached(2, 4));
        assert!(!rate.is_reached(1, 4));
        assert!(!rate.is_reached(3, 3), "below the minimum");
        assert!(!rate.is_reached(2, 5));
    }

    #[test]
    fn a_rate_of_one_percent_needs_a_failure() {
        let rate = Rate::new(1, 1, 10).unwrap();
        assert!(!rate.is_reached(0, 10));
        assert!(rate.is_reached(1, 100));
        assert!(!rate.is_reached(1, 101));
    }

    #[test]
    fn limits_are_refused_by_name() {
        assert_eq!(
            Rate::new(0, 1, 10).unwrap_err().field(),
            "failure_rate_percent"
        );
        assert_eq!(
            Rate::new(101, 1, 10).unwrap_err().field(),
            "failure_rate_percent"
        );
        assert_eq!(Rate::new(1, 0, 10).unwrap_err().field(), "min_calls");
        assert_eq!(Rate::new(1, 11, 10).unwrap_err().field(), "min_calls");
        assert!(Rate::new(100, 10, 10).is_ok());
    }
}
