//! Outcomes taken out of a window of calls, to be put into another.

use crate::window::calls::MAX_SIZE;

const BITS: usize = u32::BITS as usize;
const WORDS: usize = MAX_SIZE as usize / BITS;

/// At most [`MAX_SIZE`] outcomes, in the order in which they came.
pub(in crate::window) struct Outcomes {
    bits: [u32; WORDS],
    calls: usize,
}

impl Outcomes {
    pub(super) const NONE: Self = Self {
        bits: [0; WORDS],
        calls: 0,
    };

    pub(super) fn push(&mut self, bad: bool) {
        if let Some(word) = self.bits.get_mut(self.calls / BITS) {
            *word |= u32::from(bad) << (self.calls % BITS);
            self.calls += 1;
        }
    }

    /// Whether each was bad.
    pub(super) fn iter(&self) -> impl Iterator<Item = bool> {
        (0..self.calls).map(|i| {
            self.bits
                .get(i / BITS)
                .is_some_and(|word| word >> (i % BITS) & 1 != 0)
        })
    }
}
