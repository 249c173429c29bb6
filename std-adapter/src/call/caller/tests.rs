use std::cell::Cell;
use std::future::{pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Waker;

use nanobreaker_core::window::{Calls, Consecutive, WithSlow};
use nanobreaker_core::{Config, ManualClock, Observer, Phase, Rate, Transition};
use tokio::task::yield_now;
use tokio::time::{advance, sleep};

use super::*;
use crate::{CallExt, SharedBreaker, TokioClock};

type Failed = Result<u32, &'static str>;

fn breaker() -> Breaker<Consecutive, ManualClock> {
    Breaker::new(Consecutive::new(1).unwrap(), Config::DEFAULT, ManualClock::new(0))
}

/// A breaker whose next call is a probe.
fn ready_to_probe() -> Breaker<Consecutive, ManualClock> {
    let breaker = breaker();
    breaker.trip();
    breaker.clock().advance(10_000);
    breaker
}

fn in_flight<W: Window, C: Clock, O: Observer>(breaker: &Breaker<W, C, O>) -> u8 {
    breaker.snapshot().in_flight
}

#[test]
fn ok_is_a_success_and_err_a_failure() {
    let breaker = breaker();
    assert_eq!(breaker.call(|| Failed::Ok(1)), Ok(1));
    assert_eq!(breaker.snapshot().phase, Phase::Closed);
    assert_eq!(breaker.call(|| Failed::Err("no")), Err(CallError::Failed("no")));
    assert_eq!(breaker.snapshot().phase, Phase::Open);
}

#[test]
fn a_rejected_call_is_not_made() {
    let breaker = breaker();
    breaker.trip();
    let answer = breaker.call(|| -> Failed { panic!("made") });
    assert!(matches!(answer, Err(CallError::Rejected(_))));
}

#[test]
fn a_classifier_turns_results_round_and_ignores_some() {
    let breaker = breaker();
    let caller = breaker.calls().classify(|result: &Failed| match result {
        Ok(0) => Outcome::Failure,
        Ok(_) => Outcome::Success,
        Err(error) if error.starts_with("404") => Outcome::Ignored,
        Err(_) => Outcome::Success,
    });
    assert!(caller.call(|| Err("404 not found")).is_err());
    assert!(caller.call(|| Err("conflict")).is_err());
    assert_eq!(breaker.snapshot().phase, Phase::Closed);
    assert_eq!(caller.call(|| Ok(0)), Ok(0));
    assert_eq!(breaker.snapshot().phase, Phase::Open);
}

#[test]
fn a_panic_in_the_call_is_a_failure_and_goes_on_unwinding() {
    let breaker = breaker();
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _ = breaker.call(|| -> Failed { panic!("broken") });
    }));
    assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"broken"));
    assert_eq!(breaker.snapshot().phase, Phase::Open);
}

#[tokio::test]
async fn a_panic_in_the_future_is_a_failure_and_goes_on_unwinding() {
    let breaker = Arc::new(breaker());
    let shared = Arc::clone(&breaker);
    let task = tokio::spawn(async move {
        let call = async {
            yield_now().await;
            panic!("broken")
        };
        let _: Result<u32, CallError<()>> = shared.call_async(call).await;
    });
    assert!(task.await.unwrap_err().is_panic());
    assert_eq!(breaker.snapshot().phase, Phase::Open);
}

#[test]
fn a_classifier_that_panics_gives_the_probes_place_back() {
    let breaker = ready_to_probe();
    let caller = breaker.calls().classify(|_: &Failed| panic!("can not tell"));
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _ = caller.call(|| Ok(1));
    }));
    assert!(caught.is_err());
    assert_eq!(breaker.snapshot().phase, Phase::HalfOpen);
    assert_eq!(in_flight(&breaker), 0);
}

struct Panics;

impl Observer for Panics {
    fn transition(&self, _: &Transition) {
        panic!("observer")
    }
}

fn with_observer<O: Observer>(observer: O) -> Breaker<Consecutive, ManualClock, O> {
    Breaker::with_observer(Consecutive::new(1).unwrap(), Config::DEFAULT, ManualClock::new(0), observer)
}

#[test]
fn an_observer_that_panics_leaks_no_place_and_undoes_no_transition() {
    let breaker = with_observer(Panics);
    assert!(catch_unwind(AssertUnwindSafe(|| breaker.call(|| Failed::Err("no")))).is_err());
    assert_eq!(breaker.snapshot().phase, Phase::Open);
    breaker.clock().advance(10_000);
    // It panics again as the first probe is admitted.
    assert!(catch_unwind(AssertUnwindSafe(|| breaker.call(|| Failed::Ok(1)))).is_err());
    assert_eq!(breaker.snapshot().phase, Phase::HalfOpen);
    assert_eq!(in_flight(&breaker), 0);
}

#[test]
fn an_observer_that_panics_while_the_call_panics_does_not_abort() {
    let breaker = with_observer(Panics);
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _ = breaker.call(|| -> Failed { panic!("first") });
    }));
    assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"first"));
    assert_eq!(breaker.snapshot().phase, Phase::Open);
}

