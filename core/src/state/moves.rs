//! Every legal move of the state machine, as a pure function from one state to the next.
//!
//! | from | move | to | generation | streak |
//! | ---- | ---- | -- | ---------- | ------ |
//! | closed, recovering, half-open | [`opened`](State::opened) | open | +1 | by [`streak_after_trip`](State::streak_after_trip), or same |
//! | open | [`postponed`](State::postponed) | open | same | same |
//! | open | [`probe_admitted`](State::probe_admitted) | half-open, first probe in flight | same | same |
//! | half-open | [`probe_admitted`](State::probe_admitted), [`answered`](State::answered) | half-open | same | same |
//! | half-open | [`recovering`](State::recovering) | recovering | same | same |
//! | half-open, recovering | [`closed`](State::closed) | closed | same | same |
//! | any | [`isolated`](State::isolated), [`disabled`](State::disabled) | isolated, disabled | +1 | same |
//! | any | [`reset`](State::reset) | closed | +1 | 0 |
//! | any | [`in_shadow`](State::in_shadow) | the same phase | same | same |
//! | any | [`adjusted`](State::adjusted) | the same phase, the other cell | +1 | same |

use super::{
    CELL, Code, FAILED, FLAG, GENERATION, GIVEN_BACK, IN_FLIGHT, LEASE, MAX_STREAK, PHASE, SHADOW, STREAK,
    SUCCEEDED, State, TIME,
};
use crate::Phase;
use crate::sync::Raw;

/// How a breaker opens, or stays open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    /// When a probe may go, in units of the open time's span.
    pub(crate) retry_at: Raw,
    /// How the open time came about.
    pub(crate) kind: Code,
    /// Whether the clock was set back, and the time was set anew for it.
    pub(crate) again: bool,
}

impl Opening {
    /// For as long as the streak says, until a time that is still to be set.
    pub(crate) const BY_STREAK: Self = Self { retry_at: 0, kind: Code::Open, again: false };
}

