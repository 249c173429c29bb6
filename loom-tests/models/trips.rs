//! Promise 3: no lost trip. Promise 4: no early trip. For every window.

use nanobreaker_core::window::{StripedTime, Window};
use nanobreaker_core::{Cause, Config, Outcome, Phase, Rate, Recorded};

use crate::explore::{Bound, model};
use crate::rig::{OPEN_MS, RAMP_MS, Rig, config};
use crate::windows::{self, BUCKET_MS, ByActor, WITHIN_MS, for_each_window};

/// Who tripped it; promise 3 holds for the rig.
fn tripped_by<W: Window<Settings = Config>>(rig: &Rig<W>) -> usize {
    assert_eq!(rig.phase(), Phase::Open, "a lost trip");
    let told = rig.told();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].1, Cause::ThresholdReached);
    told[0].0
}

/// Promise 3: two failures at once reach a threshold of two.
fn two_failures_trip<W: Window<Settings = Config> + Send + Sync + 'static>(window: fn(u32) -> W) {
    model(Bound::Exhaustive, move || Rig::new(window(2), config()).with_tokens(2))
        .threads([|rig| rig.record(0, Outcome::Failure), |rig| rig.record(1, Outcome::Failure)])
        .end(|rig, recorded| {
            assert_eq!(recorded, [Recorded::Counted; 2]);
            tripped_by(rig)
        })
        .exactly([0, 1]);
}
for_each_window!(two_failures_trip);

/// Promise 3: three failures at once reach a threshold of three.
fn three_failures_trip<W: Window<Settings = Config> + Send + Sync + 'static>(window: fn(u32) -> W) {
    model(
        // Bound: three threads, and the time window makes up to ten steps a failure.
        Bound::Preemptions(3),
        move || Rig::new(window(3), config()).with_tokens(3),
    )
    .threads([
        |rig| rig.record(0, Outcome::Failure),
        |rig| rig.record(1, Outcome::Failure),
        |rig| rig.record(2, Outcome::Failure),
    ])
    .end(|rig, _| tripped_by(rig))
    .exactly([0, 1, 2]);
}
// Not the tally: it would take 150,000 executions.
for_each_window!(three_failures_trip: failures consecutive cusum history; as shipped time striped with_slow);

/// Promise 3, in different buckets: each of two threads adds to its own bucket and then sums both;
/// at least one must see the other, also where it read the clock a bucket earlier. Striped, the two
/// threads are in two stripes.
fn failures_in_two_buckets_trip<W: Window<Settings = Config> + Send + Sync + 'static>(window: fn(u32) -> W) {
    model(Bound::Exhaustive, move || Rig::new(window(2), config()).with_tokens(2).in_moving_time())
        .threads([
            |rig| rig.record(0, Outcome::Failure),
            |rig| {
                rig.at(BUCKET_MS);
                rig.record(1, Outcome::Failure)
            },
        ])
        .end(|rig, _| tripped_by(rig))
        .exactly([0, 1]);
}
for_each_window!(failures_in_two_buckets_trip: time; as shipped striped);

/// Promise 3, where a success fills the minimum: the call that fills it is judged, whichever it is.
fn the_call_that_fills_the_minimum_trips<W: Window<Settings = Config> + Send + Sync + 'static>(
    window: fn(u32) -> W,
) {
    model(Bound::Exhaustive, move || Rig::new(window(2), config()).with_tokens(2).in_moving_time())
        .threads([
            |rig| rig.record(0, Outcome::Success),
            |rig| {
                rig.at(BUCKET_MS);
                rig.record(1, Outcome::Failure)
            },
        ])
        .end(|rig, _| tripped_by(rig))
        .exactly([0, 1]);
}

/// Half of at least so many calls.
const fn half_of(min_calls: u32) -> Rate {
    Rate::percent(50).min_calls(min_calls)
}

mod the_call_that_fills_the_minimum_trips {
    use super::half_of;
    use crate::windows::{TALLIED, TALLIED_WORDS, WITHIN_MS};
    use nanobreaker_core::window::{Calls, Time};

