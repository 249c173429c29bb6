//! What the breaker asks of a window.

use core::borrow::Borrow;

use crate::state::State;
use crate::sync::Word;
use crate::window::call::Call;
use crate::window::tagged;
use crate::window::{Evidence, Measured};
use crate::{Clock, Config, Outcome};

/// What a window says to one more outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Verdict {
    /// Not enough to trip.
    Holds,
    /// Enough failed calls to trip.
    Trips,
    /// Enough slow calls to trip.
    TripsBySlow,
    /// The generation ended meanwhile; nothing was written over it.
    Stale,
}

impl Verdict {
    pub(crate) const fn of(trips: bool) -> Self {
        if trips { Self::Trips } else { Self::Holds }
    }
}

/// The inside of a window.
pub(crate) trait Judge {
    /// What the breaker keeps beside the window: its configuration, unless the window does.
    type Config;

    /// A configuration as it was found: in its place, so that the compiler sees what it is where it is a
    /// constant, or read out where it may change meanwhile.
    type Found<'a>: Borrow<Config>
    where
        Self: 'a;

    /// The configuration that is in force in `seen`, which was loaded from `word`; `own` is what the
    /// breaker keeps. Where the settings have changed since: what the word holds now.
    fn config<'a>(
        &'a self,
        own: &'a Self::Config,
        word: &Word,
        seen: State,
    ) -> Result<Self::Found<'a>, State>;

    /// Whether its breaker may ever have a ramp: without one it never recovers.
    const RAMPS: bool = true;

    /// Whether [`is_at_rest`](Self::is_at_rest) is worth asking: where judging takes more than that.
    const RESTS: bool = false;

    /// What judges calls in the generation of `seen`, for the next two.
    #[inline]
    fn kinds(&self, seen: State) -> u32 {
        let _ = seen;
        0
    }

    /// Whether windows of these kinds are ever at rest, and nobody need measure calls.
    #[inline]
    fn is_calm(kinds: u32) -> bool {
        let _ = kinds;
        false
    }

    /// Whether a success of the generation of `seen`, where windows of these kinds judge, changes nothing here.
    /// Asked before a [`Call`] is put together, which would have to lie in memory.
    #[inline]
    fn is_at_rest(&self, kinds: u32, seen: State) -> bool {
        let _ = (kinds, seen);
        false
    }

    /// Takes in one call's outcome: success, slow or failure.
    fn judge<C: Clock>(&self, outcome: Outcome, call: &Call<'_, C>) -> Verdict;

    /// What it has counted in the call's generation; where the settings have changed since, what the state
    /// word holds now. Writes nothing.
    fn evidence<C: Clock>(&self, call: &Call<'_, C>) -> Result<Evidence, State>;

    /// Empties the words of generations long gone; see [`tagged::sweep`].
    fn sweep<C>(&self, call: &Call<'_, C>);
}

/// A rule that judges calls which are good or bad, by what it keeps in words.
pub(crate) trait Rule {
    /// Takes in one call.
    fn count<C: Clock>(&self, words: &[Word], bad: bool, call: &Call<'_, C>) -> Verdict;

    /// What it has counted. Writes nothing.
    fn measure<C: Clock>(&self, words: &[Word], call: &Call<'_, C>) -> Measured;
}

/// A rule with words of its own.
#[derive(Debug)]
pub(crate) struct Ruled<R, const WORDS: usize> {
    pub(crate) rule: R,
    pub(crate) words: [Word; WORDS],
}

/// A window beside which the breaker keeps its configuration: one that can stand beside another.
pub(crate) trait Plain {
    /// See [`Judge::judge`].
    fn judge<C: Clock>(&self, outcome: Outcome, call: &Call<'_, C>) -> Verdict;

    /// See [`Judge::evidence`].
    fn evidence<C: Clock>(&self, call: &Call<'_, C>) -> Evidence;

    /// See [`Judge::sweep`].
    fn sweep<C>(&self, call: &Call<'_, C>);
}

/// An outcome is bad to a rule unless it is a success.
impl<R: Rule, const WORDS: usize> Plain for Ruled<R, WORDS> {
    #[inline]
    fn judge<C: Clock>(&self, outcome: Outcome, call: &Call<'_, C>) -> Verdict {
        self.rule.count(&self.words, outcome != Outcome::Success, call)
    }

    fn evidence<C: Clock>(&self, call: &Call<'_, C>) -> Evidence {
        Evidence::of_failed(self.rule.measure(&self.words, call))
    }

    fn sweep<C>(&self, call: &Call<'_, C>) {
        tagged::sweep(&self.words, call);
    }
}

impl<W: Plain> Judge for W {
    type Config = Config;
    type Found<'a>
        = &'a Config
    where
        Self: 'a;

    #[inline]
    fn config<'a>(&'a self, own: &'a Config, _: &Word, _: State) -> Result<&'a Config, State> {
        Ok(own)
    }

    #[inline]
    fn judge<C: Clock>(&self, outcome: Outcome, call: &Call<'_, C>) -> Verdict {
        Plain::judge(self, outcome, call)
    }

    fn evidence<C: Clock>(&self, call: &Call<'_, C>) -> Result<Evidence, State> {
        Ok(Plain::evidence(self, call))
    }

    fn sweep<C>(&self, call: &Call<'_, C>) {
        Plain::sweep(self, call);
    }
}

/// Makes `$window`, a tuple struct over a window, a window.
macro_rules! judges_by_its_inside {
    ($window:ident $(<const $n:ident: usize>)?) => {
        impl $(<const $n: usize>)? Plain for $window $(<$n>)? {
            #[inline]
            fn judge<C: Clock>(&self, outcome: Outcome, call: &Call<'_, C>) -> Verdict {
                Plain::judge(&self.0, outcome, call)
            }

            fn evidence<C: Clock>(&self, call: &Call<'_, C>) -> Evidence {
                Plain::evidence(&self.0, call)
            }

            fn sweep<C>(&self, call: &Call<'_, C>) {
                Plain::sweep(&self.0, call);
            }
        }
    };
}
pub(super) use judges_by_its_inside;
