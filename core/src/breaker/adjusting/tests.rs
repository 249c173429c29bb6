use super::*;
use crate::window::{AnyWindow, WithSlow};
use crate::{ManualClock, Outcome};

type Any = AnyWindow<64>;
type Adjusted = Breaker<Adjustable<Any>, ManualClock>;

fn breaker(window: Any) -> Adjusted {
    Breaker::new(
        Adjustable::new(window),
        Config::DEFAULT,
        ManualClock::new(1_000_000),
    )
}

fn record(breaker: &Adjusted, outcomes: &[bool]) {
    for good in outcomes {
        let permit = breaker.allow().unwrap();
        permit.record(if *good {
            Outcome::Success
        } else {
            Outcome::Failure
        });
    }
}

fn phase(breaker: &Adjusted) -> Phase {
    breaker.snapshot().phase
}

fn adjust(breaker: &Adjusted, window: Any) {
    assert!(breaker.adjust(&window, breaker.config()));
}

#[test]
fn a_lower_threshold_counts_the_failures_that_are_there() {
    let breaker = breaker(Any::failures(10, 100).unwrap());
    record(&breaker, &[false; 6]);
    adjust(&breaker, Any::failures(8, 100).unwrap());
    assert_eq!(phase(&breaker), Phase::Closed);
    record(&breaker, &[false; 2]);
    assert_eq!(phase(&breaker), Phase::Open);
}

#[test]
fn a_threshold_that_is_reached_already_trips_at_once() {
    for (lower, trips) in [(7, false), (6, true), (3, true), (1, true)] {
        let failures = breaker(Any::failures(10, 100).unwrap());
        let row = breaker(Any::consecutive(10).unwrap());
        for breaker in [&failures, &row] {
            record(breaker, &[false; 6]);
        }
        adjust(&failures, Any::failures(lower, 100).unwrap());
        adjust(&row, Any::consecutive(lower).unwrap());
        let expected = if trips { Phase::Open } else { Phase::Closed };
        assert_eq!((phase(&failures), phase(&row)), (expected, expected));
    }
}

#[test]
fn failures_that_moved_into_lower_slots_do_not_count_twice() {
    let breaker = breaker(Any::failures(10, 100).unwrap());
    record(&breaker, &[false; 2]);
    breaker.clock().advance(60);
    record(&breaker, &[false; 3]);
    breaker.clock().advance(60); // the first two are forgotten
    adjust(&breaker, Any::failures(4, 100).unwrap());
    adjust(&breaker, Any::failures(10, 100).unwrap());
    record(&breaker, &[false; 6]);
    assert_eq!(phase(&breaker), Phase::Closed);
    record(&breaker, &[false]);
    assert_eq!(phase(&breaker), Phase::Open);
}

#[test]
fn a_higher_threshold_keeps_the_failures_too() {
    let breaker = breaker(Any::failures(3, 100).unwrap());
    record(&breaker, &[false; 2]);
    adjust(&breaker, Any::failures(5, 100).unwrap());
    record(&breaker, &[false; 2]);
    assert_eq!(phase(&breaker), Phase::Closed);
    record(&breaker, &[false]);
    assert_eq!(phase(&breaker), Phase::Open);
}

#[test]
fn a_rate_is_judged_anew_at_once() {
    let windows: [fn(u32) -> Any; 3] = [
        |percent| Any::calls(20, percent, 10).unwrap(),
        |percent| Any::calls(200, percent, 10).unwrap(),
        |percent| Any::time(1_000, 10, percent, 10).unwrap(),
    ];
    for window in windows {
        let breaker = breaker(window(80));
        record(&breaker, &[false, true].repeat(8));
        assert_eq!(phase(&breaker), Phase::Closed);
        adjust(&breaker, window(51));
        assert_eq!(phase(&breaker), Phase::Closed);
        adjust(&breaker, window(50));
        assert_eq!(phase(&breaker), Phase::Open);
    }
}

#[test]
fn the_last_calls_stay_whatever_the_new_size() {
    // 30 good calls, then 10 bad ones.
    let sizes = [20, 40, 60, 300, 1_000];
    for old in sizes {
        for new in sizes {
            let breaker = breaker(Any::calls(old, 100, old).unwrap());
            record(&breaker, &[true; 30]);
            record(&breaker, &[false; 10]);
            let kept = old.min(new).min(40);
            let percent = 1_000_u32.div_ceil(kept);
            adjust(&breaker, Any::calls(new, percent + 1, 1).unwrap());
            assert_eq!(phase(&breaker), Phase::Closed, "{old} to {new}");
            let reached = Any::calls(new, 1_000 / kept, kept).unwrap();
            adjust(&breaker, reached);
            assert_eq!(phase(&breaker), Phase::Open, "{old} to {new}");
        }
    }
}

