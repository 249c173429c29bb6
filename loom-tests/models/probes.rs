//! Promise 1: at most P probes in flight per half-open round, and none after its verdict.
//! Promise 6: whatever came of it, the breaker is not wedged afterwards.

use nanobreaker_core::{Cause, Outcome, Phase, Recorded, Token};

use crate::explore::{Bound, model};
use crate::rig::{LEASE_MS, OPEN_MS, RAMP_MS, Rig, config};

const LEASE_OVER: u64 = OPEN_MS + LEASE_MS;

/// Where a call got to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Admitted {
    Probe,
    Call,
    Rejected(Phase),
}

fn admitted(permit: Result<Token, nanobreaker_core::Rejected>) -> Admitted {
    match permit {
        Ok(token) if token.is_probe() => Admitted::Probe,
        Ok(_) => Admitted::Call,
        Err(rejected) => Admitted::Rejected(rejected.phase),
    }
}

/// Two callers at the end of the open time, one probe: one passes.
#[test]
fn one_of_two_callers_probes() {
    model(Bound::Exhaustive, || Rig::open(config()).when_it_is(OPEN_MS))
        .threads([|rig| rig.enter(1).is_some(), |rig| rig.enter(1).is_some()])
        .end(|rig, entered| {
            assert_eq!(rig.breaker.snapshot().in_flight, 1);
            rig.is_not_wedged();
            entered
        })
        .exactly([[true, false], [false, true]]);
}

/// Two callers for the last of two places: one passes.
#[test]
fn one_of_two_callers_takes_the_last_place() {
    model(Bound::Exhaustive, || Rig::half_open(config().max_probes(2), 1))
        .threads([|rig| rig.enter(2).is_some(), |rig| rig.enter(2).is_some()])
        .end(|rig, entered| {
            assert_eq!(rig.breaker.snapshot().in_flight, 2);
            rig.is_not_wedged();
            entered
        })
        .exactly([[true, false], [false, true]]);
}

/// P callers for P places: all pass.
#[test]
fn two_of_two_callers_probe() {
    model(Bound::Exhaustive, || Rig::open(config().max_probes(2)).when_it_is(OPEN_MS))
        .threads([|rig| rig.enter(2).is_some(), |rig| rig.enter(2).is_some()])
        .end(|rig, entered| {
            assert_eq!(rig.causes().len(), 2);
            (entered, rig.breaker.snapshot().in_flight)
        })
        .exactly([([true, true], 2)]);
}

/// One probe at a time, three successes to close: the places go from call to call.
#[test]
fn places_go_from_call_to_call() {
    fn probe(rig: &Rig<nanobreaker_core::window::Consecutive>) -> Option<Recorded> {
        let token = rig.enter(1)?;
        Some(rig.leave(token, Outcome::Success))
    }
    // Bound: three whole calls, and where words are narrow a hundred thousand executions.
    model(Bound::Preemptions(3), || Rig::open(config().probe_successes(3)).when_it_is(OPEN_MS))
        .threads([|rig| [probe(rig), probe(rig)], |rig| [probe(rig), None]])
        .end(|rig, recorded| {
            let snapshot = rig.breaker.snapshot();
            let passed = recorded.iter().flatten().flatten().count();
            assert_eq!(snapshot.phase == Phase::Closed, passed == 3);
            rig.is_not_wedged();
            (passed, snapshot.succeeded)
        })
        .exactly([(1, 1), (2, 2), (3, 0)]);
}

/// A failed verdict races an admission: the probe is of the round or not at all, and its late
/// outcome changes nothing.
#[test]
fn no_probe_after_a_failed_verdict() {
    model(Bound::Exhaustive, || Rig::half_open(config().max_probes(2), 1))
        .threads([
            |rig| (Some(rig.leave(rig.tokens[0], Outcome::Failure)), Admitted::Call),
            |rig| {
                let permit = rig.breaker.allow_token();
                let admitted = admitted(permit);
                let late = permit.ok().map(|token| rig.breaker.record(token, Outcome::Success));
                (late, admitted)
            },
        ])
        .end(|rig, [(verdict, _), admission]| {
            if rig.phase() == Phase::Open {
                assert_eq!(rig.breaker.snapshot().in_flight, 0);
            }
            rig.is_not_wedged();
            (verdict, admission)
        })
        .exactly([
            // Success before the failure closes; the failure then is the window's, which trips.
            (Some(Recorded::Counted), (Some(Recorded::Counted), Admitted::Probe)),
            (Some(Recorded::Counted), (Some(Recorded::Stale), Admitted::Probe)),
            (Some(Recorded::Counted), (None, Admitted::Rejected(Phase::Open))),
        ]);
}