#[test]
fn a_classifier_may_call_the_breaker_again() {
    let breaker = ready_to_probe();
    let nested = Cell::new(None);
    let caller = breaker.calls().classify(|_: &Failed| {
        nested.set(Some(breaker.call(|| Failed::Ok(2)).is_err()));
        Outcome::Success
    });
    assert_eq!(caller.call(|| Ok(1)), Ok(1));
    assert_eq!(nested.get(), Some(true), "the only place was taken");
    assert_eq!(breaker.snapshot().phase, Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn an_observer_may_call_the_breaker_again() {
    use std::sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    };
    static BREAKER: OnceLock<SharedBreaker> = OnceLock::new();
    static REJECTED: AtomicU32 = AtomicU32::new(0);
    let breaker = BREAKER.get_or_init(|| {
        SharedBreaker::builder()
            .consecutive(1)
            .clock(TokioClock::new())
            .on_transition(|_| {
                if let Some(breaker) = BREAKER.get()
                    && breaker.allow().is_err()
                {
                    REJECTED.fetch_add(1, Ordering::Relaxed);
                }
            })
            .build()
            .unwrap()
    });
    let _ = breaker.call(|| Failed::Err("no"));
    assert_eq!(REJECTED.load(Ordering::Relaxed), 1);
}

/// A future that is pending `polls` times, then fails.
async fn fails_after(polls: u32) -> Failed {
    for _ in 0..polls {
        yield_now().await;
    }
    Err("no")
}

#[test]
fn dropping_the_future_at_any_await_point_gives_the_probes_place_back() {
    let mut context = std::task::Context::from_waker(Waker::noop());
    for polls in 0..=4 {
        let breaker = ready_to_probe();
        let mut call = Box::pin(breaker.call_async(fails_after(4)));
        for _ in 0..polls {
            assert!(call.as_mut().poll(&mut context).is_pending());
        }
        assert_eq!(in_flight(&breaker), u8::from(polls > 0));
        drop(call);
        assert_eq!(in_flight(&breaker), 0, "dropped after {polls} polls");
        let expected = if polls > 0 { Phase::HalfOpen } else { Phase::Open };
        assert_eq!(breaker.snapshot().phase, expected);
    }
    let breaker = ready_to_probe();
    let mut call = Box::pin(breaker.call_async(fails_after(4)));
    while call.as_mut().poll(&mut context).is_pending() {}
    assert_eq!(breaker.snapshot().phase, Phase::Open);
    assert_eq!(breaker.snapshot().streak, 1);
}

#[test]
fn a_future_that_is_never_polled_takes_no_place() {
    let breaker = ready_to_probe();
    drop(breaker.call_async(ready(Failed::Ok(1))));
    assert_eq!(breaker.snapshot().phase, Phase::Open);
}

fn with_slow_window() -> Breaker<WithSlow<Consecutive, Calls<1>>, TokioClock> {
    let failed = Consecutive::new(1).unwrap();
    let slow = Calls::<1>::new(1, Rate::percent(100)).unwrap();
    Breaker::new(WithSlow::new(failed, slow), Config::DEFAULT, TokioClock::new())
}

#[tokio::test(start_paused = true)]
async fn a_success_that_took_too_long_is_slow() {
    let breaker = with_slow_window();
    let caller = breaker.calls().slow_after(Duration::from_millis(100));
    let takes = |ms| async move {
        sleep(Duration::from_millis(ms)).await;
        Failed::Ok(1)
    };
    assert_eq!(caller.call_async(takes(100)).await, Ok(1));
    assert_eq!(breaker.snapshot().phase, Phase::Closed);
    assert_eq!(caller.call_async(takes(101)).await, Ok(1));
    assert_eq!(breaker.snapshot().phase, Phase::Open);
}

#[tokio::test(start_paused = true)]
async fn a_future_dropped_after_it_ran_too_long_is_slow() {
    let breaker = with_slow_window();
    let caller = breaker.calls().slow_after(Duration::from_millis(100));
    for (gives_up_after, phase) in [(100, Phase::Closed), (101, Phase::Open)] {
        let call = caller.call_async(pending::<Failed>());
        let gave_up = tokio::time::timeout(Duration::from_millis(gives_up_after), call).await;
        assert!(gave_up.is_err());
        assert_eq!(breaker.snapshot().phase, phase);
    }
}

#[tokio::test(start_paused = true)]
async fn a_hung_call_trips_before_it_returns_and_its_caller_still_gets_the_answer() {
    let breaker = Arc::new(Breaker::new(Consecutive::new(1).unwrap(), Config::DEFAULT, TokioClock::new()));
    let shared = Arc::clone(&breaker);
    let call = tokio::spawn(async move {
        let slow = async {
            sleep(Duration::from_secs(30)).await;
            Failed::Ok(1)
        };
        let caller = shared.calls().hung_after(Duration::from_secs(1));
        caller.call_async(slow).await
    });
    yield_now().await;
    advance(Duration::from_millis(999)).await;
    assert_eq!(breaker.snapshot().phase, Phase::Closed);
    sleep(Duration::from_millis(2)).await;
    assert_eq!(breaker.snapshot().phase, Phase::Open);
    let generation = breaker.snapshot().generation;
    assert_eq!(call.await.unwrap(), Ok(1));
    // The late answer counted no more.
    assert_eq!(breaker.snapshot().generation, generation);
    assert_eq!(breaker.snapshot().phase, Phase::Open);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_returns_in_time_is_not_hung() {
    let breaker = Breaker::new(Consecutive::new(1).unwrap(), Config::DEFAULT, TokioClock::new());
    let caller = breaker.calls().hung_after(Duration::from_secs(1));
    let call = async {
        sleep(Duration::from_millis(999)).await;
        Failed::Ok(1)
    };
    assert_eq!(caller.call_async(call).await, Ok(1));
    advance(Duration::from_secs(5)).await;
    assert_eq!(breaker.snapshot().phase, Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_hung_probe_has_failed_once() {
    let breaker = Breaker::new(
        Consecutive::new(1).unwrap(),
        Config::builder().probe_failures(2).probe_lease_ms(60_000).build().unwrap(),
        TokioClock::new(),
    );
    breaker.trip();
    advance(Duration::from_secs(10)).await;
    let caller = breaker.calls().hung_after(Duration::from_secs(1));
    let call = caller.call_async(pending::<Failed>());
    assert!(tokio::time::timeout(Duration::from_secs(5), call).await.is_err());
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.failed, snapshot.in_flight), (1, 0));
    assert_eq!(snapshot.phase, Phase::HalfOpen);
}

#[test]
fn calls_run_on_any_executor_without_allocating_a_task() {
    let breaker = breaker();
    let mut context = std::task::Context::from_waker(Waker::noop());
    let call = pin!(breaker.call_async(ready(Failed::Ok(1))));
    assert_eq!(call.poll(&mut context), std::task::Poll::Ready(Ok(1)));
}

#[test]
fn a_probe_whose_code_calls_through_the_same_breaker_can_succeed() {
    let breaker = ready_to_probe();
    let answer = breaker.call(|| {
        let inner = breaker.call(|| Failed::Ok(1));
        assert_eq!(in_flight(&breaker), 1, "the inner call takes no place");
        inner.map_err(|_| "rejected")
    });
    assert_eq!((answer, breaker.phase()), (Ok(1), Phase::Closed));
    // What the probe makes of it counts, and it ends with the probe.
    breaker.trip();
    assert!(breaker.call(|| Failed::Ok(1)).is_err());
}

#[tokio::test]
async fn an_async_probe_whose_code_calls_through_the_same_breaker_can_succeed() {
    let breaker = ready_to_probe();
    let answer = breaker
        .call_async(async {
            yield_now().await;
            let inner = breaker.call_async(async {
                yield_now().await;
                Failed::Ok(1)
            });
            inner.await.map_err(|_| "rejected")
        })
        .await;
    assert_eq!((answer, breaker.phase()), (Ok(1), Phase::Closed));
}

#[test]
fn a_panic_in_a_probe_leaves_no_trace_of_it_on_the_thread() {
    let breaker = ready_to_probe();
    let _ = catch_unwind(AssertUnwindSafe(|| breaker.call(|| -> Failed { panic!("broken") })));
    assert_eq!(breaker.phase(), Phase::Open);
    assert!(breaker.call(|| Failed::Ok(1)).is_err());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_does_not_end_in_its_time_is_told_so_and_counts() {
    let breaker = breaker();
    let caller = breaker.calls().timeout(Duration::from_millis(50));
    let takes = |ms| async move {
        sleep(Duration::from_millis(ms)).await;
        Failed::Ok(1)
    };
    assert_eq!(caller.call_async(takes(49)).await, Ok(1));
    assert_eq!(caller.call_async(ready(Failed::Err("own"))).await, Err(CallError::Failed("own")));
    breaker.reset();
    assert_eq!(caller.call_async(takes(51)).await, Err(CallError::TimedOut));
    assert_eq!(breaker.phase(), Phase::Open);
    assert!(matches!(caller.call_async(takes(1)).await, Err(CallError::Rejected(_))));
}

#[test]
fn a_future_that_is_polled_after_its_end_panics_and_counts_nothing() {
    let breaker = breaker();
    let mut call = pin!(breaker.call_async(ready(Failed::Ok(1))));
    let mut context = std::task::Context::from_waker(Waker::noop());
    assert!(call.as_mut().poll(&mut context).is_ready());
    let again = catch_unwind(AssertUnwindSafe(|| {
        let _ = call.as_mut().poll(&mut context);
    }));
    let message = again.unwrap_err().downcast_ref::<&str>().map(ToString::to_string);
    assert_eq!(message.as_deref(), Some("a guarded call was polled again after it had ended"));
    assert_eq!(breaker.phase(), Phase::Closed);
}
