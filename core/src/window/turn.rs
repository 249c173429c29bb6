//! Which half turn of a field's range the words of a window are in.
//!
//! A stamp or the number of a lap has few bits where words are narrow, and comes round again. So a
//! window that keeps them has a word of its own that counts half turns of that range. Whoever finds it
//! behind the clock empties what is a whole half turn old, and then moves it on. Words that are left
//! are of this half turn or of the last one, and the highest bit of their stamp tells which.
//!
//! The rule of all windows holds here too, with half turns in the place of generations: who changes
//! another word asks, after it loaded that word, whether the turn is still the same.
//!
//! One limit: a thread that stalls after it asked, just before it empties a word, would empty the very same
//! content again. That is a failure which came exactly a whole turn of its stamp, to the millisecond, after
//! the one that the thread had found.

use crate::state::{content, tag, tagged};
use crate::sync::{Ordering, Raw, Word};
use crate::window::call::Call;
use crate::window::tagged::{Stop, change, own_content};

/// How half turns are told from the content of a window's words.
pub(super) trait Halves: Copy {
    /// The bit of a content that says whether its half turn is an odd one.
    const ODD: Raw;

    /// Half turns that the clock can tell apart, less one.
    fn range(self) -> Raw;

    /// Whether a word with this content has a meaning in the half turn `half`, while the words are in `turned`:
    /// then it is of `turned` or of the one before.
    #[inline]
    fn lasts(self, there: Raw, turned: Raw, half: Raw) -> bool {
        let kept = match turned.wrapping_sub(half) & self.range() {
            0 => return true,
            // The clock was set back: words of the half turn that it is in now.
            1 => half,
            // The next half turn begins: words of the last one.
            ahead if ahead == self.range() => turned,
            _ => return false,
        };
        (there & Self::ODD != 0) == (kept & 1 != 0)
    }
}

/// Moves `turn` on to `half`, and empties the words that have no meaning in it. An emptied word is given
/// the content `empty`: one that is of this half turn, so that the word surely changes.
///
/// A turn that is ahead of `half` is taken back only where `was_set_back`; else `half` is over.
#[inline]
pub(super) fn turn_to<'a, C, H: Halves>(
    turn: &Word,
    half: Raw,
    was_set_back: bool,
    halves: H,
    empty: Raw,
    words: impl Iterator<Item = &'a Word> + Clone,
    call: &Call<'_, C>,
) -> Result<(), Stop> {
    let mine = tagged(call.generation(), half);
    change(turn, |seen| {
        if seen == mine {
            // Loaded with acquire: the words are emptied already.
            return Err(Ok(()));
        }
        let is_own = tag(seen) == call.generation();
        let ahead = content(seen).wrapping_sub(content(mine)) & halves.range();
        if is_own && ahead <= halves.range() / 2 && !was_set_back {
            return Err(Err(Stop::Newer));
        }
        if !is_own && !call.is_current() {
            return Err(Err(Stop::Stale));
        }
        // Words of another generation count as empty already.
        for word in words.clone().filter(|_| is_own) {
            change(word, |there| {
                let lasts = halves.lasts(there, content(seen), content(mine));
                // Relaxed: ordered behind the acquire load of the word. A word of the next half turn was
                // stored by a thread that had seen the turn there.
                let stands = turn.load(Ordering::Relaxed) == seen;
                let is_due = tag(there) == call.generation() && !lasts && stands;
                if is_due { Ok((tagged(call.generation(), empty), ())) } else { Err(()) }
            });
        }
        Ok((mine, Ok(())))
    })
}

/// The half turn that the words of the call's generation are in, for who reads them only.
pub(super) fn half_turn<C>(turn: &Word, call: &Call<'_, C>) -> Raw {
    // Acquire: as in `turn_to`.
    own_content(turn.load(Ordering::Acquire), call.generation())
}
