//! Promise 3: no lost trip. Promise 4: no early trip. For every window.

use nanobreaker_core::window::{StripedTime, Window};
use nanobreaker_core::{Cause, Outcome, Phase, Recorded};

use crate::explore::{Bound, model};
use crate::rig::{Rig, at, config, stalled};
use crate::windows::{self, BUCKET_MS, ByActor, WITHIN_MS, for_each_window};

/// Who tripped it; promise 3 holds for the rig.
fn tripped_by<W: Window>(rig: &Rig<W>) -> usize {
    assert_eq!(rig.phase(), Phase::Open, "a lost trip");
    let told = rig.told();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].1, Cause::ThresholdReached);
    told[0].0
}

/// Promise 3: two failures at once reach a threshold of two.
fn two_failures_trip<W: Window + Send + Sync + 'static>(window: fn(u32) -> W) {
    model(Bound::Exhaustive, move || {
        Rig::new(window(2), config()).with_tokens(2)
    })
    .threads([
        |rig| rig.breaker.record(rig.tokens[0], Outcome::Failure),
        |rig| rig.breaker.record(rig.tokens[1], Outcome::Failure),
    ])
    .end(|rig, recorded| {
        assert_eq!(recorded, [Recorded::Counted; 2]);
        tripped_by(rig)
    })
    .exactly([0, 1]);
}
for_each_window!(two_failures_trip);

/// Promise 3: three failures at once reach a threshold of three.
fn three_failures_trip<W: Window + Send + Sync + 'static>(window: fn(u32) -> W) {
    model(
        // Bound: three threads, and the time window makes up to ten steps a failure.
        Bound::Preemptions(3),
        move || Rig::new(window(3), config()).with_tokens(3),
    )
    .threads([
        |rig| rig.breaker.record(rig.tokens[0], Outcome::Failure),
        |rig| rig.breaker.record(rig.tokens[1], Outcome::Failure),
        |rig| rig.breaker.record(rig.tokens[2], Outcome::Failure),
    ])
    .end(|rig, _| tripped_by(rig))
    .exactly([0, 1, 2]);
}
// Not the tally: it would take 150,000 executions.
for_each_window!(three_failures_trip: failures consecutive history time striped with_slow any);

/// Promise 3, in different buckets: each of two threads adds to its own bucket and then sums both;
/// at least one must see the other, also where it read the clock a bucket earlier. Striped, the two
/// threads are in two stripes.
fn failures_in_two_buckets_trip<W: Window + Send + Sync + 'static>(window: fn(u32) -> W) {
    model(Bound::Exhaustive, move || {
        Rig::new(window(2), config()).with_tokens(2)
    })
    .threads([
        |rig| {
            stalled(0, BUCKET_MS);
            rig.breaker.record(rig.tokens[0], Outcome::Failure)
        },
        |rig| {
            at(BUCKET_MS);
            rig.breaker.record(rig.tokens[1], Outcome::Failure)
        },
    ])
    .end(|rig, _| tripped_by(rig))
    .exactly([0, 1]);
}
for_each_window!(failures_in_two_buckets_trip: time striped any);

/// Promise 3, where a success fills the minimum: the call that fills it is judged, whichever it is.
fn the_call_that_fills_the_minimum_trips<W: Window + Send + Sync + 'static>(window: fn(u32) -> W) {
    model(Bound::Exhaustive, move || {
        Rig::new(window(2), config()).with_tokens(2)
    })
    .threads([
        |rig| {
            stalled(0, BUCKET_MS);
            rig.breaker.record(rig.tokens[0], Outcome::Success)
        },
        |rig| {
            at(BUCKET_MS);
            rig.breaker.record(rig.tokens[1], Outcome::Failure)
        },
    ])
    .end(|rig, _| tripped_by(rig))
    .exactly([0, 1]);
}

mod the_call_that_fills_the_minimum_trips {
    use crate::windows::{ByActor, TALLIED, TALLIED_WORDS, WITHIN_MS};
    use nanobreaker_core::window::{Calls, StripedTime, Time};

    #[test]
    fn history() {
        super::the_call_that_fills_the_minimum_trips(|k| Calls::<1>::new(8, 50, k).unwrap());
    }

    #[test]
    fn tally() {
        super::the_call_that_fills_the_minimum_trips(|k| {
            Calls::<TALLIED_WORDS>::new(TALLIED, 50, k).unwrap()
        });
    }

    #[test]
    fn striped() {
        super::the_call_that_fills_the_minimum_trips(|k| {
            StripedTime::<_, 2, 2>::new(WITHIN_MS, 2, 50, k, ByActor).unwrap()
        });
    }

