//! Promise 2: each transition happens once, is observed once, and can be put in order. The rig's
//! log checks the order in each of these (and in every other model that asks for it).

use nanobreaker_core::{Cause, Outcome, Phase, Recorded};

use crate::explore::{Bound, model};
use crate::rig::{OPEN_MS, RAMP_MS, Rig, config};

use Cause::{Disabled, Isolated, Reset, ThresholdReached, TripRequested};

/// A trip of the window races another: one trip, one notice.
#[test]
fn two_trips_are_one_transition() {
    model(Bound::Exhaustive, || Rig::touchy(config()).with_tokens(2))
        .threads([|rig| rig.record(0, Outcome::Failure), |rig| rig.record(1, Outcome::Failure)])
        .end(|rig, recorded| {
            assert_eq!(rig.causes(), [ThresholdReached]);
            assert_eq!(rig.breaker.snapshot().generation, 1);
            recorded
        })
        .exactly([
            [Recorded::Counted, Recorded::Counted],
            [Recorded::Counted, Recorded::Stale],
            [Recorded::Stale, Recorded::Counted],
        ]);
}

/// A trip of the window races one that is asked for.
#[test]
fn a_trip_races_one_that_is_asked_for() {
    model(Bound::Exhaustive, || Rig::touchy(config()).with_tokens(1))
        .threads([|rig| rig.record(0, Outcome::Failure) == Recorded::Counted, |rig| rig.breaker.trip()])
        .end(|rig, changed| (changed, rig.causes()))
        .exactly([
            ([true, false], vec![ThresholdReached]),
            ([true, true], vec![TripRequested]),
            ([false, true], vec![TripRequested]),
        ]);
}

/// A trip of the window races a reset: the reset comes last, or the failure is of an earlier
/// generation.
#[test]
fn a_trip_races_a_reset() {
    model(Bound::Exhaustive, || Rig::touchy(config()).with_tokens(1))
        .threads([
            |rig| Some(rig.record(0, Outcome::Failure)),
            |rig| {
                rig.breaker.reset();
                None
            },
        ])
        .end(|rig, [recorded, _]| {
            assert_eq!(rig.phase(), Phase::Closed);
            (recorded, rig.causes())
        })
        .exactly([
            (Some(Recorded::Counted), vec![ThresholdReached, Reset]),
            (Some(Recorded::Counted), vec![Reset]),
            (Some(Recorded::Stale), vec![Reset]),
        ]);
}

/// A trip of the window races an operator who holds the breaker open.
#[test]
fn a_trip_races_a_hold() {
    model(Bound::Exhaustive, || Rig::touchy(config()).with_tokens(1))
        .threads([|rig| rig.record(0, Outcome::Failure) == Recorded::Counted, |rig| rig.breaker.isolate()])
        .end(|rig, _| {
            assert_eq!(rig.phase(), Phase::Isolated, "the operator has the last word");
            rig.causes()
        })
        .exactly([vec![ThresholdReached, Isolated], vec![Isolated]]);
}

/// Two operators who disagree: both are told, the later one stands.
#[test]
fn two_operators_disagree() {
    model(Bound::Exhaustive, || Rig::touchy(config()))
        .threads([|rig| rig.breaker.isolate(), |rig| rig.breaker.disable()])
        .end(|rig, changed| {
            assert_eq!(changed, [true; 2]);
            (rig.phase(), rig.causes())
        })
        .exactly([(Phase::Disabled, vec![Isolated, Disabled]), (Phase::Isolated, vec![Disabled, Isolated])]);
}

/// Two operators who agree: one of them made the change.
#[test]
fn two_operators_agree() {
    model(Bound::Exhaustive, || Rig::touchy(config()))
        .threads([|rig| rig.breaker.isolate(), |rig| rig.breaker.isolate()])
        .end(|rig, changed| {
            assert_eq!(rig.causes(), [Isolated]);
            changed
        })
        .exactly([[true, false], [false, true]]);
}

/// With a latch a trip holds the breaker open, once.
#[test]
fn a_latch_catches_once() {
    model(Bound::Exhaustive, || Rig::touchy(config().latch(true)).with_tokens(2))
        .threads([|rig| rig.record(0, Outcome::Failure), |rig| rig.record(1, Outcome::Failure)])
        .end(|rig, _| {
            assert_eq!(rig.phase(), Phase::Isolated);
            let told = rig.told();
            assert_eq!(told.len(), 1);
            told[0].0
        })
        .exactly([0, 1]);
}

/// Two callers find the ramp over: it ends once, and both pass.
#[test]
fn a_ramp_ends_once() {
    model(Bound::Exhaustive, || {
        Rig::touchy(config().ramp_ms(RAMP_MS)).recovering().when_it_is(OPEN_MS + RAMP_MS)
    })
    .threads([|rig| rig.call(Outcome::Success), |rig| rig.call(Outcome::Success)])
    .end(|rig, recorded| {
        assert_eq!(recorded, [Some(Recorded::Counted); 2]);
        let told = rig.told();
        assert_eq!(told.len(), 4);
        assert_eq!(told[3].1, Cause::RampOver);
        told[3].0
    })
    .exactly([0, 1]);
}