/// What came back from a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Success,
    Failure,
    /// An answer that does not count.
    Ignored,
    /// No answer: the caller gave up.
    Cancelled,
}

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
    const fn with_phase(self, code: Code) -> Self {
        let kept = SHADOW.put(SHADOW.max())
            | CELL.put(CELL.max())
            | GENERATION.put(GENERATION.max())
            | STREAK.put(STREAK.max());
        Self((self.0 & kept) | PHASE.put(code as Raw))
    }

    const fn with_next_generation(self) -> Self {
        let next = GENERATION.get(self.0).wrapping_add(1);
        Self((self.0 & !GENERATION.put(GENERATION.max())) | GENERATION.put(next))
    }

    /// The same state with another streak.
    pub(crate) const fn with_streak(self, streak: u8) -> Self {
        Self((self.0 & !STREAK.put(STREAK.max())) | STREAK.put(streak as Raw))
    }

    /// Sets the shadow switch.
    pub(crate) const fn in_shadow(self, on: bool) -> Self {
        Self((self.0 & !SHADOW.put(1)) | SHADOW.put(on as Raw))
    }

    /// The settings of the other cell are in force. The time, if there is one, is still to be set.
    pub(crate) const fn adjusted(self) -> Self {
        Self(self.with_next_generation().0 ^ CELL.put(1))
    }

    /// The streak with which this state opens: one more where the dependency did not stay healthy,
    /// else none. `stayed_closed` is whether it was closed for long enough to count as healthy.
    pub(crate) const fn streak_after_trip(self, stayed_closed: bool) -> u8 {
        let healthy = matches!(self.phase(), Phase::Closed) && (!self.flag() || stayed_closed);
        if healthy {
            0
        } else if self.streak() < MAX_STREAK {
            self.streak() + 1
        } else {
            MAX_STREAK
        }
    }

    /// A trip, or a round that failed: open, with this streak.
    pub(crate) const fn opened(self, opening: Opening) -> Self {
        self.with_next_generation().postponed(opening)
    }

    /// Open still, but until another time.
    pub(crate) const fn postponed(self, opening: Opening) -> Self {
        let time = TIME.put(opening.retry_at) | FLAG.put(opening.again as Raw);
        Self(self.with_phase(opening.kind).0 | time)
    }

    /// Half-open with no probe yet: a round that begins anew.
    pub(crate) const fn round_begun(self) -> Self {
        self.with_phase(Code::HalfOpen)
    }

    /// One more probe in flight; of an open state the first one. The first one into an empty round renews
    /// the lease.
    pub(crate) const fn probe_admitted(self, lease_ends: Raw) -> Self {
        let round = if matches!(self.kind(), Code::HalfOpen) { self } else { self.round_begun() };
        let state = Self(round.0 + IN_FLIGHT.put(1));
        if round.in_flight() == 0 { state.with_lease(lease_ends) } else { state }
    }

    const fn with_lease(self, lease_ends: Raw) -> Self {
        Self((self.0 & !LEASE.put(LEASE.max())) | LEASE.put(lease_ends))
    }

    /// A probe's answer. Each one renews the lease and shows that the dependency isn't hung; a probe
    /// that was given up does neither, and only a bounded number of them in a row may be.
    pub(crate) const fn answered(
        self,
        answer: Answer,
        successes: u8,
        failures: u8,
        lease_ends: Raw,
    ) -> Round {
        if self.in_flight() == 0 {
            return Round::SpentBefore;
        }
        let left = Self(self.0 - IN_FLIGHT.put(1));
        let renewed = Self(left.with_lease(lease_ends).0 & !GIVEN_BACK.put(GIVEN_BACK.max()));
        match answer {
            Answer::Success if self.succeeded() + 1 >= successes => Round::Succeeded,
            Answer::Success => Round::GoesOn(Self(renewed.0 + SUCCEEDED.put(1))),
            Answer::Failure if self.failed() + 1 >= failures => Round::Failed,
            Answer::Failure => Round::GoesOn(Self(renewed.0 + FAILED.put(1))),
            Answer::Ignored => Round::GoesOn(renewed),
            Answer::Cancelled if GIVEN_BACK.get(self.0) == GIVEN_BACK.max() => Round::Failed,
            Answer::Cancelled => Round::GoesOn(Self(left.0 + GIVEN_BACK.put(1))),
        }
    }

    /// Healthy again, with the share of calls that pass growing from now.
    pub(crate) const fn recovering(self, since: Raw) -> Self {
        Self(self.with_phase(Code::Recovering).0 | TIME.put(since))
    }

    /// Healthy again, after a trip.
    pub(crate) const fn closed(self, since: Raw) -> Self {
        Self(self.with_phase(Code::Closed).0 | TIME.put(since) | FLAG.put(1))
    }

    /// Held open.
    pub(crate) const fn isolated(self) -> Self {
        self.with_next_generation().with_phase(Code::Isolated)
    }

    /// All pass, nothing is judged.
    pub(crate) const fn disabled(self) -> Self {
        self.with_next_generation().with_phase(Code::Disabled)
    }

    /// Repaired: as good as new, but in a generation of its own.
    pub(crate) const fn reset(self) -> Self {
        self.with_next_generation().with_streak(0).with_phase(Code::Closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENING: Opening = Opening { retry_at: 77, ..Opening::BY_STREAK };

    fn half_open() -> State {
        State::NEW.opened(OPENING).probe_admitted(9)
    }

    fn going_on(round: Round) -> State {
        match round {
            Round::GoesOn(state) => state,
            other => panic!("the round should go on, not {other:?}"),
        }
    }

    #[test]
    fn generations_step_on_opening_holding_and_resetting_only() {
        let open = State::NEW.opened(OPENING);
        assert_eq!(open.generation(), 1);
        assert_eq!(open.probe_admitted(9).generation(), 1);
        assert_eq!(open.probe_admitted(9).recovering(9).generation(), 1);
        assert_eq!(open.probe_admitted(9).closed(9).generation(), 1);
        assert_eq!(open.postponed(OPENING).generation(), 1);
        assert_eq!(open.isolated().generation(), 2);
        assert_eq!(open.disabled().generation(), 2);
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
            state.opened(OPENING),
            state.opened(OPENING).probe_admitted(9),
            state.opened(OPENING).probe_admitted(9).closed(3),
            state.isolated(),
            state.disabled(),
            state.reset(),
        ] {
            assert!(moved.is_in_shadow(), "{moved:?}");
            assert!(!moved.is_healthy());
        }
    }

    #[test]
    fn a_permit_that_is_not_in_flight_gives_no_place_back() {
        let empty = going_on(half_open().answered(Answer::Cancelled, 2, 1, 9));
        assert_eq!(empty.in_flight(), 0);
        for answer in [Answer::Success, Answer::Failure, Answer::Ignored, Answer::Cancelled] {
            assert_eq!(empty.answered(answer, 2, 2, 9), Round::SpentBefore);
        }
    }

    #[test]
    fn counts_reach_their_limits_without_touching_their_neighbours() {
        let mut state = half_open();
        while u32::from(state.in_flight()) < super::super::MAX_PROBES {
            state = state.probe_admitted(0);
        }
        assert_eq!(state.succeeded(), 0);
        assert_eq!(state.failed(), 0);
        let successes = super::super::MAX_SUCCESSES as u8;
        for n in 1..successes.min(state.in_flight()) {
            state = going_on(state.answered(Answer::Success, successes, 1, 9));
            assert_eq!(state.succeeded(), n);
            assert_eq!(state.failed(), 0);
        }
    }

    #[test]
    fn a_bounded_number_of_probes_in_a_row_may_be_given_up() {
        let mut state = half_open();
        for _ in 0..GIVEN_BACK.max() {
            state = going_on(state.answered(Answer::Cancelled, 1, 1, 9)).probe_admitted(9);
        }
        assert_eq!(state.answered(Answer::Cancelled, 1, 1, 9), Round::Failed);
    }

    #[test]
    fn an_answer_shows_that_the_dependency_is_not_hung() {
        let mut state = half_open();
        for _ in 0..4 * GIVEN_BACK.max() {
            state = going_on(state.answered(Answer::Cancelled, 1, 1, 9)).probe_admitted(9);
            state = going_on(state.answered(Answer::Ignored, 1, 1, 9)).probe_admitted(9);
        }
    }

    #[test]
    fn only_a_first_trip_or_one_after_a_healthy_time_starts_a_new_streak() {
        assert_eq!(State::NEW.streak_after_trip(false), 0);
        let returned = half_open().closed(1_000);
        assert_eq!(returned.streak_after_trip(false), 1);
        assert_eq!(returned.streak_after_trip(true), 0);
        assert_eq!(half_open().streak_after_trip(false), 1);
        let long = half_open().with_streak(MAX_STREAK);
        assert_eq!(long.streak_after_trip(false), MAX_STREAK);
        assert_eq!(returned.reset().streak_after_trip(false), 0);
    }

    #[test]
    fn every_move_but_an_adjustment_keeps_the_cell() {
        let state = State::NEW.adjusted();
        assert_eq!(state.cell(), 1);
        for moved in [
            state.opened(OPENING),
            state.opened(OPENING).probe_admitted(9),
            state.opened(OPENING).probe_admitted(9).closed(3),
            state.isolated(),
            state.disabled(),
            state.reset(),
            state.in_shadow(true),
        ] {
            assert_eq!(moved.cell(), 1, "{moved:?}");
            assert_eq!(moved.adjusted().cell(), 0, "{moved:?}");
        }
    }
}
