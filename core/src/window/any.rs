//! A window chosen at run time.

use crate::clock::Clock;
use crate::config::ConfigError;
use crate::sync::{Word, const_unless_loom};
use crate::window::calls::CallsRule;
use crate::window::consecutive::ConsecutiveRule;
use crate::window::failures::FailuresRule;
use crate::window::judge::{Call, Judge, Rule, Ruled, Verdict};
use crate::window::time::TimeRule;

/// Any of the windows, for where a file or a person chooses.
///
/// `WORDS` words (8 bytes each, or 4) hold: a failure ring of that threshold, a consecutive window,
/// calls by [`calls_words`](super::calls_words) (with 33 words, 1,024; with 65 on 32-bit words),
/// or half as many buckets of time. A choice that does not fit is a [`ConfigError`].
///
/// It costs what the chosen window costs, and one branch.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ConfigError, ManualClock, window::AnyWindow};
///
/// fn window(kind: &str) -> Result<AnyWindow<20>, ConfigError> {
///     match kind {
///         "consecutive" => AnyWindow::consecutive(5),
///         "calls" => AnyWindow::calls(20, 50, 10),
///         "time" => AnyWindow::time(10_000, 10, 50, 20),
///         _ => AnyWindow::failures(5, 10_000),
///     }
/// }
/// let breaker = Breaker::new(window("time")?, Config::DEFAULT, ManualClock::new(0));
/// # assert!(breaker.allow().is_ok());
/// # Ok::<(), ConfigError>(())
/// ```
#[derive(Debug)]
pub struct AnyWindow<const WORDS: usize>(Ruled<AnyRule, WORDS>);

/// The chosen rule.
#[derive(Clone, Copy, Debug)]
enum AnyRule {
    Failures(FailuresRule),
    Consecutive(ConsecutiveRule),
    Calls(CallsRule),
    Time(TimeRule),
}

impl<const WORDS: usize> AnyWindow<WORDS> {
    const_unless_loom! {
        /// As [`Failures::new`](super::Failures::new).
        ///
        /// # Errors
        ///
        /// `threshold` must be from 1 to `WORDS`, `within_ms` from 1 to 67,108,864.
        pub const fn failures(threshold: u32, within_ms: u64) -> Result<Self, ConfigError> {
            match FailuresRule::new(threshold, within_ms, WORDS) {
                Ok(rule) => Ok(Self::ruled(AnyRule::Failures(rule))),
                Err(error) => Err(error),
            }
        }
    }

    const_unless_loom! {
        /// As [`Consecutive::new`](super::Consecutive::new).
        ///
        /// # Errors
        ///
        /// `threshold` must be from 1 to 65,535.
        pub const fn consecutive(threshold: u32) -> Result<Self, ConfigError> {
            const { assert!(WORDS > 0, "a window takes at least one word") };
            match ConsecutiveRule::new(threshold) {
                Ok(rule) => Ok(Self::ruled(AnyRule::Consecutive(rule))),
                Err(error) => Err(error),
            }
        }
    }

    const_unless_loom! {
        /// As [`Calls::new`](super::Calls::new).
        ///
        /// # Errors
        ///
        /// `size` must be from 1 to what `WORDS` hold (at most 1,024), `failure_rate_percent` from 1
        /// to 100, `min_calls` from 1 to `size`.
        pub const fn calls(
            size: u32,
            failure_rate_percent: u32,
            min_calls: u32,
        ) -> Result<Self, ConfigError> {
            match CallsRule::new(size, failure_rate_percent, min_calls, WORDS) {
                Ok(rule) => Ok(Self::ruled(AnyRule::Calls(rule))),
                Err(error) => Err(error),
            }
        }
    }

    const_unless_loom! {
        /// As [`Time::new`](super::Time::new).
        ///
        /// # Errors
        ///
        /// `buckets` must be from 1 to half of `WORDS` (at most 64), `span_ms` from `buckets` to
        /// 67,108,864, `failure_rate_percent` from 1 to 100, `min_calls` from 1 to what one bucket
        /// can count.
        pub const fn time(
            span_ms: u64,
            buckets: u32,
            failure_rate_percent: u32,
            min_calls: u32,
        ) -> Result<Self, ConfigError> {
            match TimeRule::new(span_ms, buckets, failure_rate_percent, min_calls, WORDS / 2) {
                Ok(rule) => Ok(Self::ruled(AnyRule::Time(rule))),
                Err(error) => Err(error),
            }
        }
    }

    const_unless_loom! {
        const fn ruled(rule: AnyRule) -> Self {
            Self(Ruled {
                rule,
                words: Word::zeroes(),
            })
        }
    }
}

impl<const WORDS: usize> Judge for AnyWindow<WORDS> {
    #[inline]
    fn count<C: Clock>(&self, bad: bool, call: &Call<'_, C>) -> Verdict {
        self.0.count(bad, call)
    }

    fn sweep<C>(&self, call: &Call<'_, C>) {
        self.0.sweep(call);
    }
}

impl Rule for AnyRule {
    #[inline]
    fn count<C: Clock>(&self, words: &[Word], bad: bool, call: &Call<'_, C>) -> Verdict {
        match self {
            Self::Failures(rule) => rule.count(words, bad, call),
            Self::Consecutive(rule) => rule.count(words, bad, call),
            Self::Calls(rule) => rule.count(words, bad, call),
            Self::Time(rule) => rule.count(words, bad, call),
        }
    }
}
