//! The last calls in one word: a sentinel bit, and below it one bit a call, the newest lowest.

use crate::state::CONTENT_BITS;
use crate::sync::Raw;

/// The most calls that fit beside the sentinel.
pub(super) const MAX_SIZE: u32 = CONTENT_BITS - 1;

/// `history`; one that holds nothing yet is the sentinel alone.
const fn with_sentinel(history: Raw) -> Raw {
    history | (history == 0) as Raw
}

/// Whether all calls of a full window succeeded.
#[inline]
pub(super) const fn is_full_of_successes(history: Raw, size: u32) -> bool {
    history == 1 << size
}

/// One more call; where the history is full, the oldest goes.
pub(super) const fn pushed(history: Raw, bad: bool, size: u32) -> Raw {
    let full: Raw = 1 << size;
    let history = with_sentinel(history);
    let longer = history << 1 | bad as Raw;
    if history < full { longer } else { (longer & (full - 1)) | full }
}

/// The bad calls, and all.
pub(super) const fn counts(history: Raw) -> (u32, u32) {
    let history = with_sentinel(history);
    (history.count_ones() - 1, history.ilog2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_call_goes_when_the_history_is_full() {
        let mut history = 0;
        for bad in [true, false, false] {
            history = pushed(history, bad, 3);
        }
        assert_eq!(history, 0b1100);
        assert_eq!(pushed(history, false, 3), 0b1000);
        assert_eq!(pushed(history, true, 3), 0b1001);
    }

    #[test]
    fn the_largest_history_fits_below_the_tag() {
        let mut history = 0;
        for _ in 0..2 * MAX_SIZE {
            history = pushed(history, true, MAX_SIZE);
        }
        assert_eq!(history, (1 << CONTENT_BITS) - 1);
    }
}
