//! Promise 5: a stale outcome changes nothing. Promises 3 and 4 where generations meet: an outcome
//! of the last generation neither takes from the next one's failures nor adds to them.

use nanobreaker_core::{Cause, Config, Outcome, Phase, Recorded, window::Window};

use crate::explore::{Bound, Reached, model};
use crate::rig::{LEASE_MS, OPEN_MS, Rig, config};
use crate::windows::for_each_window;

/// A breaker in generation 1 whose window still holds a failure of generation 0, and a permit.
fn second_generation<W: Window<Settings = Config>>(window: W) -> Rig<W> {
    let rig = Rig::new(window, config());
    rig.fail();
    rig.breaker.reset();
    rig.with_tokens(1)
}

/// A breaker in generation 0 with nothing but zeroes in its window, and a permit.
fn first_generation<W: Window<Settings = Config>>(window: W) -> Rig<W> {
    Rig::new(window, config()).with_tokens(1)
}

/// `outcome` of the last generation races a reset and the next one's first failures.
fn old_outcome<W: Window<Settings = Config> + Send + Sync + 'static>(
    setup: impl Fn() -> Rig<W> + Copy + Send + Sync + 'static,
    old: fn(&Rig<W>) -> Recorded,
    young: fn(&Rig<W>) -> Recorded,
    phase: fn(&Rig<W>, [Recorded; 2]) -> Recorded,
) -> Reached<Recorded> {
    model(Bound::Exhaustive, setup).threads([old, young]).end(phase)
}

fn old_failure<W: Window<Settings = Config>>(rig: &Rig<W>) -> Recorded {
    rig.record(0, Outcome::Failure)
}

fn old_success<W: Window<Settings = Config>>(rig: &Rig<W>) -> Recorded {
    rig.record(0, Outcome::Success)
}

fn reset_and_fail_twice<W: Window<Settings = Config>>(rig: &Rig<W>) -> Recorded {
    rig.breaker.reset();
    rig.fail().expect("closed after the reset");
    rig.fail().expect("closed until this one")
}

fn reset_and_fail_once<W: Window<Settings = Config>>(rig: &Rig<W>) -> Recorded {
    rig.breaker.reset();
    rig.fail().expect("closed after the reset")
}

/// What became of the old outcome where the young ones tripped, as they must.
fn tripped<W: Window<Settings = Config>>(rig: &Rig<W>, [old, _]: [Recorded; 2]) -> Recorded {
    assert_eq!(rig.phase(), Phase::Open, "a lost trip");
    old
}

/// The same where there was one young failure: closed, and the next one trips.
fn holds<W: Window<Settings = Config>>(rig: &Rig<W>, [old, _]: [Recorded; 2]) -> Recorded {
    assert_eq!(rig.phase(), Phase::Closed, "an early trip");
    rig.fail();
    assert_eq!(rig.phase(), Phase::Open, "a lost trip");
    old
}

const BEFORE_OR_STALE: [Recorded; 2] = [Recorded::Counted, Recorded::Stale];

fn an_old_failure_takes_nothing_away<W: Window<Settings = Config> + Send + Sync + 'static>(
    window: fn(u32) -> W,
) {
    old_outcome(move || second_generation(window(2)), old_failure, reset_and_fail_twice, tripped)
        .exactly(BEFORE_OR_STALE);
}
for_each_window!(an_old_failure_takes_nothing_away);

fn a_first_failure_takes_nothing_away<W: Window<Settings = Config> + Send + Sync + 'static>(
    window: fn(u32) -> W,
) {
    old_outcome(move || first_generation(window(2)), old_failure, reset_and_fail_twice, tripped)
        .exactly(BEFORE_OR_STALE);
}
for_each_window!(a_first_failure_takes_nothing_away);

fn an_old_failure_adds_nothing<W: Window<Settings = Config> + Send + Sync + 'static>(window: fn(u32) -> W) {
    old_outcome(move || second_generation(window(2)), old_failure, reset_and_fail_once, holds)
        .exactly(BEFORE_OR_STALE);
}
for_each_window!(an_old_failure_adds_nothing);

fn an_old_success_takes_nothing_away<W: Window<Settings = Config> + Send + Sync + 'static>(
    window: fn(u32) -> W,
) {
    old_outcome(move || second_generation(window(2)), old_success, reset_and_fail_twice, tripped)
        .exactly(BEFORE_OR_STALE);
}
for_each_window!(an_old_success_takes_nothing_away);

fn a_first_success_takes_nothing_away<W: Window<Settings = Config> + Send + Sync + 'static>(
    window: fn(u32) -> W,
) {
    old_outcome(move || first_generation(window(2)), old_success, reset_and_fail_twice, tripped)
        .exactly(BEFORE_OR_STALE);
}
for_each_window!(a_first_success_takes_nothing_away);

/// Three threads: the failure of the last generation, and two of the next on threads of their own.
fn an_old_failure_among_two_young_ones<W: Window<Settings = Config> + Send + Sync + 'static>(
    window: fn(u32) -> W,
) {
    model(
        // Bound: three threads of up to ten steps.
        Bound::Preemptions(3),
        move || {
            let rig = Rig::new(window(2), config()).with_tokens(1);
            rig.breaker.reset();
            rig.with_tokens(2)
        },
    )
    .threads([
        |rig| rig.record(0, Outcome::Failure),
        |rig| rig.record(1, Outcome::Failure),
        |rig| rig.record(2, Outcome::Failure),
    ])
    .end(|rig, recorded| {
        assert_eq!(rig.causes(), [Cause::Reset, Cause::ThresholdReached]);
        recorded
    })
    .exactly([[Recorded::Stale, Recorded::Counted, Recorded::Counted]]);
}
// Not the tally: it would take minutes.
for_each_window!(an_old_failure_among_two_young_ones: failures consecutive cusum history time; as shipped striped with_slow);

/// The answer of a lost probe races the next round: it is never that round's answer.
#[test]
fn a_lost_probe_does_not_answer_for_the_next_round() {
    const ROUND_FAILED: u64 = OPEN_MS + LEASE_MS;
    const NEXT_ROUND: u64 = ROUND_FAILED + OPEN_MS;
    model(Bound::Exhaustive, || Rig::half_open(config(), 1).when_it_is(ROUND_FAILED).in_moving_time())
        .threads([
            |rig| {
                let recorded = rig.record(0, Outcome::Success);
                (recorded, false)
            },
            |rig| {
                // Fails the round, unless the answer closed it.
                let _ = rig.breaker.allow_token();
                rig.at(NEXT_ROUND);
                let probe = rig.token();
                (Recorded::Ignored, probe.is_probe())
            },
        ])
        .end(|rig, [(late, _), (_, probes)]| {
            let snapshot = rig.breaker.snapshot();
            match snapshot.phase {
                Phase::Closed => assert_eq!((late, probes), (Recorded::Counted, false)),
                _ => assert_eq!((snapshot.phase, snapshot.in_flight), (Phase::HalfOpen, 1)),
            }
            (late, probes)
        })
        .exactly([(Recorded::Counted, false), (Recorded::Stale, true)]);
}
