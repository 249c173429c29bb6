//! The last calls in one word: a sentinel bit, and below it one bit a call, the newest lowest.

use core::ops::ControlFlow;

use crate::sync::{Ordering, Raw, Word};
use crate::window::call::{Call, Layout};
use crate::window::calls::outcomes::Outcomes;
use crate::window::judge::Verdict;
use crate::window::rate::Rate;
use crate::window::tagged::{CONTENT_BITS, content, content_for, own_content, tagged};

/// The most calls that fit beside the sentinel.
pub(super) const MAX_SIZE: u32 = CONTENT_BITS - 1;

/// An empty history: the sentinel alone.
const EMPTY: Raw = 1;

/// Takes in one call.
#[inline]
pub(super) fn count<C, L: Layout>(
    word: &Word,
    size: u16,
    rate: Rate,
    bad: bool,
    call: &Call<'_, C, L>,
) -> Verdict {
    let judge = |history: Raw| Verdict::of(is_reached(history, rate));
    // Acquire, release: the rule of all windows, see the module's head.
    let stored = word.update(Ordering::Release, Ordering::Acquire, |seen| {
        let Some(there) = content_for(seen, call) else {
            return ControlFlow::Break(Verdict::Stale);
        };
        let history = push(there.max(EMPTY), bad, size);
        if history == there {
            // Full of such calls already: nothing to write, and successes need no judging.
            ControlFlow::Break(if bad { judge(history) } else { Verdict::Holds })
        } else {
            ControlFlow::Continue(tagged(call.generation(), history))
        }
    });
    match stored {
        ControlFlow::Continue((_, new)) => judge(content(new)),
        ControlFlow::Break(verdict) => verdict,
    }
}

/// Forgets all but the last `size` calls and judges these.
pub(super) fn trim<C, L: Layout>(
    word: &Word,
    size: u16,
    rate: Rate,
    call: &Call<'_, C, L>,
) -> Verdict {
    // Relaxed, both: only a word of this very generation is replaced, and the exchange continues the
    // release sequence of the one that put the tag there.
    let trimmed = word.update(Ordering::Relaxed, Ordering::Relaxed, |seen| {
        let there = own_content(seen, call).max(EMPTY);
        let full: Raw = 1 << size;
        if there < full << 1 {
            return ControlFlow::Break(Verdict::of(is_reached(there, rate)));
        }
        ControlFlow::Continue(tagged(call.generation(), (there & (full - 1)) | full))
    });
    match trimmed {
        ControlFlow::Continue((_, new)) => Verdict::of(is_reached(content(new), rate)),
        ControlFlow::Break(verdict) => verdict,
    }
}

/// The calls that `word` holds, the oldest first.
pub(super) fn outcomes<C, L: Layout>(word: &Word, call: &Call<'_, C, L>) -> Outcomes {
    // Relaxed: nothing follows from it but what is read.
    let history = own_content(word.load(Ordering::Relaxed), call).max(EMPTY);
    let calls = Raw::BITS - history.leading_zeros() - 1;
    let mut outcomes = Outcomes::NONE;
    for age in (0..calls).rev() {
        outcomes.push(history >> age & 1 != 0);
    }
    outcomes
}

/// One more call; where the history is full, the oldest goes.
const fn push(history: Raw, bad: bool, size: u16) -> Raw {
    let full: Raw = 1 << size;
    let longer = history << 1 | bad as Raw;
    if history < full {
        longer
    } else {
        (longer & (full - 1)) | full
    }
}

fn is_reached(history: Raw, rate: Rate) -> bool {
    let bad = history.count_ones() - 1;
    let calls = Raw::BITS - history.leading_zeros() - 1;
    rate.is_reached(bad.into(), calls.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_call_goes_when_the_history_is_full() {
        let mut history = EMPTY;
        for bad in [true, false, false] {
            history = push(history, bad, 3);
        }
        assert_eq!(history, 0b1100);
        assert_eq!(push(history, false, 3), 0b1000);
        assert_eq!(push(history, true, 3), 0b1001);
    }

    #[test]
    fn the_largest_history_fits_below_the_tag() {
        let mut history = EMPTY;
        for _ in 0..2 * MAX_SIZE {
            history = push(history, true, MAX_SIZE as u16);
        }
        assert_eq!(history, (1 << CONTENT_BITS) - 1);
    }
}
