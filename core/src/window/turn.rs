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

/// Words that are in half turns.
pub(super) trait Turning {
    /// The bit of a content that says whether its half turn is an odd one.
    const ODD: Raw;

    /// Half turns that the clock can tell apart, less one.
    fn range(&self) -> Raw;

    /// The word that counts them.
    fn turn(&self) -> &Word;

    /// The other words.
    fn words(&self) -> impl Iterator<Item = &Word> + Clone;

    /// Whether a word with this content has a meaning in the half turn `half`, while the words are in `turned`:
    /// then it is of `turned` or of the one before.
    #[inline]
    fn lasts(&self, there: Raw, turned: Raw, half: Raw) -> bool {
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

    /// The half turn that the words of the call's generation are in, for who reads them only.
    fn turned<C>(&self, call: &Call<'_, C>) -> Raw {
        // Acquire: who finds the turn there finds the words emptied.
        own_content(self.turn().load(Ordering::Acquire), call.generation())
    }

    /// Whether the turn still holds `seen`. Ask after the word in question was loaded with acquire.
    #[inline]
    fn stands(&self, seen: Raw) -> bool {
        // Relaxed: ordered behind the acquire load of the other word. One of the next half turn was stored by a
        // thread that had seen the turn there.
        self.turn().look() == seen
    }

    /// Moves the turn on to `half`, and empties the words that have no meaning in it. An emptied word is given
    /// the content `empty`: one that is of this half turn, so that the word surely changes.
    ///
    /// A turn that is ahead of `half` is taken back only where `was_set_back`; else `half` is over.
    #[inline]
    fn turn_to<C>(&self, half: Raw, empty: Raw, was_set_back: bool, call: &Call<'_, C>) -> Result<(), Stop> {
        let mine = tagged(call.generation(), half);
        change(self.turn(), |seen| {
            if seen == mine {
                // Loaded with acquire, as in `turned`.
                return Err(Ok(()));
            }
            let is_own = tag(seen) == call.generation();
            let ahead = content(seen).wrapping_sub(content(mine)) & self.range();
            if is_own && ahead <= self.range() / 2 && !was_set_back {
                return Err(Err(Stop::Newer));
            }
            if !is_own && !call.is_current() {
                return Err(Err(Stop::Stale));
            }
            // Words of another generation count as empty already.
            for word in self.words().filter(|_| is_own) {
                change(word, |there| {
                    let lasts = self.lasts(there, content(seen), content(mine));
                    let is_due = tag(there) == call.generation() && !lasts && self.stands(seen);
                    if is_due { Ok((tagged(call.generation(), empty), ())) } else { Err(()) }
                });
            }
            Ok((mine, Ok(())))
        })
    }
}
