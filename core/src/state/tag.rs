//! A generation's number in the highest bits of a word, and the word's own content below.
//!
//! Words of the window and the [`Anchor`](super::Anchor) carry it. So nothing has to be cleared when
//! a generation ends: what another generation wrote is told by its tag.

use crate::state::GENERATION_BITS;
use crate::sync::Raw;

/// Bits left for the content.
pub(crate) const CONTENT_BITS: u32 = Raw::BITS - GENERATION_BITS;

/// The largest content; also its mask.
pub(crate) const MAX_CONTENT: Raw = (1 << CONTENT_BITS) - 1;

/// `content` under the tag of `generation`.
#[inline]
pub(crate) const fn tagged(generation: u16, content: Raw) -> Raw {
    ((generation as Raw) << CONTENT_BITS) | (content & MAX_CONTENT)
}

/// The generation that wrote this word.
#[inline]
pub(crate) const fn tag(word: Raw) -> u16 {
    (word >> CONTENT_BITS) as u16
}

/// The word's content.
#[inline]
pub(crate) const fn content(word: Raw) -> Raw {
    word & MAX_CONTENT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_contents_share_a_word_without_overlap() {
        let last = ((1_u32 << GENERATION_BITS) - 1) as u16;
        assert_eq!(tagged(last, Raw::MAX), Raw::MAX);
        assert_eq!(tag(tagged(last, 0)), last);
        assert_eq!(content(tagged(last, 0)), 0);
        assert_eq!(tag(tagged(0, Raw::MAX)), 0);
    }
}