    #[test]
    fn time() {
        super::the_call_that_fills_the_minimum_trips(|k| {
            Time::<2>::new(WITHIN_MS, 2, 50, k).unwrap()
        });
    }
}

/// Promise 3, where two successes at once fill the minimum, each in a stripe of its own: the later
/// one to sum sees both.
#[test]
fn successes_in_two_stripes_fill_the_minimum() {
    model(Bound::Exhaustive, || {
        let window = StripedTime::<_, 2, 2>::new(WITHIN_MS, 2, 30, 3, ByActor);
        let rig = Rig::new(window.unwrap(), config());
        rig.fail();
        rig.with_tokens(2)
    })
    .threads([
        |rig| rig.breaker.record(rig.tokens[0], Outcome::Success),
        |rig| rig.breaker.record(rig.tokens[1], Outcome::Success),
    ])
    .end(|rig, _| tripped_by(rig))
    .exactly([0, 1]);
}

/// Promise 4: two failures of a threshold of three, and a call of each other kind beside them.
fn fewer_failures_do_not_trip<W: Window + Send + Sync + 'static>(window: fn(u32) -> W) {
    model(
        // Bound: three threads, and the tally makes up to six steps a call.
        Bound::Preemptions(3),
        move || Rig::new(window(3), config()).with_tokens(4),
    )
    .threads([
        |rig| rig.breaker.record(rig.tokens[0], Outcome::Failure),
        |rig| rig.breaker.record(rig.tokens[1], Outcome::Failure),
        |rig| {
            rig.breaker.record(rig.tokens[2], Outcome::Ignored);
            rig.breaker.record(rig.tokens[3], Outcome::Cancelled)
        },
    ])
    .end(|rig, recorded| {
        assert_eq!(rig.causes(), [], "an early trip");
        let third = rig.fail();
        assert_eq!(rig.phase(), Phase::Open, "a lost trip");
        (recorded, third)
    })
    .exactly([(
        [Recorded::Counted, Recorded::Counted, Recorded::Ignored],
        Some(Recorded::Counted),
    )]);
}
for_each_window!(fewer_failures_do_not_trip);

/// Promise 4: a success between two failures ends a row, but only there; the rates count it.
fn a_success_beside_two_failures<W: Window + Send + Sync + 'static>(
    window: fn(u32) -> W,
) -> crate::explore::Reached<Phase> {
    model(Bound::Exhaustive, move || {
        let rig = Rig::new(window(2), config());
        rig.fail();
        rig.with_tokens(2)
    })
    .threads([
        |rig| rig.breaker.record(rig.tokens[0], Outcome::Failure),
        |rig| rig.breaker.record(rig.tokens[1], Outcome::Success),
    ])
    .end(|rig, _| rig.phase())
}

mod a_success_beside_two_failures {
    use super::*;

    #[test]
    fn may_end_a_row_of_consecutive() {
        super::a_success_beside_two_failures(windows::consecutive)
            .exactly([Phase::Closed, Phase::Open]);
    }

    #[test]
    fn may_lower_the_rate_of_history() {
        super::a_success_beside_two_failures(windows::history)
            .exactly([Phase::Closed, Phase::Open]);
    }

    #[test]
    fn may_lower_the_rate_of_tally() {
        super::a_success_beside_two_failures(windows::tally).exactly([Phase::Closed, Phase::Open]);
    }

    #[test]
    fn may_lower_the_rate_of_time() {
        super::a_success_beside_two_failures(windows::time).exactly([Phase::Closed, Phase::Open]);
    }
}

/// Promise 4: a thread that stalled after it read the clock takes an expired failure for a live one
/// unless it reads the clock again once it meets a newer stamp.
#[test]
fn a_stalled_reader_counts_no_expired_failure() {
    const FIRST: u64 = 50;
    const LATE: u64 = FIRST + WITHIN_MS + 1;
    model(Bound::Exhaustive, || {
        let rig = Rig::new(windows::failures(3), config()).with_tokens(2);
        at(FIRST);
        rig.fail();
        rig
    })
    .threads([
        |rig| {
            stalled(FIRST + 100, LATE);
            rig.breaker.record(rig.tokens[0], Outcome::Failure)
        },
        |rig| {
            at(LATE);
            rig.breaker.record(rig.tokens[1], Outcome::Failure)
        },
    ])
    .end(|rig, _| {
        assert_eq!(rig.phase(), Phase::Closed, "an early trip");
        // The stalled failure counts with the reading that it ended up with.
        at(FIRST + 100 + WITHIN_MS + 1);
        rig.fail();
        rig.phase()
    })
    .exactly([Phase::Closed, Phase::Open]);
}

