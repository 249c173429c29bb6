//! The last calls in many words: a tally that hands out positions and counts the failures, and
//! words that hold one outcome a bit.
//!
//! A call claims the next position, writes its outcome there, and where that flips the bit moves the
//! count of failures by one. Every step is an exchange under the generation's tag. The count is
//! signed: a writer that stalls between its flip and its count can let it dip below zero for a
//! while, and an unsigned count would then trip at once.
//!
//! | tally's content | bits |
//! | --------------- | ---- |
//! | position        |   10 |
//! | full            |    1 |
//! | failures        |   12, two's complement |

use core::ops::ControlFlow;

use crate::sync::{Ordering, Raw, WIDE, Word};
use crate::window::call::{Call, Layout};
use crate::window::calls::outcomes::Outcomes;
use crate::window::judge::Verdict;
use crate::window::rate::Rate;
use crate::window::tagged::{content, content_for, own_content, tagged};

/// Outcomes in a word: a power of two, so that finding one takes no division.
const OUTCOMES_LOG2: u32 = if WIDE { 5 } else { 4 };
const OUTCOMES: u32 = 1 << OUTCOMES_LOG2;

const POSITION_BITS: u32 = 10;
const FAILURES_SHIFT: u32 = POSITION_BITS + 1;
const FAILURES_BITS: u32 = 12;

/// Words that a window of `size` calls takes.
pub(super) const fn words(size: u32) -> usize {
    1 + size.div_ceil(OUTCOMES) as usize
}

/// The largest window that fits into `words` words.
pub(super) const fn largest_size(words: usize) -> u32 {
    let outcomes = words.saturating_sub(1);
    if outcomes > 1_024 {
        1_024 * OUTCOMES
    } else {
        outcomes as u32 * OUTCOMES
    }
}

/// The tally word's content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Tally(Raw);

impl Tally {
    const fn new(position: u16, full: bool, failures: i16) -> Self {
        let failures = failures as Raw & ((1 << FAILURES_BITS) - 1);
        Self(position as Raw | (full as Raw) << POSITION_BITS | failures << FAILURES_SHIFT)
    }

    const fn position(self) -> u16 {
        (self.0 & ((1 << POSITION_BITS) - 1)) as u16
    }

    const fn is_full(self) -> bool {
        self.0 & (1 << POSITION_BITS) != 0
    }

    const fn failures(self) -> i16 {
        let unsigned = (self.0 >> FAILURES_SHIFT) as u16;
        // Moves the sign into the highest bit and back.
        ((unsigned << (16 - FAILURES_BITS)) as i16) >> (16 - FAILURES_BITS)
    }

    /// The next call's position is taken.
    const fn claimed(self, size: u16) -> Self {
        let next = self.position() + 1;
        if next >= size {
            Self::new(0, true, self.failures())
        } else {
            Self::new(next, self.is_full(), self.failures())
        }
    }

    const fn with_failures(self, change: i16) -> Self {
        Self::new(self.position(), self.is_full(), self.failures() + change)
    }

    fn verdict(self, size: u16, rate: Rate) -> Verdict {
        let calls = if self.is_full() {
            size
        } else {
            self.position()
        };
        let bad = self.failures().max(0) as u16;
        Verdict::of(rate.is_reached(bad.into(), calls.into()))
    }
}

/// Takes in one call.
#[inline]
pub(super) fn count<C, L: Layout>(
    tally: &Word,
    outcomes: &[Word],
    size: u16,
    rate: Rate,
    bad: bool,
    call: &Call<'_, C, L>,
) -> Verdict {
    // Acquire, release: the rule of all windows, see the module's head.
    let claim = tally.update(Ordering::Release, Ordering::Acquire, |seen| {
        let Some(there) = content_for(seen, call) else {
            return ControlFlow::Break(Verdict::Stale);
        };
        let there = Tally(there);
        if !bad && there.is_full() && there.failures() == 0 {
            // Full of successes already: nothing to write.
            return ControlFlow::Break(Verdict::Holds);
        }
        ControlFlow::Continue(tagged(call.generation(), there.claimed(size).0))
    });
    let claimed = match claim {
        ControlFlow::Continue((_, after)) => Tally(content(after)),
        ControlFlow::Break(verdict) => return verdict,
    };
    let position = match claimed.position() {
        0 => size - 1,
        next => next - 1,
    };
    match mark(outcomes, position, bad, call) {
        Mark::Flipped if bad => settle(tally, 1, size, rate, call),
        Mark::Flipped => settle(tally, -1, size, rate, call),
        Mark::Same => claimed.verdict(size, rate),
        Mark::Stale => Verdict::Stale,
    }
}

