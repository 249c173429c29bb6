//! What the breaker asks of a window.

use core::borrow::Borrow;

use crate::state::State;
use crate::sync::Word;
use crate::window::Evidence;
use crate::window::call::Call;
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

/// What a window does with the calls of its breaker.
pub(crate) trait Judge {
    /// Takes in one call's outcome: success, slow or failure.
    fn judge<C: Clock>(&self, outcome: Outcome, call: &Call<'_, C>) -> Verdict;

    /// What it has counted in the call's generation; where the settings have changed since, what the state
    /// word holds now. Writes nothing.
    fn evidence<C: Clock>(&self, call: &Call<'_, C>) -> Result<Evidence, State>;

    /// Empties the words of generations long gone; see [`tagged::sweep`](super::tagged::sweep).
    fn sweep<C>(&self, call: &Call<'_, C>);
}

/// The inside of a window: it judges, and knows which configuration is in force.
pub(crate) trait Inside: Judge {
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

    /// What judges calls in the generation of `_seen`, for the next two.
    #[inline]
    fn kinds(&self, _seen: State) -> u32 {
        0
    }

    /// Whether windows of these kinds are ever at rest, and nobody need measure calls.
    #[inline]
    fn is_calm(_kinds: u32) -> bool {
        false
    }

    /// Whether a success of the generation of `_seen`, where windows of these kinds judge, changes nothing here.
    /// Asked before a [`Call`] is put together, which would have to lie in memory.
    #[inline]
    fn is_at_rest(&self, _kinds: u32, _seen: State) -> bool {
        false
    }
}

/// A window beside which the breaker keeps its configuration: one that can stand beside another.
pub(crate) trait Plain: Judge {}

impl<W: Plain> Inside for W {
    type Config = Config;
    type Found<'a>
        = &'a Config
    where
        Self: 'a;

    #[inline]
    fn config<'a>(&'a self, own: &'a Config, _: &Word, _: State) -> Result<&'a Config, State> {
        Ok(own)
    }
}
