//! One call on its way into a window.

use crate::Clock;
use crate::state::State;
use crate::sync::{Raw, Word};

/// Why a call was not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Its generation is over.
    Stale,
    /// It met a time that the clock, as it was read, has not reached, or the words have turned since: the
    /// clock is to be read again.
    Newer,
    /// It has turned the words, or another call has: it is to be taken in now.
    Turned,
}

/// One call of a generation that is about to enter the window.
pub(crate) struct Call<'a, C> {
    /// The state word.
    pub(crate) word: &'a Word,
    pub(crate) clock: &'a C,
    /// The state in which the call ended, loaded from the state word: of the generation in which it was admitted.
    pub(crate) seen: State,
}

impl<'a, C> Call<'a, C> {
    /// The generation in which the call was admitted.
    #[inline]
    pub(crate) fn generation(&self) -> u16 {
        self.seen.generation()
    }

    /// The generation that the breaker is in now.
    ///
    /// Ask after the word in question was loaded with acquire. A word of a later generation was
    /// stored with release by a thread that had seen the state word in that generation, so this
    /// load then sees it too.
    #[inline]
    pub(crate) fn present_generation(&self) -> u16 {
        // Relaxed: ordered behind the acquire load of the window's word, see above.
        State(self.word.look()).generation()
    }

    /// Stops a call whose generation is over; see [`present_generation`](Self::present_generation).
    #[inline]
    pub(super) fn goes_on(&self) -> Result<(), Stop> {
        if self.present_generation() == self.generation() { Ok(()) } else { Err(Stop::Stale) }
    }
}

impl<C: Clock> Call<'_, C> {
    /// Reads the clock.
    #[inline]
    pub(crate) fn now(&self) -> Raw {
        self.clock.now_ms() as Raw
    }
}
