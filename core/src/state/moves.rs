//! Every legal move of the state machine, as a pure function from one state to the next.
//!
//! | from | move | to | generation | streak |
//! | ---- | ---- | -- | ---------- | ------ |
//! | closed, recovering, half-open | [`entered`](State::entered) | open | +1 | +1, 0 or same |
//! | open | [`in_phase`](State::in_phase), [`set_anew`](State::set_anew) | open | same | same |
//! | open | [`probe_admitted`](State::probe_admitted) | half-open, first probe in flight | same | same |
//! | half-open | [`probe_admitted`](State::probe_admitted), [`answered`](State::answered) | half-open | same | same |
//! | half-open | [`in_phase`](State::in_phase) | recovering | same | same |
//! | half-open, recovering | [`closed`](State::closed) | closed | same | same |
//! | any | [`entered`](State::entered) | isolated, disabled | +1 | same |
//! | any | [`reset`](State::reset) | closed | +1 | 0 |
//! | any | [`in_shadow`](State::in_shadow) | the same phase | same | same |
//! | any | [`adjusted`](State::adjusted) | the same phase, the other cell | +1 | same |
//!
//! Where the new state has a time, that is still to be set: by [`until`](State::until).

use super::{
    CELL, Code, FAILED, FLAG, Field, GENERATION, GIVEN_BACK, IN_FLIGHT, MAX_STREAK, PHASE, SHADOW, STREAK,
    SUCCEEDED, State,
};
use crate::Outcome;
use crate::sync::Raw;

/// What every move keeps but for the generation, the streak and the switches: all below the payload and above
/// the phase.
const KEPT: Raw = ((1 << FLAG.shift) - 1) & !PHASE.put(PHASE.max());

/// What a probe's answer does to its round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Round {
    /// The round goes on, in this state.
    GoesOn(State),
    /// Enough probes succeeded.
    Succeeded,
    /// Enough probes failed, or were given up.
    Failed,
    /// No probe is in flight, so this answer belongs to a permit that was already spent.
    SpentBefore,
}

impl State {
    /// In another phase of the same generation, with nothing in its payload.
    pub(crate) const fn in_phase(self, code: Code) -> Self {
        Self((self.0 & KEPT) | code.0)
    }

    /// In a phase that begins a generation: a trip or a round that failed, or what an operator says.
    pub(crate) const fn entered(self, code: Code) -> Self {
        self.with_next_generation().in_phase(code)
    }

    const fn with(self, field: Field, value: Raw) -> Self {
        Self((self.0 & !field.put(field.max())) | field.put(value))
    }

    const fn with_next_generation(self) -> Self {
        self.with(GENERATION, GENERATION.get(self.0) + 1)
    }

    /// The same state with another streak, at most the longest.
    pub(crate) const fn with_streak(self, streak: u8) -> Self {
        let streak = if streak < MAX_STREAK { streak } else { MAX_STREAK };
        self.with(STREAK, streak as Raw)
    }

    /// Sets the time of this state, of which the word holds the lower bits.
    pub(crate) const fn until(self, time: Raw) -> Self {
        let shift = self.time_shift();
        Self((self.0 & !(Raw::MAX << shift)) | time << shift)
    }

    /// Sets the shadow switch.
    pub(crate) const fn in_shadow(self, on: bool) -> Self {
        self.with(SHADOW, on as Raw)
    }

    /// The settings of the other cell are in force.
    pub(crate) const fn adjusted(self) -> Self {
        Self(self.with_next_generation().0 ^ CELL.put(1))
    }

    /// Open still, for as long as the streak says from when the clock was found set back.
    pub(crate) const fn set_anew(self) -> Self {
        self.in_phase(Code::OPEN).with(FLAG, 1)
    }

    /// One more probe in flight; of an open state the first one. The first one into an empty round is to
    /// renew the lease.
    pub(crate) const fn probe_admitted(self) -> Self {
        let round =
            if matches!(self.code(), Code::HALF_OPEN) { self } else { self.in_phase(Code::HALF_OPEN) };
        Self(round.0 + IN_FLIGHT.put(1))
    }

    /// A probe's answer. Each one is to renew the lease and shows that the dependency isn't hung; a probe
    /// that was given up does neither, and only a bounded number of them in a row may be.
    pub(crate) const fn answered(self, outcome: Outcome, successes: u8, failures: u8) -> Round {
        let left = Self(self.0.wrapping_sub(IN_FLIGHT.put(1)));
        let not_hung = left.with(GIVEN_BACK, 0);
        match outcome {
            _ if self.in_flight() == 0 => Round::SpentBefore,
            Outcome::Success if self.succeeded() + 1 >= successes => Round::Succeeded,
            Outcome::Success => Round::GoesOn(Self(not_hung.0 + SUCCEEDED.put(1))),
            Outcome::Ignored => Round::GoesOn(not_hung),
            Outcome::Cancelled if GIVEN_BACK.get(self.0) == GIVEN_BACK.max() => Round::Failed,
            Outcome::Cancelled => Round::GoesOn(Self(left.0 + GIVEN_BACK.put(1))),
            _ if self.failed() + 1 >= failures => Round::Failed,
            _ => Round::GoesOn(Self(not_hung.0 + FAILED.put(1))),
        }
    }

