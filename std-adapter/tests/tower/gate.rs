//! Services that are not ready while their breaker would reject.

use std::future::ready;
use std::pin::pin;
use std::time::Duration;

use nanobreaker::tower::BreakerLayer;
use nanobreaker::{CallError, Phase};
use tokio::time::{advance, timeout};
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};

use super::service::poll_once;
use super::{breaker, phase};

type Answer = Result<u32, &'static str>;

macro_rules! gated {
    ($breaker:expr) => {
        BreakerLayer::new($breaker.clone()).gate().layer(service_fn(|answer: Answer| async move {
            tokio::task::yield_now().await;
            answer
        }))
    };
}

#[tokio::test(start_paused = true)]
async fn a_gate_is_not_ready_while_open_and_is_woken_for_the_probe() {
    let breaker = breaker();
    let mut service = gated!(breaker);
    assert!(service.ready().await.unwrap().call(Err("down")).await.is_err());
    let waits = timeout(Duration::from_secs(9), service.ready());
    assert!(waits.await.is_err(), "open for 10 s");
    let call =
        timeout(Duration::from_secs(2), service.ready()).await.expect("ready to probe").unwrap().call(Ok(1));
    assert_eq!(call.await, Ok(1));
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_gate_of_an_isolated_breaker_opens_within_a_second_of_the_reset() {
    let breaker = breaker();
    let mut service = gated!(breaker);
    breaker.isolate();
    assert!(timeout(Duration::from_secs(3_600), service.ready()).await.is_err());
    breaker.reset();
    timeout(Duration::from_millis(1_001), service.ready()).await.expect("asked again").unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_is_ready_holds_the_probes_place_until_it_is_dropped() {
    let breaker = breaker();
    breaker.trip();
    advance(Duration::from_secs(10)).await;
    let (mut first, mut second) = (gated!(breaker), gated!(breaker));
    first.ready().await.unwrap();
    assert_eq!(breaker.snapshot().in_flight, 1);
    assert!(timeout(Duration::from_secs(1), second.ready()).await.is_err(), "the place is taken");
    drop(first);
    assert_eq!(second.ready().await.unwrap().call(Ok(1)).await, Ok(1));
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_gate_asked_again_keeps_its_place_and_counts_nothing() {
    let breaker = breaker();
    breaker.trip();
    advance(Duration::from_secs(10)).await;
    let mut service = gated!(breaker);
    service.ready().await.unwrap();
    service.ready().await.unwrap();
    assert_eq!(breaker.snapshot().in_flight, 1);
    assert!(service.call(Err("still down")).await.is_err());
    assert_eq!(phase(&breaker), Phase::Open);
}

#[tokio::test(start_paused = true)]
async fn what_opens_between_ready_and_call_rejects() {
    let breaker = breaker();
    let mut service = gated!(breaker);
    service.ready().await.unwrap();
    breaker.trip();
    let rejected = service.call(Ok(1)).await;
    assert!(matches!(rejected, Err(CallError::Rejected(_))));
}

#[tokio::test(start_paused = true)]
async fn the_time_between_ready_and_call_makes_no_call_slow() {
    let breaker = super::builder().slow_after(Duration::from_millis(100)).build().unwrap();
    breaker.trip();
    advance(Duration::from_secs(10)).await;
    let mut service = BreakerLayer::new(breaker.clone()).gate().layer(service_fn(|()| ready(Answer::Ok(1))));
    service.ready().await.unwrap();
    advance(Duration::from_secs(1)).await;
    assert_eq!(pin!(service.call(())).await, Ok(1));
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_gate_whose_service_is_not_ready_takes_no_probes_place() {
    let breaker = breaker();
    breaker.trip();
    advance(Duration::from_secs(10)).await;
    let limit = ServiceBuilder::new().concurrency_limit(1).service(service_fn(|answer: Answer| async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        answer
    }));
    let under_way = tokio::spawn(limit.clone().oneshot(Ok(0)));
    tokio::task::yield_now().await;
    let gate = BreakerLayer::new(breaker.clone()).gate().layer(limit);
    // As behind a load shedder: each request asks once, and goes.
    for _ in 0..100 {
        let mut asked = gate.clone();
        assert!(poll_once(&mut pin!(asked.ready())).await.is_pending(), "the limit is full");
        assert!(breaker.snapshot().ready_to_probe(), "it was not asked");
    }
    assert_eq!(under_way.await.unwrap(), Ok(0));
    assert_eq!(gate.oneshot(Ok(1)).await, Ok(1));
    assert_eq!(phase(&breaker), Phase::Closed);
}
