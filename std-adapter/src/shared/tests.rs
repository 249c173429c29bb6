use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use nanobreaker_core::{ManualClock, Outcome, Phase, Rate, Transition, WindowSettings};

use super::*;
use crate::{CallExt, Handle};

/// The clock of this thread's breakers.
fn clock() -> &'static ManualClock {
    thread_local! {
        static CLOCK: &'static ManualClock = Box::leak(Box::new(ManualClock::new(0)));
    }
    CLOCK.with(|clock| *clock)
}

#[test]
fn threads_that_adjust_at_once_leave_the_settings_of_one_of_them() {
    let breaker = SharedBreaker::builder().build().unwrap();
    let one = || {
        SharedBreaker::builder()
            .failures(1, Duration::from_secs(1))
            .open_for(Duration::from_secs(1))
            .slow_after(Duration::from_secs(1))
    };
    let two = || {
        SharedBreaker::builder()
            .consecutive(2)
            .open_for(Duration::from_secs(2))
            .slow_after(Duration::from_secs(2))
    };
    for _ in 0..200 {
        let start = Barrier::new(2);
        thread::scope(|scope| {
            for builder in [one(), two()] {
                let (breaker, start) = (&breaker, &start);
                scope.spawn(move || {
                    start.wait();
                    breaker.adjust(&builder).unwrap();
                });
            }
        });
        let settings = breaker.settings();
        let seconds = match settings.window {
            WindowSettings::Failures { .. } => 1,
            _ => 2,
        };
        assert_eq!(settings.opening.open_for_ms, seconds * 1_000);
        assert_eq!(breaker.config().open_for_ms(), seconds as u32 * 1_000);
        assert_eq!(breaker.limits_ms(), [seconds as u32 * 1_000, 0]);
    }
}

#[test]
fn a_rejection_is_one_line_whatever_the_breakers_name() {
    let breaker = SharedBreaker::builder().name("a\nb\u{1b}[2J").build().unwrap();
    breaker.isolate();
    let line = breaker.call(|| Ok::<_, ()>(())).unwrap_err().rejected().unwrap().to_string();
    assert_eq!(line, r"the breaker a\nb\u{1b}[2J is isolated until it is reset");
}

#[test]
fn settings_are_read_back_as_they_were_put() {
    let breaker = SharedBreaker::builder().build().unwrap();
    let rate = Rate::permille(5).min_calls(50);
    let builder = SharedBreaker::builder()
        .failure_rate_of_time(Duration::from_secs(30), 10, rate)
        .slow_after(Duration::from_millis(100))
        .slow_rate_of_calls(20, Rate::percent(80))
        .max_probes(3);
    breaker.adjust(&builder).unwrap();
    let settings = breaker.settings();
    assert_eq!(settings.slow_after_ms, Some(100));
    assert_eq!(settings.opening.max_probes, 3);
    let refused = SharedBreaker::builder().slow_rate_of_calls(20, Rate::percent(101));
    let error = breaker.adjust(&refused).unwrap_err();
    assert_eq!(error.field(), "slow_rate_percent");
    assert_eq!(breaker.settings(), settings);
}

#[test]
fn limits_of_calls_that_can_not_be_are_refused() {
    for (builder, field) in [
        (SharedBreaker::builder().slow_after(Duration::ZERO), "slow_after_ms"),
        (SharedBreaker::builder().slow_after(Duration::MAX), "slow_after_ms"),
        (SharedBreaker::builder().hung_after(Duration::ZERO), "hung_after_ms"),
    ] {
        assert_eq!(builder.build().unwrap_err().field(), field);
    }
}

#[test]
fn a_failure_that_took_too_long_is_slow_as_well() {
    let breaker = SharedBreaker::builder()
        .clock(clock())
        .slow_after(Duration::from_millis(10))
        .slow_rate_of_calls(1, Rate::percent(100))
        .build()
        .unwrap();
    let _ = breaker.call(|| {
        clock().advance(11);
        Err::<(), _>(())
    });
    assert_eq!(breaker.phase(), Phase::Open, "of one call all were slow");
}

