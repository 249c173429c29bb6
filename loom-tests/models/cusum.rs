//! Promises 3 and 4 for the cumulative sum: each call moves it once, by its own weight, in its own
//! generation; evidence that must be sustained trips once it is.

use nanobreaker_core::Outcome;
#[cfg(not(nanobreaker_narrow))]
use nanobreaker_core::{CusumSettings, Phase, window::Cusum};

use crate::explore::{Bound, model};
use crate::rig::{Rig, config};
use crate::windows;

/// One failure is there; one comes, and a success that takes away half of one. In whatever order, one and a
/// half remain of three.
#[test]
fn a_failure_and_a_success_count_once_each() {
    model(Bound::Exhaustive, || {
        let rig = Rig::new(windows::cusum(3), config());
        rig.fail();
        rig.with_tokens(2)
    })
    .threads([
        |rig| {
            rig.record(0, Outcome::Failure);
        },
        |rig| {
            rig.record(1, Outcome::Success);
        },
    ])
    .end(|rig, _| {
        // Another half less, so that a call that counted twice or not at all can be told.
        rig.call(Outcome::Success);
        rig.failures_to_trip()
    })
    .exactly([2]);
}

/// A success where the sum is 0 stores nothing, so it takes nothing from a failure that comes at once.
#[test]
fn a_success_takes_no_more_than_there_is() {
    model(Bound::Exhaustive, || Rig::new(windows::cusum(3), config()).with_tokens(2))
        .threads([
            |rig| {
                rig.record(0, Outcome::Failure);
            },
            |rig| {
                rig.record(1, Outcome::Success);
            },
        ])
        .end(|rig, _| {
            rig.call(Outcome::Success);
            rig.failures_to_trip()
        })
        // After the failure both successes count, before it one of them: that leaves none of it, or half.
        .exactly([3]);
}

/// Evidence trips where it has lasted for as long as asked, from the first failure on, and not before.
#[cfg(not(nanobreaker_narrow))]
#[test]
fn sustained_evidence_trips_and_young_evidence_does_not() {
    const SUSTAINED_MS: u64 = 20;
    model(Bound::Exhaustive, || {
        let window =
            Cusum::new(CusumSettings { sustained_for_ms: SUSTAINED_MS as u32, ..windows::cusum_settings(2) });
        Rig::new(window.unwrap(), config()).with_tokens(2).in_moving_time()
    })
    .threads([
        |rig| {
            rig.record(0, Outcome::Failure);
        },
        |rig| {
            rig.at(SUSTAINED_MS);
            rig.record(1, Outcome::Failure);
        },
    ])
    .end(|rig, _| {
        let tripped = rig.phase();
        if tripped == Phase::Open {
            return (tripped, tripped);
        }
        // It only has to last, from the time of the failure that came last.
        rig.at(2 * SUSTAINED_MS - 1);
        rig.fail();
        let soon = rig.phase();
        rig.at(2 * SUSTAINED_MS);
        rig.fail();
        assert_eq!(rig.phase(), Phase::Open, "a lost trip");
        (tripped, soon)
    })
    .exactly([
        (Phase::Open, Phase::Open),
        // Both came late.
        (Phase::Closed, Phase::Closed),
        // The one that came last had read the time first: there is evidence since then.
        (Phase::Closed, Phase::Open),
    ]);
}
