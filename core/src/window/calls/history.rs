//! The last calls in one word: a sentinel bit, and below it one bit a call, the newest lowest.

use crate::settings::Threshold;
use crate::state::CONTENT_BITS;
use crate::sync::{Raw, Word};
use crate::window::call::Call;
use crate::window::judge::Verdict;
use crate::window::tagged::update;

/// The most calls that fit beside the sentinel.
pub(super) const MAX_SIZE: u32 = CONTENT_BITS - 1;

/// An empty history: the sentinel alone.
const EMPTY: Raw = 1;

/// Whether all calls of a full window succeeded.
#[inline]
pub(super) const fn is_full_of_successes(history: Raw, size: u32) -> bool {
    history == 1 << size
}

/// Takes in one call.
#[inline]
pub(super) fn count<C>(
    word: &Word,
    size: u32,
    threshold: Threshold,
    bad: bool,
    call: &Call<'_, C>,
) -> Verdict {
    update(word, call, |there| {
        let history = push(there.max(EMPTY), bad, size);
        let (bad, calls) = counts(history);
        (history, Verdict::of(threshold.is_reached(bad.into(), calls.into())))
    })
    .unwrap_or(Verdict::Stale)
}

/// One more call; where the history is full, the oldest goes.
const fn push(history: Raw, bad: bool, size: u32) -> Raw {
    let full: Raw = 1 << size;
    let longer = history << 1 | bad as Raw;
    if history < full { longer } else { (longer & (full - 1)) | full }
}

/// The bad calls, and all.
pub(super) const fn counts(history: Raw) -> (u32, u32) {
    let history = history | (history == 0) as Raw;
    (history.count_ones() - 1, history.ilog2())
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
            history = push(history, true, MAX_SIZE);
        }
        assert_eq!(history, (1 << CONTENT_BITS) - 1);
    }
}
