//! A failure rate over the last N calls.
//!
//! Up to 51 calls (23 where words are 32 bits wide) are one word: the [`history`]. More are a
//! [`tally`] word beside words of outcomes.

mod history;
mod tally;

use crate::settings::{Threshold, attempt, within};
use crate::sync::{Raw, Word, const_unless_loom};
use crate::window::Measured;
use crate::window::call::Call;
use crate::window::judge::Verdict;
use crate::window::ruled::{Room, Rows, Rule, Ruled};
use crate::window::tagged::{peek, update};
use crate::{Clock, ConfigError, Rate};

/// The largest window of calls.
const MAX_SIZE: u32 = 1_024;

/// The number of words that a [`Calls`] window over the last `size` calls takes.
///
/// ```
/// use nanobreaker_core::{Rate, window::{Calls, calls_words}};
///
/// let half = Rate::percent(50).min_calls(10);
/// assert!(Calls::<{ calls_words(100) }>::new(100, half).is_ok());
/// ```
pub const fn calls_words(size: u32) -> usize {
    if size <= history::MAX_SIZE { 1 } else { tally::words(size) }
}

/// Trips when, of the last `size` calls, at least the rate failed, as soon as there are as many calls
/// in the window as the rate's minimum.
///
/// `WORDS` is [`calls_words`] of the size: 1 up to 51 calls (23 where words are 32 bits wide).
///
/// A success into a window full of successes costs a load. Any other call costs one exchange where
/// `WORDS` is 1, else one or two. The clock is never read. A call is judged when it is recorded,
/// whether it failed or not. It takes effect in one exchange, so the order of calls is the same for
/// all threads.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, Phase, Rate, window::Calls};
///
/// let window = Calls::<1>::new(10, Rate::percent(50).min_calls(4))?;
/// let breaker = Breaker::new(window, Config::DEFAULT, ManualClock::new(0));
/// for _ in 0..3 {
///     breaker.allow()?.failure();
/// }
/// assert_eq!(breaker.phase(), Phase::Closed); // fewer than 4 calls
/// breaker.allow()?.success();
/// assert_eq!(breaker.phase(), Phase::Open); // 3 of 4 failed
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Calls<const WORDS: usize = 1> = Ruled<CallsRule, [Word; WORDS]>;

impl<const WORDS: usize> Calls<WORDS> {
    const_unless_loom! {
        /// `rate` of the last `size` calls trips.
        ///
        /// # Errors
        ///
        /// `size` must be from 1 to what `WORDS` hold (at most 1,024), the rate above 0 and at most 1,
        /// `min_calls` from 1 to `size`.
        pub const fn new(size: u32, rate: Rate) -> Result<Self, ConfigError> {
            Ok(Self { rule: attempt!(CallsRule::new(size, rate, WORDS)), memory: Word::zeroes() })
        }
    }
}

/// The rule of a [`Calls`] window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallsRule {
    pub(super) threshold: Threshold,
    pub(super) size: u32,
}

impl CallsRule {
    pub(super) const fn new(size: u32, rate: Rate, words: usize) -> Result<Self, ConfigError> {
        let size = attempt!(within("size", size as u64, 1, largest_size(words) as u64));
        let threshold = attempt!(rate.checked(size));
        Ok(Self { threshold, size })
    }

    /// Whether the calls are a history.
    const fn is_short(self) -> bool {
        self.size <= history::MAX_SIZE
    }

    /// Whether a success changes nothing: the window is full of them.
    #[inline]
    const fn is_full_of_successes(self, content: Raw) -> bool {
        if self.is_short() {
            history::is_full_of_successes(content, self.size)
        } else {
            tally::is_full_of_successes(content, self.size)
        }
    }

    /// The bad calls, and all.
    const fn counts(self, content: Raw) -> (u32, u32) {
        if self.is_short() { history::counts(content) } else { tally::counts(content, self.size) }
    }

    #[inline(never)]
    fn take_in<C>(self, word: &Word, outcomes: &[Word], bad: bool, call: &Call<'_, C>) -> Verdict {
        update(word, call, |there| {
            if !bad && self.is_full_of_successes(there) {
                return Ok((there, Verdict::Holds));
            }
            let new = if self.is_short() {
                history::pushed(there, bad, self.size)
            } else {
                tally::pushed(word, outcomes, there, self.size, bad, call)?
            };
            let (failed, calls) = self.counts(new);
            Ok((new, Verdict::of(self.threshold.is_reached(failed.into(), calls.into()))))
        })
        .unwrap_or(Verdict::Stale)
    }
}

/// The largest window that `words` words hold.
const fn largest_size(words: usize) -> u32 {
    let mut size = MAX_SIZE;
    while size > 0 && calls_words(size) > words {
        size -= 1;
    }
    size
}

impl Rule for CallsRule {
    #[inline]
    fn count<C: Clock>(&self, room: Room<'_, impl Rows>, bad: bool, call: &Call<'_, C>) -> Verdict {
        if bad || !self.is_full_of_successes(peek(room.first, call.generation())) {
            return self.take_in(room.first, room.rest, bad, call);
        }
        Verdict::Holds
    }

    fn measure<C: Clock>(&self, room: Room<'_, impl Rows>, call: &Call<'_, C>) -> Measured {
        let (bad, calls) = self.counts(peek(room.first, call.generation()));
        Measured::rate(self.threshold, bad.into(), calls.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_accepted_up_to_what_the_words_hold() {
        for size in [1, history::MAX_SIZE, history::MAX_SIZE + 1, 100, MAX_SIZE] {
            let words = calls_words(size);
            assert!(CallsRule::new(size, Rate::percent(50), words).is_ok(), "{size}");
            assert_eq!(
                CallsRule::new(size, Rate::percent(50), words - 1).unwrap_err().field(),
                "size",
                "{size}"
            );
        }
        for size in [0, MAX_SIZE + 1, u32::MAX] {
            let error = CallsRule::new(size, Rate::percent(50), 1_000).unwrap_err();
            assert_eq!((error.field(), error.maximum()), ("size", 1_024));
        }
    }

    #[test]
    fn the_minimum_can_not_exceed_the_size() {
        assert!(CallsRule::new(10, Rate::percent(50).min_calls(10), 1).is_ok());
        assert_eq!(CallsRule::new(10, Rate::percent(50).min_calls(11), 1).unwrap_err().field(), "min_calls");
    }
}
