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
use crate::window::tagged::own_content;

/// How half turns are told from the content of a window's words.
pub(super) trait Halves: Copy {
    /// The bit of a content that says whether its half turn is an odd one.
    const ODD: Raw;
    /// Whether words of the next half turn have a meaning in this one, after the clock was set back.
    const KEEPS_NEWER: bool;

    /// Half turns that the clock can tell apart, less one.
    fn range(self) -> Raw;
}

/// Where a reading of the clock stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(super) enum Turned {
    /// In the half turn that the words are in.
    Here,
    /// Before it.
    Behind,
    /// The call's generation is over.
    Stale,
}

/// Moves `turn` on to `half`, and empties the words that are too old for it. An emptied word is given
/// the content `empty`: one that is of this half turn, so that the word surely changes.
///
/// A turn that is ahead of `half` is taken back only where `was_set_back`.
#[inline]
pub(super) fn turn_to<'a, C, H: Halves>(
    turn: &Word,
    half: Raw,
    was_set_back: bool,
    halves: H,
    empty: Raw,
    words: impl Iterator<Item = &'a Word> + Clone,
    call: &Call<'_, C>,
) -> Turned {
    let mine = tagged(call.generation(), half);
    // Acquire: who finds the turn here finds the words emptied.
    let seen = turn.first_load(Ordering::Acquire);
    if seen == mine {
        Turned::Here
    } else {
        move_on(turn, seen, mine, was_set_back, halves, empty, words, call)
    }
}

/// The half turn that the words of the call's generation are in, for who reads them only.
pub(super) fn half_turn<C>(turn: &Word, call: &Call<'_, C>) -> Raw {
    // Acquire: as in `turn_to`.
    own_content(turn.load(Ordering::Acquire), call)
}

#[cold]
#[inline(never)]
#[allow(clippy::too_many_arguments, reason = "the rest of `turn_to`")]
fn move_on<'a, C, H: Halves>(
    turn: &Word,
    mut seen: Raw,
    mine: Raw,
    was_set_back: bool,
    halves: H,
    empty: Raw,
    words: impl Iterator<Item = &'a Word> + Clone,
    call: &Call<'_, C>,
) -> Turned {
    while seen != mine {
        let ahead = content(seen).wrapping_sub(content(mine)) & halves.range();
        let is_own = tag(seen) == call.generation();
        if is_own && ahead <= halves.range() / 2 && !was_set_back {
            return Turned::Behind;
        }
        if !is_own && !call.is_current() {
            return Turned::Stale;
        }
        if is_own {
            // Words of the last half turn stay where this is the next one.
            let kept = match ahead {
                // Words that tell apart all times that the clock does need no emptying.
                _ if halves.range() == 1 => Kept::All,
                1 if H::KEEPS_NEWER => Kept::Near,
                _ if ahead == halves.range() => Kept::Parity(content(seen) & 1 != 0),
                _ => Kept::None,
            };
            for word in words.clone() {
                empty_unless(kept, word, (turn, seen), H::ODD, empty, call);
            }
        }
        // Release: pairs with the acquire of `turn_to`. Acquire on refusal: as there.
        match turn.exchange(seen, mine, Ordering::Release, Ordering::Acquire) {
            Ok(()) => break,
            Err(now) => seen = now,
        }
    }
    Turned::Here
}

/// Which words stay as they are.
#[derive(Clone, Copy)]
enum Kept {
    All,
    /// Those of this half turn, and those of the next one that lie at most a half turn ahead. One further
    /// ahead would look like one that lies behind.
    Near,
    /// Those of odd half turns, or of even ones.
    Parity(bool),
    None,
}

/// Empties one word, for as long as the turn is what it was.
fn empty_unless<C>(
    kept: Kept,
    word: &Word,
    (turn, seen_turn): (&Word, Raw),
    odd: Raw,
    empty: Raw,
    call: &Call<'_, C>,
) {
    // Orderings: the rule of all windows, see `tagged`.
    let mut seen = word.first_load(Ordering::Acquire);
    loop {
        let is_kept = match kept {
            Kept::All => true,
            Kept::Near => (seen ^ empty) & odd == 0 || seen.wrapping_sub(empty) & (2 * odd - 1) <= odd,
            Kept::Parity(is_odd) => (seen & odd != 0) == is_odd,
            Kept::None => false,
        };
        // Relaxed: ordered behind the acquire load of the word. A word of the next half turn was
        // stored by a thread that had seen the turn there.
        let stands = turn.load(Ordering::Relaxed) == seen_turn;
        if tag(seen) != call.generation() || is_kept || !stands {
            return;
        }
        let new = tagged(call.generation(), empty);
        match word.exchange(seen, new, Ordering::Release, Ordering::Acquire) {
            Ok(()) => return,
            Err(now) => seen = now,
        }
    }
}
