//! One call on its way into a window.

use crate::clock::Clock;
use crate::state::State;
use crate::sync::{Ordering, Raw, Word, fence};

/// How a window's words are laid out.
pub(crate) trait Layout: Copy {
    /// Whether it can change while calls go on.
    const CHANGES: bool;

    /// Whether the words are still laid out like this.
    fn stands(self) -> bool;
}

/// For ever the same.
#[derive(Clone, Copy)]
pub(crate) struct Fixed;

impl Layout for Fixed {
    const CHANGES: bool = false;

    #[inline]
    fn stands(self) -> bool {
        true
    }
}

/// One call of a generation that is about to enter the window.
pub(crate) struct Call<'a, C, L = Fixed> {
    state: &'a Word,
    clock: &'a C,
    /// Half of it is empty. Compilers may read 32 bits here, and a processor that has just stored
    /// fewer can't forward them: that costs more than all the rest of a failure.
    generation: u32,
    layout: L,
}

impl<'a, C> Call<'a, C> {
    #[inline]
    pub(crate) fn new(state: &'a Word, clock: &'a C, generation: u16) -> Self {
        Self {
            state,
            clock,
            generation: generation.into(),
            layout: Fixed,
        }
    }

    /// The same call, where the window's words are laid out like this.
    #[inline]
    pub(crate) fn under<L: Layout>(&self, layout: L) -> Call<'a, C, L> {
        let Self {
            state,
            clock,
            generation,
            ..
        } = *self;
        Call {
            state,
            clock,
            generation,
            layout,
        }
    }

    /// The same call in the generation that the breaker is in now.
    pub(crate) fn in_present_generation(&self) -> Self {
        // Relaxed: the state word stands alone.
        let generation = State::from_raw(self.state.load(Ordering::Relaxed)).generation();
        Self::new(self.state, self.clock, generation)
    }
}

impl<C: Clock, L> Call<'_, C, L> {
    /// Reads the clock.
    pub(crate) fn now(&self) -> Raw {
        self.clock.now_ms() as Raw
    }
}

impl<C, L: Layout> Call<'_, C, L> {
    /// The generation in which the call was admitted.
    #[inline]
    pub(crate) fn generation(&self) -> u16 {
        self.generation as u16
    }

    /// Whether the breaker is still in this call's generation.
    ///
    /// Ask after the word in question was loaded with acquire. A word of a later generation was
    /// stored with release by a thread that had seen the state word in that generation, so this
    /// load then sees it too.
    pub(crate) fn is_current(&self) -> bool {
        // Relaxed: ordered behind the acquire load of the window's word, see above.
        State::from_raw(self.state.load(Ordering::Relaxed)).generation() == self.generation()
    }

    /// Whether the window's words are still laid out as when this call read its rule.
    ///
    /// Ask after the word in question was loaded with acquire, as for [`is_current`](Self::is_current):
    /// who lays the words out anew first says so, and then changes each of them with release.
    #[inline]
    pub(crate) fn layout_stands(&self) -> bool {
        self.layout.stands()
    }

    /// The same, after words were loaded relaxed.
    #[inline]
    pub(crate) fn layout_still_stands(&self) -> bool {
        if L::CHANGES {
            // Acquire: pairs with the release by which words are laid out anew.
            fence(Ordering::Acquire);
        }
        self.layout.stands()
    }
}