    #[test]
    fn history() {
        super::the_call_that_fills_the_minimum_trips(|k| Calls::<1>::new(8, half_of(k)).unwrap());
    }

    #[test]
    fn tally() {
        super::the_call_that_fills_the_minimum_trips(|k| {
            Calls::<TALLIED_WORDS>::new(TALLIED, half_of(k)).unwrap()
        });
    }

    #[cfg(not(any(nanobreaker_first_read_writes, nanobreaker_weak_fails)))]
    #[test]
    fn striped() {
        use crate::windows::ByActor;
        use nanobreaker_core::window::StripedTime;
        super::the_call_that_fills_the_minimum_trips(|k| {
            StripedTime::<_, 2, 2>::new(WITHIN_MS, 2, half_of(k), ByActor).unwrap()
        });
    }

    #[test]
    fn time() {
        super::the_call_that_fills_the_minimum_trips(|k| Time::<2>::new(WITHIN_MS, 2, half_of(k)).unwrap());
    }
}

/// Promise 3, where two successes at once fill the minimum, each in a stripe of its own: the later
/// one to sum sees both.
#[test]
fn successes_in_two_stripes_fill_the_minimum() {
    model(Bound::Exhaustive, || {
        let window = StripedTime::<_, 2, 2>::new(WITHIN_MS, 2, Rate::percent(30).min_calls(3), ByActor);
        let rig = Rig::new(window.unwrap(), config());
        rig.fail();
        rig.with_tokens(2)
    })
    .threads([|rig| rig.record(0, Outcome::Success), |rig| rig.record(1, Outcome::Success)])
    .end(|rig, _| tripped_by(rig))
    .exactly([0, 1]);
}

/// Promise 4: two failures of a threshold of three, and a call of each other kind beside them.
fn fewer_failures_do_not_trip<W: Window<Settings = Config> + Send + Sync + 'static>(window: fn(u32) -> W) {
    model(
        // Bound: three threads, and the tally makes up to six steps a call.
        Bound::Preemptions(3),
        move || Rig::new(window(3), config()).with_tokens(4),
    )
    .threads([
        |rig| rig.record(0, Outcome::Failure),
        |rig| rig.record(1, Outcome::Failure),
        |rig| {
            rig.record(2, Outcome::Ignored);
            rig.record(3, Outcome::Cancelled)
        },
    ])
    .end(|rig, recorded| {
        assert_eq!(rig.causes(), [], "an early trip");
        let third = rig.fail();
        assert_eq!(rig.phase(), Phase::Open, "a lost trip");
        (recorded, third)
    })
    .exactly([([Recorded::Counted, Recorded::Counted, Recorded::Ignored], Some(Recorded::Counted))]);
}
for_each_window!(fewer_failures_do_not_trip);

/// Promise 4: a success between two failures ends a row, but only there; the rates count it.
fn a_success_beside_two_failures<W: Window<Settings = Config> + Send + Sync + 'static>(
    window: fn(u32) -> W,
) -> crate::explore::Reached<Phase> {
    model(Bound::Exhaustive, move || {
        let rig = Rig::new(window(2), config());
        rig.fail();
        rig.with_tokens(2)
    })
    .threads([|rig| rig.record(0, Outcome::Failure), |rig| rig.record(1, Outcome::Success)])
    .end(|rig, _| rig.phase())
}

mod a_success_beside_two_failures {
    use super::*;

    #[test]
    fn may_end_a_row_of_consecutive() {
        super::a_success_beside_two_failures(windows::consecutive).exactly([Phase::Closed, Phase::Open]);
    }

    #[test]
    fn may_lower_the_sum_of_cusum() {
        super::a_success_beside_two_failures(windows::cusum).exactly([Phase::Closed, Phase::Open]);
    }

