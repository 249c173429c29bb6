use core::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::window::Adjustable;
use crate::{AdjustError, Breaker, Clock, ManualClock, Outcome, Phase, Rate, Recorded};
use crate::{ConfigBuilder, Settings, WindowSettings};

type Live<'a> = Breaker<Adjustable<129, 129>, &'a ManualClock>;

fn live<'a>(settings: &Settings, clock: &'a ManualClock) -> Live<'a> {
    Breaker::new(Adjustable::new(settings).unwrap(), (), clock)
}

fn in_a_row(threshold: u32, opening: ConfigBuilder) -> Settings {
    Settings { window: WindowSettings::Consecutive { threshold }, opening, ..Settings::DEFAULT }
}

fn opening(open_for_ms: u64) -> ConfigBuilder {
    Settings::DEFAULT.opening.open_for_ms(open_for_ms)
}

fn fail(breaker: &Live, times: u32) {
    for _ in 0..times {
        breaker.allow().unwrap().failure();
    }
}

#[test]
fn the_window_starts_empty_and_judges_by_the_new_rule() {
    let clock = ManualClock::new(0);
    let breaker = live(&in_a_row(5, opening(1_000)), &clock);
    fail(&breaker, 4);
    breaker.adjust(&in_a_row(3, opening(1_000))).unwrap();
    fail(&breaker, 2);
    assert_eq!(breaker.phase(), Phase::Closed);
    fail(&breaker, 1);
    assert_eq!(breaker.phase(), Phase::Open);
}

#[test]
fn every_kind_of_window_takes_the_place_of_every_other() {
    let rate = Rate::percent(100).min_calls(3);
    let kinds = [
        WindowSettings::Failures { threshold: 3, within_ms: 1_000 },
        WindowSettings::Consecutive { threshold: 3 },
        WindowSettings::Calls { size: 10, rate },
        WindowSettings::Calls { size: 100, rate },
        WindowSettings::Time { span_ms: 1_000, buckets: 64, rate },
    ];
    let clock = ManualClock::new(77);
    let breaker = live(&Settings::DEFAULT, &clock);
    for before in kinds {
        for after in kinds.into_iter().filter(|after| *after != before) {
            for window in [before, after] {
                breaker.adjust(&Settings { window, ..Settings::DEFAULT }).unwrap();
                fail(&breaker, 2);
                assert_eq!(breaker.phase(), Phase::Closed, "{before:?}, {after:?}");
            }
            fail(&breaker, 1);
            assert_eq!(breaker.phase(), Phase::Open, "{before:?}, {after:?}");
            breaker.reset();
        }
    }
}

#[test]
fn outcomes_under_way_are_stale() {
    let clock = ManualClock::new(0);
    let breaker = live(&in_a_row(1, opening(1_000)), &clock);
    let permit = breaker.allow().unwrap();
    breaker.adjust(&in_a_row(2, opening(1_000))).unwrap();
    assert_eq!(permit.record(Outcome::Failure), Recorded::Stale);
}

#[test]
fn an_open_time_goes_on_within_the_new_limits() {
    let clock = ManualClock::new(0);
    let breaker = live(&in_a_row(1, opening(10_000)), &clock);
    fail(&breaker, 1);
    for (new, left) in [(20_000, 10_000), (1_000, 1_000), (5_000, 1_000)] {
        breaker.adjust(&in_a_row(1, opening(new))).unwrap();
        assert_eq!(breaker.phase(), Phase::Open);
        let found = breaker.snapshot().time_left_ms.unwrap();
        // Late by a unit at most where words are narrow.
        assert!((left..=left + left / 1_000).contains(&found), "{new}: {found}");
    }
    clock.advance(1_024);
    breaker.adjust(&in_a_row(1, opening(9_000))).unwrap();
    assert!(breaker.snapshot().ready_to_probe(), "what is over stays over");
}

#[test]
fn times_go_on_in_other_units_at_any_time_of_the_clock() {
    for start in [0, 1 << 20, 1 << 31, 1 << 41, u64::MAX - 100_000] {
        let clock = ManualClock::new(start);
        let breaker = live(&in_a_row(1, opening(1_000)), &clock);
        fail(&breaker, 1);
        for (open_for_ms, latest) in [(60_000_000, 1_000 + 60_000_000 / 2_048), (1_000, 1_000)] {
            breaker.adjust(&in_a_row(1, opening(open_for_ms))).unwrap();
            let left = breaker.snapshot().time_left_ms.unwrap();
            assert!((1_000..=latest).contains(&left), "{start}: {left}");
            assert!(breaker.allow().is_err());
        }
    }
}

#[test]
fn a_half_open_round_begins_anew() {
    let clock = ManualClock::new(0);
    let breaker = live(&in_a_row(1, opening(1_000)), &clock);
    fail(&breaker, 1);
    clock.advance(1_024);
    let old = breaker.allow().unwrap();
    assert!(breaker.allow().is_err());
    breaker.adjust(&in_a_row(1, opening(2_000))).unwrap();
    assert_eq!(breaker.phase(), Phase::HalfOpen);
    let new = breaker.allow().unwrap();
    assert_eq!(old.record(Outcome::Success), Recorded::Stale);
    assert_eq!(breaker.phase(), Phase::HalfOpen);
    new.success();
    assert_eq!(breaker.phase(), Phase::Closed);
}