fn told(counter: &Arc<AtomicUsize>) -> impl Fn(&Transition) + Send + Sync + 'static {
    let counter = Arc::clone(counter);
    move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_listener_that_panics_keeps_nobody_else_from_hearing() {
    let heard = Arc::new(AtomicUsize::new(0));
    let breaker = SharedBreaker::builder()
        .consecutive(1)
        .on_transition(told(&heard))
        .on_transition(|_| panic!("a listener"))
        .on_transition(told(&heard))
        .build()
        .unwrap();
    let monitor = crate::observe::Monitor::new();
    let breaker = monitor.watch(breaker);
    let failed = breaker.call(|| Err::<(), _>("own error"));
    assert_eq!(failed.unwrap_err().into_failed(), Some("own error"));
    assert_eq!(heard.load(Ordering::Relaxed), 2);
    assert_eq!(monitor.breakers()[0].recent().len(), 1);
}

#[test]
fn listeners_hear_of_a_permit_that_is_dropped_while_a_panic_unwinds() {
    let heard = Arc::new(AtomicUsize::new(0));
    let breaker = SharedBreaker::builder()
        .consecutive(1)
        .clock(clock())
        .on_transition(|_| panic!("a listener"))
        .on_transition(told(&heard))
        .build()
        .unwrap();
    let _ = catch_unwind(AssertUnwindSafe(|| breaker.call(|| -> Result<(), ()> { panic!("the call") })));
    assert_eq!((breaker.phase(), heard.load(Ordering::Relaxed)), (Phase::Open, 1));
    // Probes given up, by permits that are dropped while a panic unwinds.
    clock().advance(10_000);
    let gives_up = || {
        let _permit = breaker.allow().unwrap();
        panic!("the caller");
    };
    while breaker.phase() != Phase::Open || breaker.snapshot().streak == 0 {
        let _ = catch_unwind(AssertUnwindSafe(gives_up));
    }
    assert_eq!(heard.load(Ordering::Relaxed), 3, "half-open, and open again");
}

#[test]
fn a_slot_is_used_again_and_calls_of_its_last_life_say_nothing() {
    // Slots are shared by all tests of the process, so it takes some lives until one comes round.
    let builder = || SharedBreaker::builder().consecutive(1);
    let heard = Arc::new(AtomicUsize::new(0));
    let first = builder().on_transition(told(&heard)).build().unwrap();
    let (reference, late) = (first.reference(), first.hold());
    let token = first.allow().unwrap().into_token();
    let twin = first.clone();
    drop(first);
    assert!(reference.is_alive());
    drop(twin);
    assert!(!reference.is_alive());
    assert_eq!(Arc::strong_count(&heard), 1, "what listeners hold is gone at once");
    let mut lives = Vec::new();
    let next = loop {
        let next = builder().build().unwrap();
        if std::ptr::eq(next.slot, late.slot) {
            break next;
        }
        lives.push(next);
        assert!(lives.len() < 20_000);
    };
    let _ = late.record(token, Outcome::Failure);
    assert_eq!(next.phase(), Phase::Closed);
    next.allow().unwrap().failure();
    assert_eq!((next.phase(), heard.load(Ordering::Relaxed)), (Phase::Open, 0));
    assert!(reference.call(|| Ok::<_, ()>(1)).is_ok(), "there is no breaker to ask");
}

#[test]
fn threads_that_make_and_drop_breakers_never_see_another_lifes_failures() {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut late = std::collections::VecDeque::new();
                for _ in 0..2_000 {
                    let breaker = SharedBreaker::builder().consecutive(1).build().unwrap();
                    late.push_back((breaker.hold(), breaker.allow().unwrap().into_token()));
                    if late.len() > 3
                        && let Some((held, token)) = late.pop_front()
                    {
                        let _ = held.record(token, Outcome::Failure);
                    }
                    assert_eq!(breaker.phase(), Phase::Closed);
                }
            });
        }
    });
}

#[test]
fn handles_can_be_sent_shared_and_shown() {
    fn is<T: Send + Sync + Clone + std::fmt::Debug + 'static>() {}
    is::<SharedBreaker>();
    is::<PinnedBreaker>();
    is::<BreakerRef>();
    let pinned = SharedBreaker::builder().build().unwrap().pin();
    assert!(pinned.call(|| Ok::<_, ()>(1)).is_ok());
    assert!(format!("{pinned:?}").contains("Closed"));
}