/// A successful verdict races an admission: a probe of the round, or a call of the closed breaker.
#[test]
fn no_probe_after_a_successful_verdict() {
    model(Bound::Exhaustive, || Rig::half_open(config().max_probes(2), 1))
        .threads([
            |rig| (rig.leave(rig.tokens[0], Outcome::Success), Admitted::Call),
            |rig| {
                let token = rig.token();
                // A probe whose round ended well counts like any other call.
                (rig.breaker.record(token, Outcome::Success), admitted(Ok(token)))
            },
        ])
        .end(|rig, [_, admission]| {
            assert_eq!(rig.phase(), Phase::Closed);
            assert_eq!(rig.causes().len(), 3);
            admission
        })
        .exactly([(Recorded::Counted, Admitted::Probe), (Recorded::Counted, Admitted::Call)]);
}

/// Two probes of one round end at once, one well and one badly: one verdict, and the other outcome
/// is the next phase's or stale.
#[test]
fn a_round_has_one_verdict() {
    model(Bound::Exhaustive, || Rig::half_open(config().max_probes(2), 2))
        .threads([
            |rig| rig.leave(rig.tokens[0], Outcome::Success),
            |rig| rig.leave(rig.tokens[1], Outcome::Failure),
        ])
        .end(|rig, recorded| {
            let causes = rig.causes();
            rig.is_not_wedged();
            (recorded, causes[2..].to_vec())
        })
        .exactly([
            ([Recorded::Counted, Recorded::Counted], vec![Cause::ProbesSucceeded, Cause::ThresholdReached]),
            ([Recorded::Stale, Recorded::Counted], vec![Cause::ProbesFailed]),
        ]);
}

/// A verdict races a dropped permit: the place that the drop gives back is the round's, never the
/// next one's.
#[test]
fn a_drop_gives_back_a_place_of_its_own_round_only() {
    model(Bound::Exhaustive, || Rig::half_open(config().max_probes(2), 2))
        .threads([
            |rig| rig.leave(rig.tokens[0], Outcome::Failure),
            |rig| rig.leave(rig.tokens[1], Outcome::Cancelled),
        ])
        .end(|rig, [_, dropped]| {
            assert_eq!(rig.phase(), Phase::Open);
            // The next round has exactly its own places.
            rig.at(2 * OPEN_MS);
            let next: Vec<_> = (0..3).map(|_| rig.breaker.allow_token().is_ok()).collect();
            assert_eq!(next, [true, true, false]);
            dropped
        })
        .exactly([Recorded::Ignored, Recorded::Stale]);
}

/// A dropped permit races a caller for its place.
#[test]
fn a_place_given_back_is_taken_once() {
    model(Bound::Exhaustive, || Rig::half_open(config(), 1))
        .threads([
            |rig| {
                rig.leave(rig.tokens[0], Outcome::Cancelled);
                false
            },
            |rig| rig.enter(1).is_some(),
            |rig| rig.enter(1).is_some(),
        ])
        .end(|rig, entered| {
            rig.is_not_wedged();
            entered
        })
        .exactly([[false, false, false], [false, true, false], [false, false, true]]);
}

/// A late success races the end of the lease: it closes, or the round has failed and it is stale.
#[test]
fn a_late_result_or_the_end_of_its_lease() {
    model(Bound::Exhaustive, || Rig::half_open(config(), 1).when_it_is(LEASE_OVER))
        .threads([
            |rig| (Some(rig.leave(rig.tokens[0], Outcome::Success)), Admitted::Call),
            |rig| (None, admitted(rig.breaker.allow_token())),
        ])
        .end(|rig, [(late, _), (_, caller)]| {
            let last = *rig.causes().last().unwrap();
            rig.is_not_wedged();
            (late, caller, last)
        })
        .exactly([
            (Some(Recorded::Counted), Admitted::Call, Cause::ProbesSucceeded),
            (Some(Recorded::Stale), Admitted::Rejected(Phase::Open), Cause::ProbesLost),
        ]);
}

