//! Trips on K failures with no success between them.
//!
//! One word: the number of failures since the last success.

use core::ops::ControlFlow;

use crate::clock::Clock;
use crate::config::{ConfigError, within};
use crate::sync::{Ordering, Word, const_unless_loom};
use crate::window::call::{Call, Layout};
use crate::window::judge::{Judge, Rule, Ruled, Verdict};
use crate::window::parts::Parts;
use crate::window::tagged::{content_for, own_content, tagged};

/// The largest threshold.
const MAX_THRESHOLD: u32 = u16::MAX as u32;

/// Trips on `threshold` failures with no success between them, however far apart in time.
///
/// For calls that come one after another: a sensor that is polled, a single connection. Where many
/// calls run at once one success in a thousand keeps it closed; take [`Failures`](super::Failures)
/// or a rate there.
///
/// A success costs a load, and an exchange only where a failure came before; a failure one
/// exchange. The clock is read for neither.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, Phase, window::Consecutive};
///
/// let breaker = Breaker::new(Consecutive::new(2)?, Config::DEFAULT, ManualClock::new(0));
/// breaker.allow()?.failure();
/// breaker.allow()?.success();
/// breaker.allow()?.failure();
/// assert_eq!(breaker.snapshot().phase, Phase::Closed);
/// breaker.allow()?.failure();
/// assert_eq!(breaker.snapshot().phase, Phase::Open);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Consecutive(Ruled<ConsecutiveRule, 1>);

impl Consecutive {
    const_unless_loom! {
        /// `threshold` failures in a row trip.
        ///
        /// # Errors
        ///
        /// `threshold` must be from 1 to 65,535.
        pub const fn new(threshold: u32) -> Result<Self, ConfigError> {
            match ConsecutiveRule::new(threshold) {
                Ok(rule) => Ok(Self(Ruled {
                    rule,
                    words: Word::zeroes(),
                })),
                Err(error) => Err(error),
            }
        }
    }
}

impl Judge for Consecutive {
    #[inline]
    fn count<C: Clock>(&self, bad: bool, call: &Call<'_, C>) -> Verdict {
        self.0.count(bad, call)
    }

    fn sweep<C>(&self, call: &Call<'_, C>) {
        self.0.sweep(call);
    }
}

/// The rule beside its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConsecutiveRule {
    threshold: u16,
}

impl ConsecutiveRule {
    pub(crate) const fn new(threshold: u32) -> Result<Self, ConfigError> {
        match within("threshold", threshold as u64, 1, MAX_THRESHOLD as u64) {
            Ok(value) => Ok(Self {
                threshold: value as u16,
            }),
            Err(error) => Err(error),
        }
    }

    /// Judges what `words` hold already.
    pub(super) fn judge<C, L: Layout>(self, words: &[Word], call: &Call<'_, C, L>) -> Verdict {
        let reached = words.first().is_some_and(|word| {
            // Relaxed: only its own generation's count is read from it.
            own_content(word.load(Ordering::Relaxed), call) >= self.threshold.into()
        });
        Verdict::of(reached)
    }

    pub(super) const fn parts(self) -> Parts {
        Parts {
            count: self.threshold,
            ..Parts::NONE
        }
    }

    pub(super) const fn from_parts(parts: Parts) -> Self {
        Self {
            threshold: parts.count,
        }
    }

    /// One more failure. The K-th is not stored: it trips, and whoever comes after it trips too
    /// until the generation is over.
    #[cold]
    fn fail<C, L: Layout>(self, word: &Word, call: &Call<'_, C, L>) -> Verdict {
        // Acquire, release: the rule of all windows, see the module's head.
        let stored = word.update(Ordering::Release, Ordering::Acquire, |seen| {
            let Some(count) = content_for(seen, call) else {
                return ControlFlow::Break(Verdict::Stale);
            };
            if count + 1 >= self.threshold.into() {
                ControlFlow::Break(Verdict::Trips)
            } else {
                ControlFlow::Continue(tagged(call.generation(), count + 1))
            }
        });
        match stored {
            ControlFlow::Continue(_) => Verdict::Holds,
            ControlFlow::Break(verdict) => verdict,
        }
    }
}

/// A success ends the row. Only a count of this generation is set to zero, and by exchange: an old
/// success must not wipe the failures of the next generation.
#[inline]
fn succeed<C, L: Layout>(word: &Word, call: &Call<'_, C, L>) {
    // Relaxed: only a word of this very generation is replaced, and the exchange continues the
    // release sequence of the one that put the tag there.
    let _ = word.update(Ordering::Relaxed, Ordering::Relaxed, |seen| {
        if own_content(seen, call) != 0 && call.layout_still_stands() {
            ControlFlow::Continue(tagged(call.generation(), 0))
        } else {
            ControlFlow::Break(())
        }
    });
}

impl Rule for ConsecutiveRule {
    #[inline]
    fn count<C: Clock, L: Layout>(
        &self,
        words: &[Word],
        bad: bool,
        call: &Call<'_, C, L>,
    ) -> Verdict {
        let Some(word) = words.first() else {
            return Verdict::Holds;
        };
        if bad {
            return self.fail(word, call);
        }
        succeed(word, call);
        Verdict::Holds
    }
}
