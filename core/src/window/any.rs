//! A window chosen at run time.

use crate::settings::{Threshold, attempt};
use crate::sync::{Word, const_unless_loom};
use crate::window::Measured;
use crate::window::call::Call;
use crate::window::calls::CallsRule;
use crate::window::consecutive::ConsecutiveRule;
use crate::window::cusum::CusumRule;
use crate::window::failures::FailuresRule;
use crate::window::judge::{Rule, Verdict, judges_by_its_rule};
use crate::window::lanes::{Lanes, Room};
use crate::window::time::TimeRule;
use crate::{Clock, ConfigError, WindowSettings};

/// Any of the windows, for where a file or a person chooses.
///
/// `WORDS` words (8 bytes each, or 4) hold: a failure ring of that threshold, a consecutive window, a
/// cumulative sum, calls by [`calls_words`](super::calls_words) (with 33 words, 1,024; with 65 on 32-bit
/// words), or half as many buckets of time. A choice that does not fit is a [`ConfigError`].
///
/// It costs what the chosen window costs, and a branch.
///
/// ```
/// use nanobreaker_core::window::AnyWindow;
/// use nanobreaker_core::{Breaker, Config, ManualClock, Rate, WindowSettings};
///
/// let rate = Rate::percent(50).min_calls(20);
/// let settings = WindowSettings::Time { span_ms: 10_000, buckets: 10, rate };
/// let window = AnyWindow::<21>::new(settings)?;
/// let breaker = Breaker::new(window, Config::DEFAULT, ManualClock::new(0));
/// # assert!(breaker.allow().is_ok());
/// # Ok::<(), nanobreaker_core::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct AnyWindow<const WORDS: usize>(AnyRule, [Word; WORDS]);

impl<const WORDS: usize> AnyWindow<WORDS> {
    const_unless_loom! {
        /// The window that `settings` ask for.
        ///
        /// # Errors
        ///
        /// As the constructor of that window: a threshold or a size may be what `WORDS` words hold.
        pub const fn new(settings: WindowSettings) -> Result<Self, ConfigError> {
            const { assert!(WORDS > 0, "a window takes at least one word") };
            Ok(Self(attempt!(AnyRule::new(settings, WORDS)), Word::zeroes()))
        }
    }
}

judges_by_its_rule!(AnyWindow<const WORDS: usize>);

/// Any of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnyRule {
    Failures(FailuresRule),
    Consecutive(ConsecutiveRule),
    Calls(CallsRule),
    Time(TimeRule),
    Cusum(CusumRule),
}

/// The kind of a window that judges nothing, as a number.
pub(super) const MISSING: u32 = 0;
/// The kinds of rule, as numbers.
pub(super) const FAILURES: u32 = 1;
const CONSECUTIVE: u32 = 2;
const CALLS: u32 = 3;
const TIME: u32 = 4;
pub(super) const CUSUM: u32 = 5;

/// How many numbers any rule takes; each kind has its own.
pub(super) const PARTS: usize = 4;

impl AnyRule {
    /// The rule that `settings` ask for, if it fits into `words` words.
    pub(super) const fn new(settings: WindowSettings, words: usize) -> Result<Self, ConfigError> {
        Ok(match settings {
            WindowSettings::Failures { threshold, within_ms } => {
                Self::Failures(attempt!(FailuresRule::new(threshold, within_ms, words)))
            }
            WindowSettings::Consecutive { threshold } => {
                Self::Consecutive(attempt!(ConsecutiveRule::new(threshold)))
            }
            WindowSettings::Calls { size, rate } => Self::Calls(attempt!(CallsRule::new(size, rate, words))),
            WindowSettings::Time { span_ms, buckets, rate } => {
                Self::Time(attempt!(TimeRule::new(span_ms, buckets, rate, words.saturating_sub(1) / 2)))
            }
            WindowSettings::Cusum(settings) => Self::Cusum(attempt!(CusumRule::new(settings))),
        })
    }

