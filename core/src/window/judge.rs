//! What the breaker asks of a window, and what a window may ask of the breaker.

use crate::clock::Clock;
use crate::config::Config;
use crate::outcome::Outcome;
use crate::state::State;
use crate::sync::{Ordering, Raw, Word, fence};
use crate::window::parts::Layout;
use crate::window::tagged;

/// What a window says to one more outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Verdict {
    /// Not enough to trip.
    Holds,
    /// Enough to trip.
    Trips,
    /// The generation ended meanwhile; nothing was written over it.
    Stale,
}

impl Verdict {
    pub(crate) const fn of(trips: bool) -> Self {
        if trips { Self::Trips } else { Self::Holds }
    }

    /// What two windows say together.
    pub(crate) const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Trips, _) | (_, Self::Trips) => Self::Trips,
            (Self::Stale, _) | (_, Self::Stale) => Self::Stale,
            (Self::Holds, Self::Holds) => Self::Holds,
        }
    }
}

/// One call of a generation that is about to enter the window.
pub(crate) struct Call<'a, C> {
    state: &'a Word,
    clock: &'a C,
    /// Half of it is empty. Compilers may read 32 bits here, and a processor that has just stored
    /// fewer can't forward them: that costs more than all the rest of a failure.
    generation: u32,
    /// How the window's words are laid out, where that can change under this call.
    layout: Option<Layout<'a>>,
}

impl<'a, C> Call<'a, C> {
    #[inline]
    pub(crate) fn new(state: &'a Word, clock: &'a C, generation: u16) -> Self {
        Self {
            state,
            clock,
            generation: generation.into(),
            layout: None,
        }
    }

    /// The generation in which the call was admitted.
    #[inline]
    pub(crate) fn generation(&self) -> u16 {
        self.generation as u16
    }
}

impl<C: Clock> Call<'_, C> {
    /// Reads the clock.
    pub(crate) fn now(&self) -> Raw {
        self.clock.now_ms() as Raw
    }
}

impl<'a, C> Call<'a, C> {
    /// The same call, where the window's words are laid out like this and that can change.
    #[inline]
    pub(crate) fn under(&self, layout: Layout<'a>) -> Self {
        Self {
            layout: Some(layout),
            ..*self
        }
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
    pub(crate) fn layout_stands(&self) -> bool {
        self.layout.is_none_or(Layout::stands)
    }

    /// The same, after words were loaded relaxed.
    pub(crate) fn layout_still_stands(&self) -> bool {
        self.layout.is_none_or(|layout| {
            // Acquire: pairs with the release by which words are laid out anew.
            fence(Ordering::Acquire);
            layout.stands()
        })
    }

    /// The same call in the generation that the breaker is in now.
    pub(crate) fn in_present_generation(&self) -> Self {
        // Relaxed: the state word stands alone.
        let generation = State::from_raw(self.state.load(Ordering::Relaxed)).generation();
        Self {
            generation: generation.into(),
            ..*self
        }
    }
}

/// The inside of a window.
pub(crate) trait Judge {
    /// Takes in one call that was good or bad.
    fn count<C: Clock>(&self, bad: bool, call: &Call<'_, C>) -> Verdict;

    /// Takes in one call's outcome: success, slow or failure.
    #[inline]
    fn judge<C: Clock>(&self, outcome: Outcome, call: &Call<'_, C>) -> Verdict {
        self.count(outcome != Outcome::Success, call)
    }

    /// Whether this window judges anything at all.
    #[inline]
    fn is_there(&self) -> bool {
        true
    }

    /// The configuration that stands in for the breaker's own, where the window holds one.
    #[inline]
    fn config(&self) -> Option<Config> {
        None
    }

    /// Forgets generations long gone; see [`tagged::sweep`].
    fn sweep<C>(&self, call: &Call<'_, C>);

    /// To be called as `call`'s generation begins.
    fn sweep_if_due<C>(&self, call: &Call<'_, C>) {
        if tagged::sweep_is_due(call.generation()) {
            self.sweep(call);
        }
    }
}

/// A window that may be missing, where a file or a person chooses; one that is holds whatever comes.
impl<W: Judge> Judge for Option<W> {
    #[inline]
    fn count<C: Clock>(&self, bad: bool, call: &Call<'_, C>) -> Verdict {
        match self {
            Some(window) => window.count(bad, call),
            None => Verdict::Holds,
        }
    }

    #[inline]
    fn judge<C: Clock>(&self, outcome: Outcome, call: &Call<'_, C>) -> Verdict {
        match self {
            Some(window) => window.judge(outcome, call),
            None => Verdict::Holds,
        }
    }

    #[inline]
    fn is_there(&self) -> bool {
        self.is_some()
    }

    fn sweep<C>(&self, call: &Call<'_, C>) {
        if let Some(window) = self {
            window.sweep(call);
        }
    }
}

/// A window that is a rule beside its words.
pub(crate) trait Rule {
    /// See [`Judge::count`].
    fn count<C: Clock>(&self, words: &[Word], bad: bool, call: &Call<'_, C>) -> Verdict;
}

/// A rule with words of its own.
#[derive(Debug)]
pub(crate) struct Ruled<R, const WORDS: usize> {
    pub(crate) rule: R,
    pub(crate) words: [Word; WORDS],
}

impl<R: Rule, const WORDS: usize> Judge for Ruled<R, WORDS> {
    #[inline]
    fn count<C: Clock>(&self, bad: bool, call: &Call<'_, C>) -> Verdict {
        self.rule.count(&self.words, bad, call)
    }

    fn sweep<C>(&self, call: &Call<'_, C>) {
        tagged::sweep(&self.words, call);
    }
}