/// Promise 3: the failure of a thread that stalled after it read the clock does not stand in for a
/// newer one.
#[test]
fn a_stalled_failure_replaces_no_newer_stamp() {
    const LATE: u64 = WITHIN_MS + 500;
    model(Bound::Exhaustive, || {
        Rig::new(windows::failures(2), config()).with_tokens(2)
    })
    .threads([
        |rig| {
            stalled(100, LATE);
            rig.breaker.record(rig.tokens[0], Outcome::Failure)
        },
        |rig| {
            at(LATE);
            rig.breaker.record(rig.tokens[1], Outcome::Failure)
        },
    ])
    .end(|rig, _| {
        let tripped = rig.phase();
        // Whatever the stalled one did, the other failure is live.
        at(LATE + 1);
        rig.fail();
        assert_eq!(rig.phase(), Phase::Open, "a lost trip");
        tripped
    })
    .exactly([Phase::Closed, Phase::Open]);
}

/// Promise 3: a writer that stalled for a whole lap does not put its old bucket in the place of a
/// newer one.
#[test]
fn a_stalled_writer_replaces_no_newer_bucket() {
    model(Bound::Exhaustive, || {
        Rig::new(windows::time(2), config()).with_tokens(2)
    })
    .threads([
        |rig| {
            stalled(0, WITHIN_MS);
            rig.breaker.record(rig.tokens[0], Outcome::Failure)
        },
        |rig| {
            at(WITHIN_MS);
            rig.breaker.record(rig.tokens[1], Outcome::Failure)
        },
    ])
    .end(|rig, _| {
        let tripped = rig.phase();
        at(WITHIN_MS);
        rig.fail();
        assert_eq!(rig.phase(), Phase::Open, "a lost trip");
        tripped
    })
    .exactly([Phase::Closed, Phase::Open]);
}

/// Promise 3: an observe switch at the moment of the trip does not lose it.
#[test]
fn an_observe_switch_does_not_lose_a_trip() {
    model(Bound::Exhaustive, || Rig::touchy(config()).with_tokens(1))
        .threads([
            |rig| Some(rig.breaker.record(rig.tokens[0], Outcome::Failure)),
            |rig| {
                rig.breaker.observe(true);
                rig.fail()
            },
        ])
        .end(|rig, [tripping, observing]| {
            let snapshot = rig.breaker.snapshot();
            assert!(snapshot.observing);
            assert_eq!(snapshot.phase, Phase::Open, "a lost trip");
            assert_eq!(rig.causes(), [Cause::ThresholdReached]);
            (tripping, observing)
        })
        .exactly([
            // Switched before the trip: whichever of the two failures comes first trips.
            (Some(Recorded::Counted), Some(Recorded::Counted)),
            (Some(Recorded::Stale), Some(Recorded::Counted)),
            // After it: the call passes because the breaker observes, and is not judged.
            (Some(Recorded::Counted), Some(Recorded::Ignored)),
            (Some(Recorded::Counted), Some(Recorded::Stale)),
        ]);
}

/// Promise 3: the end of a ramp at the moment of the trip does not lose it.
#[test]
fn the_end_of_a_ramp_does_not_lose_a_trip() {
    use crate::rig::{OPEN_MS, RAMP_MS};
    const RAMP_OVER: u64 = OPEN_MS + RAMP_MS;
    model(Bound::Exhaustive, || {
        let mut rig = Rig::half_open(config().ramp_ms(RAMP_MS), 1);
        rig.breaker.record(rig.tokens[0], Outcome::Success);
        assert_eq!(rig.phase(), Phase::Recovering);
        at(RAMP_OVER - 1);
        rig.tokens.clear();
        // Nearly all pass; the first number in the pattern does.
        rig.with_tokens(1)
    })
    .threads([
        |rig| {
            at(RAMP_OVER);
            Some(rig.breaker.record(rig.tokens[0], Outcome::Failure))
        },
        |rig| {
            at(RAMP_OVER);
            rig.call(Outcome::Success)
        },
    ])
    .end(|rig, [_, passed]| {
        assert_eq!(rig.phase(), Phase::Open, "a lost trip");
        let causes = rig.causes();
        let ramp_over = causes.contains(&Cause::RampOver);
        assert_eq!(causes.len(), if ramp_over { 5 } else { 4 });
        at(RAMP_OVER);
        rig.is_not_wedged(RAMP_OVER);
        (ramp_over, passed)
    })
    .exactly([
        (false, None),
        (true, Some(Recorded::Counted)),
        (true, Some(Recorded::Stale)),
    ]);
}
