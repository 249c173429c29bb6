//! A window chosen at run time.

use crate::settings::{Threshold, attempt};
use crate::sync::{Word, const_unless_loom};
use crate::window::Measured;
use crate::window::call::Call;
use crate::window::calls::CallsRule;
use crate::window::consecutive::ConsecutiveRule;
use crate::window::cusum::CusumRule;
use crate::window::failures::FailuresRule;
use crate::window::judge::Verdict;
use crate::window::laps::Laps;
use crate::window::ruled::{Room, Rows, Rule, Ruled};
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
pub type AnyWindow<const WORDS: usize> = Ruled<AnyRule, [Word; WORDS]>;

impl<const WORDS: usize> AnyWindow<WORDS> {
    const_unless_loom! {
        /// The window that `settings` ask for.
        ///
        /// # Errors
        ///
        /// As the constructor of that window: a threshold or a size may be what `WORDS` words hold.
        pub const fn new(settings: WindowSettings) -> Result<Self, ConfigError> {
            const { assert!(WORDS > 0, "a window takes at least one word") };
            Ok(Self { rule: attempt!(AnyRule::new(settings, WORDS)), memory: Word::zeroes() })
        }
    }
}

/// Any of the rules, as plain numbers.
///
/// | kind | numbers |
/// | ---- | ------- |
/// | 1, failures | threshold, within milliseconds |
/// | 2, consecutive | threshold |
/// | 3, calls | size, –, parts per million, minimum of calls |
/// | 4, time | milliseconds of a bucket, buckets, parts per million, minimum of calls |
/// | 5, cusum | weight of a failure, weight of a success, sustained for milliseconds |
///
/// Total: any numbers are a rule, and no panic follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnyRule {
    pub(super) kind: u32,
    pub(super) numbers: [u32; Self::NUMBERS],
}

pub(super) const FAILURES: u32 = 1;
const CONSECUTIVE: u32 = 2;
const CALLS: u32 = 3;
const TIME: u32 = 4;
pub(super) const CUSUM: u32 = 5;

impl AnyRule {
    pub(super) const NUMBERS: usize = 4;

    /// The rule that `settings` ask for, if it fits into `words` words.
    pub(super) const fn new(settings: WindowSettings, words: usize) -> Result<Self, ConfigError> {
        let (kind, numbers) = match settings {
            WindowSettings::Failures { threshold, within_ms } => {
                (FAILURES, attempt!(FailuresRule::new(threshold, within_ms, words)).parts())
            }
            WindowSettings::Consecutive { threshold } => {
                (CONSECUTIVE, [attempt!(ConsecutiveRule::new(threshold)).threshold, 0, 0, 0])
            }
            WindowSettings::Calls { size, rate } => {
                let CallsRule { threshold, size } = attempt!(CallsRule::new(size, rate, words));
                (CALLS, [size, 0, threshold.ppm, threshold.min_calls])
            }
            WindowSettings::Time { span_ms, buckets, rate } => {
                let room = words.saturating_sub(1) / 2;
                let TimeRule { threshold, laps } = attempt!(TimeRule::new(span_ms, buckets, rate, room));
                (TIME, [laps.bucket_ms, laps.buckets, threshold.ppm, threshold.min_calls])
            }
            WindowSettings::Cusum(settings) => {
                let CusumRule { failure, success, sustained_for_ms } = attempt!(CusumRule::new(settings));
                (CUSUM, [failure, success, sustained_for_ms, 0])
            }
        };
        Ok(Self { kind, numbers })
    }
}

/// Asks the rule that `$any` is.
macro_rules! ask {
    ($any:expr, $question:ident($($with:expr),*)) => {{
        let AnyRule { kind, numbers: [first, second, third, fourth] } = *$any;
        let threshold = Threshold { ppm: third, min_calls: fourth };
        match kind {
            FAILURES => FailuresRule::from_parts(first, second).$question($($with),*),
            CONSECUTIVE => ConsecutiveRule { threshold: first }.$question($($with),*),
            CALLS => CallsRule { threshold, size: first }.$question($($with),*),
            TIME => {
                let laps = Laps { bucket_ms: first, buckets: second };
                TimeRule { threshold, laps }.$question($($with),*)
            }
            _ => CusumRule { failure: first, success: second, sustained_for_ms: third }
                .$question($($with),*),
        }
    }};
}

impl Rule for AnyRule {
    #[inline]
    fn count<C: Clock>(&self, room: Room<'_, impl Rows>, bad: bool, call: &Call<'_, C>) -> Verdict {
        ask!(self, count(room, bad, call))
    }

    fn measure<C: Clock>(&self, room: Room<'_, impl Rows>, call: &Call<'_, C>) -> Measured {
        ask!(self, measure(room, call))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Rate;

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
