//! What a state becomes, and what goes with it.

use crate::state::{Opening, State};
use crate::sync::Raw;
use crate::{Cause, Config};

/// A move of the state machine, as it is about to be made.
#[derive(Clone, Copy)]
pub(super) struct Move {
    pub(super) to: State,
    /// Why, where that is a transition.
    pub(super) cause: Option<Cause>,
    /// The new state's whole time, where this move sets one.
    pub(super) time: Option<Raw>,
}

impl Move {
    /// A move that is no transition, to a state that has no time or keeps it.
    pub(super) const fn to(to: State) -> Self {
        Self { to, cause: None, time: None }
    }

    /// The same as a transition.
    pub(super) const fn because(self, cause: Cause) -> Self {
        Self { cause: Some(cause), ..self }
    }

    /// The same with this time, which `to` holds the lower bits of.
    pub(super) const fn at(self, time: Raw) -> Self {
        Self { time: Some(time), ..self }
    }

    /// Opens.
    pub(super) const fn opened(state: State, opening: Opening) -> Self {
        Self::to(state.opened(opening)).at(opening.retry_at)
    }

    /// An open state's move to another open time.
    pub(super) const fn open_until(state: State, opening: Opening) -> Self {
        Self::to(state.postponed(opening)).at(opening.retry_at)
    }

    /// Healthy again since `since`, with a share of calls that grows from then on.
    pub(super) const fn recovering(state: State, since: Raw, config: &Config) -> Self {
        let since = config.ramp().units(since);
        Self::to(state.recovering(since)).at(since)
    }

    /// Closed since `since`, after a trip.
    pub(super) const fn closed(state: State, since: Raw, config: &Config) -> Self {
        let since = config.relapse().units(since);
        Self::to(state.closed(since)).at(since)
    }
}