/// Judges the calls that are there.
pub(super) fn judge<C, L: Layout>(
    tally: &Word,
    size: u16,
    rate: Rate,
    call: &Call<'_, C, L>,
) -> Verdict {
    // Relaxed: nothing follows from it but what is read.
    Tally(own_content(tally.load(Ordering::Relaxed), call)).verdict(size, rate)
}

/// The calls that the words hold, the oldest first.
pub(super) fn outcomes<C, L: Layout>(
    tally: &Word,
    outcomes: &[Word],
    size: u16,
    call: &Call<'_, C, L>,
) -> Outcomes {
    // Relaxed: nothing follows from it but what is read.
    let there = Tally(own_content(tally.load(Ordering::Relaxed), call));
    let next = there.position();
    let older = if there.is_full() { next..size } else { 0..0 };
    let mut kept = Outcomes::NONE;
    for position in older.chain(0..next) {
        kept.push(is_marked(outcomes, position, call));
    }
    kept
}

fn is_marked<C, L: Layout>(outcomes: &[Word], position: u16, call: &Call<'_, C, L>) -> bool {
    let Some(word) = outcomes.get(usize::from(position >> OUTCOMES_LOG2)) else {
        return false;
    };
    // Relaxed: as above.
    own_content(word.load(Ordering::Relaxed), call) >> (u32::from(position) & (OUTCOMES - 1)) & 1
        != 0
}

/// What writing an outcome changed.
#[must_use]
enum Mark {
    Flipped,
    Same,
    Stale,
}

/// Writes the outcome at `position`.
fn mark<C, L: Layout>(outcomes: &[Word], position: u16, bad: bool, call: &Call<'_, C, L>) -> Mark {
    let Some(word) = outcomes.get(usize::from(position >> OUTCOMES_LOG2)) else {
        return Mark::Same;
    };
    let bit: Raw = 1 << (u32::from(position) & (OUTCOMES - 1));
    // Acquire, release: the rule of all windows, see the module's head.
    let marked = word.update(Ordering::Release, Ordering::Acquire, |seen| {
        let Some(there) = content_for(seen, call) else {
            return ControlFlow::Break(Mark::Stale);
        };
        let new = if bad { there | bit } else { there & !bit };
        if new == there {
            ControlFlow::Break(Mark::Same)
        } else {
            ControlFlow::Continue(tagged(call.generation(), new))
        }
    });
    match marked {
        ControlFlow::Continue(_) => Mark::Flipped,
        ControlFlow::Break(mark) => mark,
    }
}

/// Moves the count of failures and judges by the result: of all calls that come in at once, the
/// last to settle sees all of them.
fn settle<C, L: Layout>(
    tally: &Word,
    change: i16,
    size: u16,
    rate: Rate,
    call: &Call<'_, C, L>,
) -> Verdict {
    // Acquire: the rule of all windows, see the module's head. Relaxed: this call has claimed its place,
    // so the word is of its generation or a later one, and the exchange continues the release sequence.
    let settled = tally.update(
        Ordering::Relaxed,
        Ordering::Acquire,
        |seen| match content_for(seen, call) {
            Some(there) => ControlFlow::Continue(tagged(
                call.generation(),
                Tally(there).with_failures(change).0,
            )),
            None => ControlFlow::Break(Verdict::Stale),
        },
    );
    match settled {
        ControlFlow::Continue((_, after)) => Tally(content(after)).verdict(size, rate),
        ControlFlow::Break(verdict) => verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tally_holds_its_extremes() {
        for failures in [-1_024, -1, 0, 1, 1_024] {
            for (position, full) in [(0, false), (1_023, false), (0, true), (1_023, true)] {
                let tally = Tally::new(position, full, failures);
                assert_eq!(tally.position(), position);
                assert_eq!(tally.is_full(), full);
                assert_eq!(tally.failures(), failures);
                assert!(tally.0 >> (FAILURES_SHIFT + FAILURES_BITS) == 0);
            }
        }
    }

    #[test]
    fn a_count_below_zero_does_not_trip() {
        let rate = Rate::new(1, 1, 1_024).unwrap();
        assert_eq!(Tally::new(5, false, -1).verdict(100, rate), Verdict::Holds);
    }

    #[test]
    fn claims_go_round() {
        let mut tally = Tally(0);
        for _ in 0..100 {
            tally = tally.claimed(100);
        }
        assert_eq!(tally, Tally::new(0, true, 0));
    }
}
