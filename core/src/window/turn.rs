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

use crate::state::tag;
use crate::sync::{Ordering, Raw, Word};
use crate::window::call::{Call, Stop};
use crate::window::tagged::own_content;

/// Words that are in half turns.
pub(super) trait Turning {
    /// The bit of a content that says whether its half turn is an odd one.
    const ODD: Raw;

    /// Half turns that the clock can tell apart, less one.
    fn range(&self) -> Raw;

    /// The word that counts them.
    fn turn(&self) -> &Word;

    /// Whether a word has a meaning in the half turn `half`, while the words are in `turned`: then the half turn in
    /// which it was written, `turned` or the one before, is `half` or the one before.
    #[inline]
    fn lasts(&self, there: Raw, turned: Raw, half: Raw) -> bool {
        let is_before = Raw::from(there & Self::ODD != 0) ^ turned & 1;
        half.wrapping_sub(turned).wrapping_add(is_before) & self.range() <= 1
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

    /// Whether words are to be emptied before the turn may move on from `seen` to `turned`: not where another
    /// generation left it, since its words count as empty already.
    ///
    /// A turn that is ahead is taken back only where the clock was `set_back`.
    #[inline]
    fn is_over<C>(&self, seen: Raw, turned: Raw, set_back: bool, call: &Call<'_, C>) -> Result<bool, Stop> {
        if tag(seen ^ turned) != 0 {
            return call.goes_on().map(|()| false);
        }
        let ahead = seen.wrapping_sub(turned) & self.range();
        if ahead <= self.range() / 2 && !set_back { Err(Stop::Newer) } else { Ok(true) }
    }
}