#[test]
fn the_oldest_calls_still_leave_first_after_they_moved() {
    let breaker = breaker(Any::calls(60, 100, 60).unwrap());
    record(&breaker, &[false; 10]);
    record(&breaker, &[true; 50]);
    adjust(&breaker, Any::calls(300, 100, 300).unwrap());
    record(&breaker, &[true; 290]);
    adjust(&breaker, Any::calls(300, 1, 1).unwrap());
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[test]
fn calls_keep_their_age_when_the_span_changes() {
    let breaker = breaker(Any::time(1_000, 10, 100, 1_000).unwrap());
    record(&breaker, &[true; 6]);
    breaker.clock().advance(500);
    record(&breaker, &[false; 6]);
    // Still within the last 2 s: 6 of 12.
    adjust(&breaker, Any::time(2_000, 8, 51, 12).unwrap());
    assert_eq!(phase(&breaker), Phase::Closed);
    // Not within the last 300 ms: 6 of 6.
    adjust(&breaker, Any::time(300, 3, 100, 7).unwrap());
    assert_eq!(phase(&breaker), Phase::Closed);
    adjust(&breaker, Any::time(300, 3, 100, 6).unwrap());
    assert_eq!(phase(&breaker), Phase::Open);
}

#[test]
fn a_window_of_another_kind_starts_empty() {
    let kinds: [fn() -> Any; 5] = [
        || Any::failures(3, 1_000).unwrap(),
        || Any::consecutive(3).unwrap(),
        || Any::calls(3, 100, 3).unwrap(),
        || Any::calls(300, 100, 3).unwrap(),
        || Any::time(1_000, 10, 100, 3).unwrap(),
    ];
    for (i, old) in kinds.iter().enumerate() {
        for (j, new) in kinds.iter().enumerate() {
            let both_calls = (2..=3).contains(&i) && (2..=3).contains(&j);
            if i == j || both_calls {
                continue;
            }
            let breaker = breaker(old());
            record(&breaker, &[false; 2]);
            adjust(&breaker, new());
            record(&breaker, &[false; 2]);
            assert_eq!(phase(&breaker), Phase::Closed, "{i} to {j}");
            record(&breaker, &[false]);
            assert_eq!(phase(&breaker), Phase::Open, "{i} to {j}");
        }
    }
}

#[test]
fn a_rate_of_slow_calls_can_come_and_go() {
    let windows = |slow| WithSlow::new(Any::consecutive(2).unwrap(), slow);
    let breaker = Breaker::new(
        Adjustable::new(windows(Any::missing())),
        Config::DEFAULT,
        ManualClock::new(0),
    );
    let phase = || breaker.snapshot().phase;
    let slow = || breaker.allow().unwrap().slow();
    breaker.adjust(&windows(Any::calls(4, 100, 4).unwrap()), Config::DEFAULT);
    for _ in 0..3 {
        slow();
    }
    assert_eq!(phase(), Phase::Closed);
    slow();
    assert_eq!(phase(), Phase::Open);
    breaker.reset();
    breaker.adjust(&windows(Any::missing()), Config::DEFAULT);
    slow();
    assert_eq!(phase(), Phase::Closed);
    slow();
    assert_eq!(phase(), Phase::Open);
}

fn open_for(ms: u64) -> Config {
    Config::builder().open_for_ms(ms).build().unwrap()
}

#[test]
fn an_open_breaker_stays_open_for_what_was_left_within_the_new_bounds() {
    for (open_for_ms, left_ms) in [(100_000, 6_000), (6_000, 6_000), (50, 50), (1, 1)] {
        let breaker = breaker(Any::consecutive(1).unwrap());
        record(&breaker, &[false]);
        breaker.clock().advance(4_000);
        let generation = breaker.snapshot().generation;
        let config = open_for(open_for_ms);
        assert!(breaker.adjust(&Any::consecutive(1).unwrap(), config));
        let snapshot = breaker.snapshot();
        assert_eq!(
            (snapshot.phase, snapshot.generation),
            (Phase::Open, generation)
        );
        let left = snapshot.time_left_ms.unwrap();
        // Narrow words count in 1/128 of the span.
        let unit = (open_for_ms / 64) as u32;
        assert!(
            left <= left_ms && left + unit >= left_ms,
            "{left} of {left_ms}"
        );
        breaker.clock().advance(u64::from(left));
        assert!(breaker.allow().unwrap().is_probe());
    }
}

#[test]
fn a_probe_in_flight_still_decides() {
    let breaker = breaker(Any::consecutive(1).unwrap());
    record(&breaker, &[false]);
    breaker.clock().advance(10_000);
    let probe = breaker.allow().unwrap();
    let config = Config::builder().successes(2).probe_lease_ms(600).build();
    assert!(breaker.adjust(&Any::consecutive(1).unwrap(), config.unwrap()));
    assert_eq!(breaker.snapshot().in_flight, 1);
    probe.success();
    assert_eq!(phase(&breaker), Phase::HalfOpen);
    breaker.allow().unwrap().success();
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[test]
fn fewer_successes_than_there_were_close_with_the_next() {
    let breaker = breaker(Any::consecutive(1).unwrap());
    let patient = Config::builder().successes(5).build().unwrap();
    breaker.adjust(&Any::consecutive(1).unwrap(), patient);
    record(&breaker, &[false]);
    breaker.clock().advance(10_000);
    record(&breaker, &[true; 3]);
    breaker.adjust(&Any::consecutive(1).unwrap(), Config::DEFAULT);
    record(&breaker, &[true]);
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[test]
fn permits_given_out_before_still_count() {
    let breaker = breaker(Any::failures(2, 1_000).unwrap());
    let before = breaker.allow().unwrap();
    adjust(&breaker, Any::failures(1, 1_000).unwrap());
    before.failure();
    assert_eq!(phase(&breaker), Phase::Open);
}

#[test]
fn a_breaker_held_by_an_operator_stays_held() {
    let breaker = breaker(Any::failures(10, 1_000).unwrap());
    record(&breaker, &[false; 6]);
    breaker.isolate();
    adjust(&breaker, Any::failures(3, 1_000).unwrap());
    assert_eq!(phase(&breaker), Phase::Isolated);
    breaker.reset();
    assert_eq!(phase(&breaker), Phase::Closed);
    record(&breaker, &[false; 2]);
    assert_eq!(phase(&breaker), Phase::Closed);
}
