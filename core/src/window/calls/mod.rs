//! A failure rate over the last N calls.
//!
//! Up to 51 calls (23 where words are 32 bits wide) are one word: the [`history`]. More are a
//! [`tally`] word beside words of outcomes.

mod history;
mod outcomes;
mod tally;

use crate::clock::Clock;
use crate::config::{ConfigError, within};
use crate::sync::{Word, const_unless_loom};
use crate::window::call::{Call, Layout};
use crate::window::judge::{Judge, Rule, Ruled, Verdict};
use crate::window::parts::Parts;
use crate::window::rate::Rate;
pub(super) use outcomes::Outcomes;

/// The largest window of calls.
const MAX_SIZE: u32 = 1_024;

/// The number of words that a [`Calls`] window over the last `size` calls takes.
///
/// ```
/// use nanobreaker_core::window::{Calls, calls_words};
///
/// static WORDS: usize = calls_words(100);
/// assert!(Calls::<{ calls_words(100) }>::new(100, 50, 10).is_ok());
/// ```
pub const fn calls_words(size: u32) -> usize {
    if size <= history::MAX_SIZE {
        1
    } else {
        tally::words(size)
    }
}

/// Trips when, of the last `size` calls, at least `failure_rate_percent` per cent failed, as soon as
/// at least `min_calls` calls are in the window.
///
/// `WORDS` is [`calls_words`] of the size: 1 up to 51 calls (23 where words are 32 bits wide).
///
/// A success into a window full of successes costs a load. Any other call costs one exchange where
/// `WORDS` is 1, else up to three. The clock is never read. A call is judged when it is recorded,
/// whether it failed or not; where several threads record at once, a call counts from the moment
/// that its own `record` returns.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, Phase, window::Calls};
///
/// let window = Calls::<1>::new(10, 50, 4)?;
/// let breaker = Breaker::new(window, Config::DEFAULT, ManualClock::new(0));
/// for _ in 0..3 {
///     breaker.allow()?.failure();
/// }
/// assert_eq!(breaker.snapshot().phase, Phase::Closed); // fewer than 4 calls
/// breaker.allow()?.success();
/// assert_eq!(breaker.snapshot().phase, Phase::Open); // 3 of 4 failed
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Calls<const WORDS: usize = 1>(Ruled<CallsRule, WORDS>);

impl<const WORDS: usize> Calls<WORDS> {
    const_unless_loom! {
        /// `failure_rate_percent` of the last `size` calls trip, once there are `min_calls`.
        ///
        /// # Errors
        ///
        /// `size` must be from 1 to what `WORDS` hold (at most 1,024), `failure_rate_percent` from 1
        /// to 100, `min_calls` from 1 to `size`.
        pub const fn new(
            size: u32,
            failure_rate_percent: u32,
            min_calls: u32,
        ) -> Result<Self, ConfigError> {
            match CallsRule::new(size, failure_rate_percent, min_calls, WORDS) {
                Ok(rule) => Ok(Self(Ruled {
                    rule,
                    words: Word::zeroes(),
                })),
                Err(error) => Err(error),
            }
        }
    }
}

impl<const WORDS: usize> Judge for Calls<WORDS> {
    #[inline]
    fn count<C: Clock>(&self, bad: bool, call: &Call<'_, C>) -> Verdict {
        self.0.count(bad, call)
    }

    fn sweep<C>(&self, call: &Call<'_, C>) {
        self.0.sweep(call);
    }
}

/// The rule beside its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallsRule {
    rate: Rate,
    size: u16,
}

impl CallsRule {
    pub(crate) const fn new(
        size: u32,
        failure_rate_percent: u32,
        min_calls: u32,
        words: usize,
    ) -> Result<Self, ConfigError> {
        let size = match within("size", size as u64, 1, largest_size(words) as u64) {
            Ok(size) => size,
            Err(error) => return Err(error),
        };
        match Rate::new(failure_rate_percent, min_calls, size) {
            Ok(rate) => Ok(Self {
                rate,
                size: size as u16,
            }),
            Err(error) => Err(error),
        }
    }
}