    #[test]
    fn may_lower_the_rate_of_history() {
        super::a_success_beside_two_failures(windows::history).exactly([Phase::Closed, Phase::Open]);
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
    const LATE: u64 = WITHIN_MS + 1;
    model(Bound::Exhaustive, || {
        let rig = Rig::new(windows::failures(3), config()).with_tokens(2);
        rig.fail();
        rig.in_moving_time()
    })
    .threads([
        |rig| rig.record(0, Outcome::Failure),
        |rig| {
            rig.at(LATE);
            rig.record(1, Outcome::Failure)
        },
    ])
    .end(|rig, _| {
        assert_eq!(rig.phase(), Phase::Closed, "an early trip");
        rig.failures_to_trip()
    })
    // Before the time went on the first one expires with the failure that was there.
    .exactly([1, 2]);
}

/// Promise 3: the failure of a thread that stalled after it read the clock, once or twice, does not
/// stand in for a newer one.
fn a_stalled_failure_replaces_no_newer_one<W: Window<Settings = Config> + Send + Sync + 'static>(
    window: fn(u32) -> W,
) {
    model(Bound::Exhaustive, move || Rig::new(window(2), config()).with_tokens(1).in_moving_time())
        .threads([
            |rig| {
                rig.record(0, Outcome::Failure);
            },
            |rig| {
                for lap in 1..=2 {
                    // The other one may go on before each failure.
                    rig.at(2 * lap * WITHIN_MS);
                    // Made whole between two of the other one's steps: else there are too many executions.
                    loom::stop_exploring();
                    rig.fail();
                    loom::explore();
                }
            },
        ])
        .end(|rig, _| {
            let tripped = rig.phase();
            rig.fail();
            assert_eq!(rig.phase(), Phase::Open, "a lost trip");
            tripped
        })
        .exactly([Phase::Closed, Phase::Open]);
}
for_each_window!(a_stalled_failure_replaces_no_newer_one: failures; as shipped time);

/// Promise 3: a shadow switch at the moment of the trip does not lose it.
#[test]
fn a_shadow_switch_does_not_lose_a_trip() {
    model(Bound::Exhaustive, || Rig::touchy(config()).with_tokens(1))
        .threads([
            |rig| Some(rig.record(0, Outcome::Failure)),
            |rig| {
                rig.breaker.shadow(true);
                rig.fail()
            },
        ])
        .end(|rig, [tripping, in_shadow]| {
            let snapshot = rig.breaker.snapshot();
            assert!(snapshot.in_shadow);
            assert_eq!(snapshot.phase, Phase::Open, "a lost trip");
            assert_eq!(rig.causes(), [Cause::ThresholdReached]);
            (tripping, in_shadow)
        })
        .exactly([
            // Switched before the trip: whichever of the two failures comes first trips.
            (Some(Recorded::Counted), Some(Recorded::Counted)),
            (Some(Recorded::Stale), Some(Recorded::Counted)),
            // After it: the call passes because the breaker is in shadow, and is not judged.
            (Some(Recorded::Counted), Some(Recorded::Ignored)),
            (Some(Recorded::Counted), Some(Recorded::Stale)),
        ]);
}

/// Promise 3: the end of a ramp at the moment of the trip does not lose it.
#[test]
fn the_end_of_a_ramp_does_not_lose_a_trip() {
    const RAMP_OVER: u64 = OPEN_MS + RAMP_MS;
    model(Bound::Exhaustive, || {
        Rig::touchy(config().ramp_ms(RAMP_MS))
            .recovering()
            .when_it_is(RAMP_OVER - 1)
            // Nearly all pass; the first number in the pattern does.
            .with_tokens(1)
            .when_it_is(RAMP_OVER)
    })
    .threads([|rig| Some(rig.record(0, Outcome::Failure)), |rig| rig.call(Outcome::Success)])
    .end(|rig, [_, passed]| {
        assert_eq!(rig.phase(), Phase::Open, "a lost trip");
        let causes = rig.causes();
        let ramp_over = causes.contains(&Cause::RampOver);
        assert_eq!(causes.len(), if ramp_over { 5 } else { 4 });
        rig.is_not_wedged();
        (ramp_over, passed)
    })
    .exactly([(false, None), (true, Some(Recorded::Counted)), (true, Some(Recorded::Stale))]);
}