#[test]
fn a_ramp_goes_on_where_it_was() {
    let clock = ManualClock::new(0);
    let breaker = live(&in_a_row(1, opening(1_024).ramp_ms(2_048)), &clock);
    fail(&breaker, 1);
    clock.advance(1_024);
    breaker.allow().unwrap().success();
    clock.advance(512);
    breaker.adjust(&in_a_row(1, opening(1_024).ramp_ms(4_096))).unwrap();
    assert_eq!(breaker.phase(), Phase::Recovering);
    assert_eq!(breaker.snapshot().time_left_ms, Some(4_096 - 512));
    breaker.adjust(&in_a_row(1, opening(1_024).ramp_ms(256))).unwrap();
    breaker.allow().unwrap().success();
    assert_eq!(breaker.phase(), Phase::Closed, "the shorter ramp is over");
}

#[test]
fn the_time_since_closing_and_the_streak_are_kept() {
    let settings = |relapse| in_a_row(1, opening(1_024).max_open_ms(8_192).relapse_within_ms(relapse));
    for (relapse, streak) in [(4_096, 1), (512, 0)] {
        let clock = ManualClock::new(0);
        let breaker = live(&settings(1_024), &clock);
        fail(&breaker, 1);
        clock.advance(1_024);
        breaker.allow().unwrap().success();
        clock.advance(1_000);
        breaker.adjust(&settings(relapse)).unwrap();
        fail(&breaker, 1);
        assert_eq!(breaker.snapshot().streak, streak);
    }
}

#[test]
fn settings_that_are_in_place_change_nothing() {
    let clock = ManualClock::new(0);
    let breaker = live(&in_a_row(1, opening(1_000)), &clock);
    fail(&breaker, 1);
    clock.advance(1_024);
    let _lost = breaker.allow_token().unwrap();
    for _ in 0..5 {
        clock.advance(300);
        breaker.adjust(&in_a_row(1, opening(1_000))).unwrap();
    }
    assert!(breaker.allow().is_err());
    assert_eq!(breaker.phase(), Phase::Open, "the lease was over");
}

#[test]
fn a_wrong_setting_is_named_and_changes_nothing() {
    let clock = ManualClock::new(0);
    let breaker = live(&Settings::DEFAULT, &clock);
    let before = breaker.snapshot();
    let error = breaker.adjust(&in_a_row(0, opening(1_000))).unwrap_err();
    let AdjustError::Settings(error) = error else {
        panic!("a setting is wrong");
    };
    assert_eq!(error.field(), "threshold");
    assert_eq!(breaker.snapshot(), before);
}

#[test]
fn a_window_for_slow_calls_needs_room() {
    let settings =
        Settings { slow_window: Some(WindowSettings::Consecutive { threshold: 2 }), ..Settings::DEFAULT };
    let error = Adjustable::<5>::new(&settings).unwrap_err();
    assert_eq!(error.field(), "slow_window");
}

#[test]
fn slow_calls_and_limits_come_and_go_with_the_settings() {
    let clock = ManualClock::new(0);
    let breaker = live(&in_a_row(1, opening(1_000)), &clock);
    assert_eq!(breaker.limits_ms(), [0, 0]);
    let slow = Settings {
        slow_window: Some(WindowSettings::Consecutive { threshold: 2 }),
        slow_after_ms: Some(300),
        hung_after_ms: Some(2_000),
        ..in_a_row(1, opening(1_000))
    };
    breaker.adjust(&slow).unwrap();
    assert_eq!(breaker.limits_ms(), [300, 2_000]);
    breaker.allow().unwrap().slow();
    assert_eq!(breaker.phase(), Phase::Closed);
    breaker.allow().unwrap().slow();
    assert_eq!(breaker.phase(), Phase::Open);
    breaker.reset();
    breaker.adjust(&in_a_row(1, opening(1_000))).unwrap();
    breaker.allow().unwrap().slow();
    assert_eq!(breaker.phase(), Phase::Open, "a slow call is a failure");
}

#[test]
fn one_adjusts_at_a_time_however_often_others_try() {
    let clock = ManualClock::new(0);
    let breaker = live(&in_a_row(1, opening(1_000)), &clock);
    let other = in_a_row(2, opening(500));
    let turn = breaker.window.turn.hold().unwrap();
    for _ in 0..3 {
        assert_eq!(breaker.adjust(&other), Err(AdjustError::Busy));
        assert_eq!(breaker.config().open_for_ms(), 1_000);
    }
    drop(turn);
    breaker.adjust(&other).unwrap();
    assert_eq!(breaker.config().open_for_ms(), 500);
}

/// A clock that panics at one reading.
struct Fragile(Cell<bool>);

impl Clock for Fragile {
    fn now_ms(&self) -> u64 {
        assert!(!self.0.replace(false), "the clock broke");
        0
    }
}

#[test]
fn a_clock_that_panics_while_somebody_adjusts_keeps_no_one_from_it_later() {
    let settings = in_a_row(1, opening(1_000));
    let window = Adjustable::<1>::new(&settings).unwrap();
    let breaker = Breaker::new(window, (), Fragile(Cell::new(false)));
    breaker.allow().unwrap().record(Outcome::Failure);
    breaker.clock().0.set(true);
    let other = in_a_row(2, opening(500));
    catch_unwind(AssertUnwindSafe(|| breaker.adjust(&other))).unwrap_err();
    assert_eq!(breaker.config().open_for_ms(), 1_000);
    breaker.adjust(&other).unwrap();
    assert_eq!(breaker.config().open_for_ms(), 500);
}
