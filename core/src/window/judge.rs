//! What the breaker asks of a window, and what a window may ask of the breaker.

use crate::clock::Clock;
use crate::config::Config;
use crate::outcome::Outcome;
use crate::sync::Word;
use crate::window::call::{Call, Layout};
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
    fn count<C: Clock, L: Layout>(
        &self,
        words: &[Word],
        bad: bool,
        call: &Call<'_, C, L>,
    ) -> Verdict;
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
