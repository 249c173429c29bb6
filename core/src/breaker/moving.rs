//! What a state becomes, and what goes with it.

use crate::breaker::timing::{NewTime, Now};
use crate::state::{Opening, State};
use crate::sync::Raw;
use crate::{Cause, Config};

/// A move of the state machine, as it is about to be made.
#[derive(Clone, Copy)]
pub(super) struct Move {
    pub(super) to: State,
    /// Why, where that is a transition.
    pub(super) cause: Option<Cause>,
    /// The new state's time, where this move sets one.
    pub(super) time: Option<NewTime>,
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

    /// The same with this time, which `to` holds the lower bits of, set `now`.
    pub(super) fn at(self, time: Raw, now: &Now) -> Self {
        Self { time: Some(now.sets(time)), ..self }
    }

    /// Opens.
    pub(super) fn opened(state: State, opening: Opening, now: &Now) -> Self {
        Self::to(state.opened(opening)).at(opening.retry_at, now)
    }

    /// An open state's move to another open time.
    pub(super) fn open_until(state: State, opening: Opening, now: &Now) -> Self {
        Self::to(state.postponed(opening)).at(opening.retry_at, now)
    }

    /// Healthy again, with a share of calls that has been growing for `elapsed_ms`.
    pub(super) fn recovering(state: State, elapsed_ms: u32, now: &Now, config: &Config) -> Self {
        let since = config.ramp().units(now.ms.wrapping_sub(elapsed_ms as Raw));
        Self::to(state.recovering(since)).at(since, now)
    }

    /// Closed for `elapsed_ms`, after a trip.
    pub(super) fn closed(state: State, elapsed_ms: u32, now: &Now, config: &Config) -> Self {
        let since = config.relapse().units(now.ms.wrapping_sub(elapsed_ms as Raw));
        Self::to(state.closed(since)).at(since, now)
    }
}