    /// Healthy again, after a trip: another one before its time is one more in a row.
    pub(crate) const fn closed(self) -> Self {
        self.in_phase(Code::CLOSED).with(FLAG, 1)
    }

    /// Repaired: as good as new, but in a generation of its own.
    pub(crate) const fn reset(self) -> Self {
        self.entered(Code::CLOSED).with_streak(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half_open() -> State {
        State::NEW.entered(Code::OPEN).probe_admitted()
    }

    fn going_on(round: Round) -> State {
        match round {
            Round::GoesOn(state) => state,
            other => panic!("the round should go on, not {other:?}"),
        }
    }

    #[test]
    fn generations_step_on_opening_holding_and_resetting_only() {
        let open = State::NEW.entered(Code::OPEN);
        assert_eq!(open.generation(), 1);
        assert_eq!(open.probe_admitted().generation(), 1);
        assert_eq!(open.probe_admitted().in_phase(Code::RECOVERING).generation(), 1);
        assert_eq!(open.probe_admitted().closed().generation(), 1);
        assert_eq!(open.in_phase(Code::OPEN).generation(), 1);
        assert_eq!(open.entered(Code::ISOLATED).generation(), 2);
        assert_eq!(open.entered(Code::DISABLED).generation(), 2);
        assert_eq!(open.reset().generation(), 2);
        assert_eq!(open.adjusted().generation(), 2);
    }

    #[test]
    fn generations_wrap_into_no_other_field() {
        let mut state = State::NEW.in_shadow(true);
        for _ in 0..=GENERATION.max() {
            state = state.reset();
        }
        assert_eq!(state, State::NEW.in_shadow(true));
    }

    #[test]
    fn the_shadow_switch_survives_every_move() {
        let state = State::NEW.in_shadow(true);
        for moved in [
            state.entered(Code::OPEN),
            state.entered(Code::OPEN).probe_admitted(),
            state.entered(Code::OPEN).probe_admitted().closed(),
            state.entered(Code::ISOLATED),
            state.entered(Code::DISABLED),
            state.reset(),
        ] {
            assert!(moved.is_in_shadow(), "{moved:?}");
            assert!(!moved.is_healthy());
        }
    }

    #[test]
    fn a_permit_that_is_not_in_flight_gives_no_place_back() {
        let empty = going_on(half_open().answered(Outcome::Cancelled, 2, 1));
        assert_eq!(empty.in_flight(), 0);
        for answer in [Outcome::Success, Outcome::Failure, Outcome::Ignored, Outcome::Cancelled] {
            assert_eq!(empty.answered(answer, 2, 2), Round::SpentBefore);
        }
    }

    #[test]
    fn counts_reach_their_limits_without_touching_their_neighbours() {
        let mut state = half_open();
        while u32::from(state.in_flight()) < super::super::MAX_PROBES {
            state = state.probe_admitted();
        }
        assert_eq!(state.succeeded(), 0);
        assert_eq!(state.failed(), 0);
        let successes = super::super::MAX_SUCCESSES as u8;
        for n in 1..successes.min(state.in_flight()) {
            state = going_on(state.answered(Outcome::Success, successes, 1));
            assert_eq!(state.succeeded(), n);
            assert_eq!(state.failed(), 0);
        }
    }

    #[test]
    fn a_bounded_number_of_probes_in_a_row_may_be_given_up() {
        let mut state = half_open();
        for _ in 0..GIVEN_BACK.max() {
            state = going_on(state.answered(Outcome::Cancelled, 1, 1)).probe_admitted();
        }
        assert_eq!(state.answered(Outcome::Cancelled, 1, 1), Round::Failed);
    }

    #[test]
    fn an_answer_shows_that_the_dependency_is_not_hung() {
        let mut state = half_open();
        for _ in 0..4 * GIVEN_BACK.max() {
            state = going_on(state.answered(Outcome::Cancelled, 1, 1)).probe_admitted();
            state = going_on(state.answered(Outcome::Ignored, 1, 1)).probe_admitted();
        }
    }

    #[test]
    fn a_streak_ends_at_the_longest() {
        let long = half_open().with_streak(MAX_STREAK);
        assert_eq!(long.streak(), MAX_STREAK);
        assert_eq!(long.with_streak(MAX_STREAK + 1), long);
        assert_eq!(long.reset().streak(), 0);
    }

    #[test]
    fn a_time_replaces_the_one_before_and_touches_nothing_else() {
        for state in [half_open(), State::NEW.entered(Code::OPEN_ASKED), half_open().closed()] {
            let timed = state.until(Raw::MAX).until(9);
            assert_eq!(timed.0 >> timed.time_shift(), 9);
            assert_eq!(timed.until(0), state);
        }
    }

    #[test]
    fn every_move_but_an_adjustment_keeps_the_cell() {
        let state = State::NEW.adjusted();
        assert_eq!(state.cell(), 1);
        for moved in [
            state.entered(Code::OPEN),
            state.entered(Code::OPEN).probe_admitted(),
            state.entered(Code::OPEN).probe_admitted().closed(),
            state.entered(Code::ISOLATED),
            state.entered(Code::DISABLED),
            state.reset(),
            state.in_shadow(true),
        ] {
            assert_eq!(moved.cell(), 1, "{moved:?}");
            assert_eq!(moved.adjusted().cell(), 0, "{moved:?}");
        }
    }
}
