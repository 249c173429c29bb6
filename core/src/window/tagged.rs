//! Window words: a generation's tag in the highest bits, the window's own content below.

use crate::state::GENERATION_BITS;
use crate::sync::{Ordering, Raw, Word};
use crate::window::call::{Call, Layout};

/// Bits left for the content.
pub(crate) const CONTENT_BITS: u32 = Raw::BITS - GENERATION_BITS;

const CONTENT: Raw = (1 << CONTENT_BITS) - 1;

/// `content` under the tag of `generation`.
pub(crate) const fn tagged(generation: u16, content: Raw) -> Raw {
    ((generation as Raw) << CONTENT_BITS) | (content & CONTENT)
}

/// The generation that wrote this word.
pub(crate) const fn tag(word: Raw) -> u16 {
    (word >> CONTENT_BITS) as u16
}

/// The word's content.
pub(crate) const fn content(word: Raw) -> Raw {
    word & CONTENT
}

/// The content as `call`'s generation sees it: 0, which every window takes for "empty", where the
/// word is another generation's; `None` where the call's own generation is over, or the words are no
/// longer laid out as it knows them, so that the word must not be touched.
///
/// `word` must have been loaded with acquire.
#[inline]
pub(crate) fn content_for<C, L: Layout>(word: Raw, call: &Call<'_, C, L>) -> Option<Raw> {
    if !call.layout_stands() {
        None
    } else if tag(word) == call.generation() {
        Some(content(word))
    } else if call.is_current() {
        Some(0)
    } else {
        None
    }
}

/// What `call`'s generation has put into `word`: 0 where another one did. For who writes nothing, or
/// only where there is something: a word of one's own generation can be loaded relaxed.
#[inline]
pub(crate) fn own_content<C, L: Layout>(word: Raw, call: &Call<'_, C, L>) -> Raw {
    if tag(word) == call.generation() {
        content(word)
    } else {
        0
    }
}

/// Empties all words, whatever they hold, for another layout.
///
/// Each becomes another value than it was, so that the exchange of a thread that loaded it before
/// fails: that thread then loads it again, with acquire, and finds that the layout no longer stands.
/// Empty is empty under any tag; so the tag makes the difference.
pub(crate) fn clear(words: &[Word]) {
    for word in words {
        // Release: pairs with the acquire of those threads.
        let _ = word.update(Ordering::Release, Ordering::Relaxed, |seen| {
            core::ops::ControlFlow::<(), Raw>::Continue(tagged(tag(seen).wrapping_add(1), 0))
        });
    }
}

/// Empties the words of generations long gone, before their tag's number comes round again.
///
/// Called when a generation begins whose number is 0 or half the range. Words whose tag lies in the
/// other half are then at most half the range old, and no number is used again before all words of
/// its earlier use were swept.
pub(crate) fn sweep<C, L: Layout>(words: &[Word], call: &Call<'_, C, L>) {
    const HALF: u16 = 1 << (GENERATION_BITS - 1);
    for word in words {
        // Acquire, release: the rule of all windows, see the module's head.
        let _ = word.update(Ordering::Release, Ordering::Acquire, |seen| {
            let other_half = (tag(seen) ^ call.generation()) & HALF != 0;
            if other_half && call.is_current() {
                core::ops::ControlFlow::Continue(tagged(call.generation(), 0))
            } else {
                core::ops::ControlFlow::Break(())
            }
        });
    }
}

/// Whether a sweep is due as `generation` begins.
pub(crate) const fn sweep_is_due(generation: u16) -> bool {
    generation & ((1 << (GENERATION_BITS - 1)) - 1) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_contents_share_a_word_without_overlap() {
        let last = ((1_u32 << GENERATION_BITS) - 1) as u16;
        let word = tagged(last, Raw::MAX);
        assert_eq!(word, Raw::MAX);
        assert_eq!(tag(tagged(last, 0)), last);
        assert_eq!(content(tagged(last, 0)), 0);
        assert_eq!(tag(tagged(0, Raw::MAX)), 0);
    }
}