    /// Kind and numbers, from which [`from_parts`](Self::from_parts) makes the same rule.
    pub(super) const fn parts(self) -> (u32, [u32; PARTS]) {
        match self {
            Self::Failures(rule) => (FAILURES, rule.parts()),
            Self::Consecutive(rule) => (CONSECUTIVE, [rule.threshold, 0, 0, 0]),
            Self::Calls(CallsRule { threshold: Threshold { ppm, min_calls }, size }) => {
                (CALLS, [size, 0, ppm, min_calls])
            }
            Self::Time(rule) => (TIME, rule.parts()),
            Self::Cusum(rule) => (CUSUM, [rule.failure, rule.success, rule.sustained_for_ms, 0]),
        }
    }

    /// The rule of these parts. Total: what is no kind is missing, and whatever the numbers are, no panic
    /// follows.
    pub(super) const fn from_parts(kind: u32, [first, second, third, fourth]: [u32; PARTS]) -> Option<Self> {
        let threshold = Threshold { ppm: third, min_calls: fourth };
        Some(match kind {
            FAILURES => Self::Failures(FailuresRule::from_parts(first, second)),
            CONSECUTIVE => Self::Consecutive(ConsecutiveRule { threshold: first }),
            CALLS => Self::Calls(CallsRule { threshold, size: first }),
            TIME => Self::Time(TimeRule::from_parts(threshold, first, second)),
            CUSUM => Self::Cusum(CusumRule { failure: first, success: second, sustained_for_ms: third }),
            _ => return None,
        })
    }
}

/// What `$answer` says, with `$rule` the one that `$any` is.
macro_rules! of_any {
    ($any:expr, $rule:ident => $answer:expr) => {
        match $any {
            AnyRule::Failures($rule) => $answer,
            AnyRule::Consecutive($rule) => $answer,
            AnyRule::Calls($rule) => $answer,
            AnyRule::Time($rule) => $answer,
            AnyRule::Cusum($rule) => $answer,
        }
    };
}

impl Rule for AnyRule {
    #[inline]
    fn count<C: Clock>(&self, room: &Room<'_, impl Lanes>, bad: bool, call: &Call<'_, C>) -> Verdict {
        of_any!(self, rule => rule.count(room, bad, call))
    }

    fn measure<C: Clock>(&self, room: &Room<'_, impl Lanes>, call: &Call<'_, C>) -> Measured {
        of_any!(self, rule => rule.measure(room, call))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{CusumSettings, Rate};

    #[test]
    fn every_rule_comes_back_from_its_parts() {
        let rate = Rate::permille(501).min_calls(7);
        let cusum = CusumSettings {
            normal_ppm: 20_000,
            broken_ppm: 500_000,
            calls_per_false_trip: 485_165_195,
            sustained_for_ms: 0,
        };
        for settings in [
            WindowSettings::DEFAULT,
            WindowSettings::Failures { threshold: 1, within_ms: 1 },
            WindowSettings::Consecutive { threshold: 65_535 },
            WindowSettings::Calls { size: 1_024, rate },
            WindowSettings::Time { span_ms: 10_001, buckets: 64, rate },
            WindowSettings::Cusum(cusum),
        ] {
            let rule = AnyRule::new(settings, 129).unwrap();
            let (kind, parts) = rule.parts();
            assert_eq!(AnyRule::from_parts(kind, parts), Some(rule));
        }
    }

    #[test]
    fn a_choice_that_does_not_fit_is_refused_by_name() {
        let refused = |settings| AnyRule::new(settings, 5).unwrap_err().field();
        let rate = Rate::percent(50);
        let ring = WindowSettings::Failures { threshold: 6, within_ms: 1 };
        assert_eq!(refused(ring), "threshold");
        assert_eq!(refused(WindowSettings::Calls { size: 1_000, rate }), "size");
        let buckets = WindowSettings::Time { span_ms: 10, buckets: 3, rate };
        assert_eq!(refused(buckets), "buckets");
    }
}
