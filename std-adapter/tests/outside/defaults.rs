//! What a shared breaker does where nothing is set.

use std::sync::Arc;

use nanobreaker::{ManualClock, Phase, SharedBreaker};

/// A breaker at its defaults, and its time.
fn default_breaker() -> (SharedBreaker, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(0));
    let breaker = SharedBreaker::builder().clock(Arc::clone(&clock)).build().unwrap();
    (breaker, clock)
}

#[test]
fn a_well_dependency_that_answers_in_two_seconds_closes_it() {
    let (breaker, clock) = default_breaker();
    breaker.trip();
    clock.advance(500);
    for _ in 0..3 {
        let probe = breaker.allow().unwrap();
        for _ in 0..20 {
            clock.advance(100);
            assert!(breaker.allow().is_err(), "one probe at a time");
        }
        probe.success();
    }
    assert_eq!(breaker.phase(), Phase::Closed);
}

#[test]
fn background_failures_never_trip_it_on_a_good_day() {
    // 500 calls a second for ten minutes, of which 0.2 % fail.
    let (breaker, clock) = default_breaker();
    let mut random = 1_u32;
    for call in 0..300_000 {
        clock.set(call * 2);
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        let permit = breaker.allow().unwrap();
        if random % 1_000 < 2 { permit.failure() } else { permit.success() }
    }
}

#[test]
fn the_calls_of_a_lost_connection_do_not_trip_it_and_a_dead_dependency_does() {
    let (breaker, clock) = default_breaker();
    let fail_at_once = |calls| (0..calls).for_each(|_| breaker.allow().unwrap().failure());
    fail_at_once(100);
    assert_eq!(breaker.phase(), Phase::Closed);
    (0..200).for_each(|_| breaker.allow().unwrap().success());
    clock.advance(60_000);
    fail_at_once(7);
    clock.advance(20);
    fail_at_once(1);
    assert_eq!(breaker.phase(), Phase::Open);
}

#[test]
fn it_opens_for_half_a_second_and_doubles_to_five() {
    let (breaker, clock) = default_breaker();
    breaker.trip();
    for open_ms in [500, 1_000, 2_000, 4_000, 5_000, 5_000] {
        clock.advance(open_ms - 1);
        assert!(breaker.allow().is_err(), "{open_ms}");
        clock.advance(1);
        breaker.allow().unwrap().failure();
    }
}

#[cfg(feature = "settings")]
#[test]
fn an_empty_file_says_the_same_as_an_empty_builder() {
    use nanobreaker::PartialSettings;

    let file = SharedBreaker::builder().settings(&PartialSettings::default()).unwrap().build().unwrap();
    let builder = SharedBreaker::builder().build().unwrap();
    assert_eq!(file.settings(), builder.settings());
    assert_eq!(builder.config().max_open_ms(), 5_000);
}