/// For a rule that takes the place of another.
impl CallsRule {
    /// Whether this rule reads what `other` has written.
    pub(super) fn has_layout_of(self, other: Self) -> bool {
        self.size == other.size || (self.is_history() && other.is_history())
    }

    /// Judges what `words` hold already, in a layout that this rule reads.
    pub(super) fn judge<C, L: Layout>(self, words: &[Word], call: &Call<'_, C, L>) -> Verdict {
        match words.first() {
            Some(first) if self.is_history() => history::trim(first, self.size, self.rate, call),
            Some(first) => tally::judge(first, self.size, self.rate, call),
            None => Verdict::Holds,
        }
    }

    /// The calls that `words` hold.
    pub(super) fn outcomes<C, L: Layout>(self, words: &[Word], call: &Call<'_, C, L>) -> Outcomes {
        match words.split_first() {
            Some((first, _)) if self.is_history() => history::outcomes(first, call),
            Some((first, rest)) => tally::outcomes(first, rest, self.size, call),
            None => Outcomes::NONE,
        }
    }

    /// Takes in `outcomes`, one after another, and judges none of them.
    pub(super) fn refill<C: Clock, L: Layout>(
        self,
        words: &[Word],
        outcomes: &Outcomes,
        call: &Call<'_, C, L>,
    ) {
        for bad in outcomes.iter() {
            let _ = self.count(words, bad, call);
        }
    }

    pub(super) const fn parts(self) -> Parts {
        Parts {
            count: self.size,
            percent: self.rate.percent(),
            min_calls: self.rate.min_calls(),
            ..Parts::NONE
        }
    }

    pub(super) const fn from_parts(parts: Parts) -> Self {
        Self {
            rate: Rate::from_parts(parts),
            size: parts.count,
        }
    }

    fn is_history(self) -> bool {
        u32::from(self.size) <= history::MAX_SIZE
    }
}

/// The largest window that `words` words hold.
const fn largest_size(words: usize) -> u32 {
    let by_tally = tally::largest_size(words);
    match words {
        0 => 0,
        _ if by_tally > MAX_SIZE => MAX_SIZE,
        _ if by_tally > history::MAX_SIZE => by_tally,
        _ => history::MAX_SIZE,
    }
}

impl Rule for CallsRule {
    #[inline]
    fn count<C: Clock, L: Layout>(
        &self,
        words: &[Word],
        bad: bool,
        call: &Call<'_, C, L>,
    ) -> Verdict {
        let Some((first, rest)) = words.split_first() else {
            return Verdict::Holds;
        };
        if self.is_history() {
            history::count(first, self.size, self.rate, bad, call)
        } else {
            tally::count(first, rest, self.size, self.rate, bad, call)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_accepted_up_to_what_the_words_hold() {
        for size in [1, history::MAX_SIZE, history::MAX_SIZE + 1, 100, MAX_SIZE] {
            let words = calls_words(size);
            assert!(CallsRule::new(size, 50, 1, words).is_ok(), "{size}");
            assert_eq!(
                CallsRule::new(size, 50, 1, words - 1).unwrap_err().field(),
                "size",
                "{size}"
            );
        }
        for size in [0, MAX_SIZE + 1, u32::MAX] {
            let error = CallsRule::new(size, 50, 1, 1_000).unwrap_err();
            assert_eq!((error.field(), error.maximum()), ("size", 1_024));
        }
    }

    #[test]
    fn the_minimum_can_not_exceed_the_size() {
        assert!(CallsRule::new(10, 50, 10, 1).is_ok());
        assert_eq!(
            CallsRule::new(10, 50, 11, 1).unwrap_err().field(),
            "min_calls"
        );
    }
}
