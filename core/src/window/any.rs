//! A window chosen at run time.

use crate::clock::Clock;
use crate::config::ConfigError;
use crate::sync::{Word, const_unless_loom};
use crate::window::adjustable::Adopt;
use crate::window::call::{Call, Layout};
use crate::window::calls::CallsRule;
use crate::window::consecutive::ConsecutiveRule;
use crate::window::failures::FailuresRule;
use crate::window::judge::{Judge, Rule, Verdict};
use crate::window::parts::{Head, Kind, Parts, RuleCell};
use crate::window::tagged;
use crate::window::time::TimeRule;

/// Any of the windows, for where a file or a person chooses.
///
/// `WORDS` words (8 bytes each, or 4) hold: a failure ring of that threshold, a consecutive window,
/// calls by [`calls_words`](super::calls_words) (with 33 words, 1,024; with 65 on 32-bit words),
/// or half as many buckets of time. A choice that does not fit is a [`ConfigError`].
///
/// It costs what the chosen window costs, a load and a branch. Within
/// [`Adjustable`](super::Adjustable) it can be replaced by another choice while calls go on.
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
pub struct AnyWindow<const WORDS: usize> {
    rule: RuleCell,
    words: [Word; WORDS],
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
                Ok(rule) => Ok(Self::ruled(Kind::Failures, rule.parts())),
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
                Ok(rule) => Ok(Self::ruled(Kind::Consecutive, rule.parts())),
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
                Ok(rule) => Ok(Self::ruled(Kind::Calls, rule.parts())),
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
                Ok(rule) => Ok(Self::ruled(Kind::Time, rule.parts())),
                Err(error) => Err(error),
            }
        }
    }

    const_unless_loom! {
        /// No window: nothing is judged, as with `None` in an `Option`.
        pub const fn missing() -> Self {
            Self::ruled(Kind::Missing, Parts::NONE)
        }
    }

    const_unless_loom! {
        const fn ruled(kind: Kind, parts: Parts) -> Self {
            Self {
                rule: RuleCell::new(kind, parts),
                words: Word::zeroes(),
            }
        }
    }
}

impl<const WORDS: usize> Judge for AnyWindow<WORDS> {
    #[inline]
    fn count<C: Clock>(&self, bad: bool, call: &Call<'_, C>) -> Verdict {
        let head = self.rule.head();
        match head.kind() {
            Kind::Missing | Kind::Changing => Verdict::Holds,
            // The default where nothing fails: not worth a call.
            Kind::Failures if !bad => Verdict::Holds,
            _ => self.count_by(head, bad, call),
        }
    }

    #[inline]
    fn is_there(&self) -> bool {
        self.rule.head().kind() != Kind::Missing
    }

    fn sweep<C>(&self, call: &Call<'_, C>) {
        tagged::sweep(&self.words, call);
    }
}

impl<const WORDS: usize> AnyWindow<WORDS> {
    #[inline(never)]
    fn count_by<C: Clock>(&self, head: Head, bad: bool, call: &Call<'_, C>) -> Verdict {
        let words = &self.words;
        let call = &call.under(self.rule.layout(head));
        let verdict = match head.kind() {
            Kind::Failures => {
                FailuresRule::from_parts(self.rule.parts(head)).count(words, bad, call)
            }
            Kind::Consecutive => ConsecutiveRule::from_parts(head.parts()).count(words, bad, call),
            Kind::Calls => CallsRule::from_parts(self.rule.parts(head)).count(words, bad, call),
            Kind::Time => TimeRule::from_parts(self.rule.parts(head)).count(words, bad, call),
            Kind::Missing | Kind::Changing => Verdict::Holds,
        };
        match verdict {
            Verdict::Trips => unless_laid_out_anew(call),
            verdict => verdict,
        }
    }
}

/// A verdict may come from words that are those of another rule meanwhile.
#[cold]
fn unless_laid_out_anew<C, L: Layout>(call: &Call<'_, C, L>) -> Verdict {
    if call.layout_still_stands() {
        Verdict::Trips
    } else {
        Verdict::Stale
    }
}

/// Where both rules read the same words the new one goes on with them. Where calls are to stand
/// elsewhere they move, and in that moment no outcome is judged. A window of another kind starts
/// empty: the one before it has not kept what it needs.
///
/// A thread that read the old rule and then stalled must not write by it among the words of the new
/// one. So the layout has a number, which changes first; then every word changes. Who is about to
/// write asks for the number after it loaded the word: either it finds another, or its exchange fails.
/// (Unless the word has come to hold the very value it held by the old rule: then one outcome is taken
/// for another.)
impl<const WORDS: usize> Adopt for AnyWindow<WORDS> {
    fn adopt<C: Clock>(&self, like: &Self, call: &Call<'_, C>) -> Verdict {
        let (old, new) = (self.rule.head(), like.rule.head());
        let (was, parts) = (self.rule.parts(old), like.rule.parts(new));
        if old.kind() == new.kind() && was == parts {
            return Verdict::Holds;
        }
        let words = &self.words;
        let go_on = || self.rule.store(new.kind(), parts);
        match (old.kind(), new.kind()) {
            (Kind::Failures, Kind::Failures) => {
                let (old, new) = (
                    FailuresRule::from_parts(was),
                    FailuresRule::from_parts(parts),
                );
                if new.has_unit_of(old) {
                    go_on();
                    return new.gather(old, words, call);
                }
            }
            (Kind::Consecutive, Kind::Consecutive) => {
                go_on();
                return ConsecutiveRule::from_parts(parts).judge(words, call);
            }
            (Kind::Calls, Kind::Calls) => {
                let (old, new) = (CallsRule::from_parts(was), CallsRule::from_parts(parts));
                if new.has_layout_of(old) {
                    go_on();
                    return new.judge(words, call);
                }
                let call = &self.suspend(call);
                let outcomes = old.outcomes(words, call);
                tagged::clear(words);
                new.refill(words, &outcomes, call);
                go_on();
                return new.judge(words, call);
            }
            (Kind::Time, Kind::Time) => {
                let (old, new) = (TimeRule::from_parts(was), TimeRule::from_parts(parts));
                if new.has_layout_of(old) {
                    go_on();
                    return new.judge(words, call);
                }
                let call = &self.suspend(call);
                let calls = old.calls(words, call);
                tagged::clear(words);
                new.refill(words, &calls, call);
                go_on();
                return new.judge(words, call);
            }
            _ => {}
        }
        self.rule.suspend();
        tagged::clear(words);
        go_on();
        Verdict::Holds
    }
}

impl<const WORDS: usize> AnyWindow<WORDS> {
    /// From here on nothing is judged. Returns `call` in the generation of what was before.
    fn suspend<'a, C>(&self, call: &Call<'a, C>) -> Call<'a, C> {
        self.rule.suspend();
        call.in_present_generation()
    }
}