/// The same with more successes to go: the late one renews the lease.
#[test]
fn a_late_result_renews_the_lease_or_has_lost_it() {
    model(Bound::Exhaustive, || {
        Rig::half_open(config().max_probes(2).probe_successes(3), 2).when_it_is(LEASE_OVER)
    })
    .threads([
        |rig| (rig.leave(rig.tokens[0], Outcome::Success), Admitted::Call),
        |rig| (Recorded::Ignored, admitted(rig.breaker.allow_token())),
    ])
    .end(|rig, [(late, _), (_, caller)]| {
        let in_flight = rig.breaker.snapshot().in_flight;
        rig.is_not_wedged();
        (late, caller, in_flight)
    })
    .exactly([
        (Recorded::Counted, Admitted::Probe, 2),
        (Recorded::Stale, Admitted::Rejected(Phase::Open), 0),
    ]);
}

/// Two callers find the lease over: the round fails once.
#[test]
fn a_lost_round_fails_once() {
    model(Bound::Exhaustive, || Rig::half_open(config(), 1).when_it_is(LEASE_OVER))
        .threads([|rig| admitted(rig.breaker.allow_token()), |rig| admitted(rig.breaker.allow_token())])
        .end(|rig, callers| {
            assert_eq!(callers, [Admitted::Rejected(Phase::Open); 2]);
            let told = rig.told();
            assert_eq!(told.len(), 3);
            assert_eq!(told[2].1, Cause::ProbesLost);
            rig.is_not_wedged();
            told[2].0
        })
        .exactly([0, 1]);
}

/// An outcome spent twice at once, from a copied token: the second changes nothing, and the count
/// of places does not underflow. Promise 8.
#[test]
fn a_copied_token_counts_once() {
    model(Bound::Exhaustive, || Rig::half_open(config().probe_successes(2), 1))
        .threads([|rig| rig.record(0, Outcome::Success), |rig| rig.record(0, Outcome::Success)])
        .end(|rig, recorded| {
            let snapshot = rig.breaker.snapshot();
            assert_eq!((snapshot.in_flight, snapshot.succeeded), (0, 1));
            rig.is_not_wedged();
            recorded
        })
        .exactly([[Recorded::Counted, Recorded::Stale], [Recorded::Stale, Recorded::Counted]]);
}

/// A verdict races a reset: the operator has the last word.
#[test]
fn a_verdict_does_not_undo_a_reset() {
    model(Bound::Exhaustive, || Rig::half_open(config(), 1))
        .threads([
            |rig| Some(rig.leave(rig.tokens[0], Outcome::Failure)),
            |rig| {
                rig.breaker.reset();
                None
            },
        ])
        .end(|rig, [verdict, _]| {
            assert_eq!(rig.phase(), Phase::Closed);
            assert_eq!(rig.breaker.snapshot().streak, 0);
            (verdict, rig.causes().len())
        })
        .exactly([(Some(Recorded::Counted), 4), (Some(Recorded::Stale), 3)]);
}

/// The last verdict into a ramp races a caller: a probe of the round, or a share of the ramp.
#[test]
fn a_ramp_begins_once() {
    model(Bound::Exhaustive, || Rig::half_open(config().max_probes(2).ramp_ms(RAMP_MS), 2))
        .threads([
            |rig| rig.leave(rig.tokens[0], Outcome::Success),
            |rig| rig.leave(rig.tokens[1], Outcome::Success),
        ])
        .end(|rig, recorded| {
            assert_eq!(recorded, [Recorded::Counted; 2]);
            assert_eq!(rig.phase(), Phase::Recovering);
            let told = rig.told();
            assert_eq!(told.len(), 3);
            rig.is_not_wedged();
            told[2].0
        })
        .exactly([0, 1]);
}
