//! Plain services.

use std::convert::Infallible;
use std::future::{Ready, pending, poll_fn, ready};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use nanobreaker::tower::BreakerLayer;
use nanobreaker::{CallError, Outcome, Phase, SharedBreaker};
use tokio::time::{advance, sleep};
use tower::{BoxError, Service, ServiceBuilder, ServiceExt, service_fn};

use super::{breaker, builder, phase};

type Answer = Result<u32, &'static str>;

/// Answers with the request.
fn echo(answer: Answer) -> Ready<Answer> {
    ready(answer)
}

async fn ready_to_probe(breaker: &SharedBreaker) {
    breaker.trip();
    advance(Duration::from_secs(10)).await;
}

#[tokio::test(start_paused = true)]
async fn ok_is_a_success_and_err_a_failure_and_then_calls_are_rejected() {
    let breaker = breaker();
    let mut service = BreakerLayer::new(breaker.clone()).layer_fn(echo);
    assert_eq!(service.ready().await.unwrap().call(Ok(1)).await, Ok(1));
    assert_eq!(phase(&breaker), Phase::Closed);
    let failed = service.ready().await.unwrap().call(Err("down")).await;
    assert_eq!(failed, Err(CallError::Failed("down")));
    let rejected = service.ready().await.unwrap().call(Ok(1)).await;
    assert_eq!(rejected.unwrap_err().retry_after(), Some(Duration::from_secs(10)));
}

#[tokio::test(start_paused = true)]
async fn a_rejected_call_does_not_reach_the_service() {
    let breaker = breaker();
    breaker.trip();
    let untouched = |_: ()| -> Ready<Answer> { panic!("called") };
    let service = BreakerLayer::new(breaker).layer_fn(untouched);
    let rejected = service.oneshot(()).await;
    assert!(matches!(rejected, Err(CallError::Rejected(_))));
}

#[tokio::test(start_paused = true)]
async fn it_recovers_by_a_probe() {
    let breaker = breaker();
    let service = BreakerLayer::new(breaker.clone()).layer_fn(echo);
    ready_to_probe(&breaker).await;
    assert_eq!(service.oneshot(Ok(1)).await, Ok(1));
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_closure_judges_results() {
    let breaker = breaker();
    let layer = BreakerLayer::new(breaker.clone()).classify(|answer: &Answer| match answer {
        Ok(0) => Outcome::Failure,
        Ok(_) => Outcome::Success,
        Err(_) => Outcome::Ignored,
    });
    let service = layer.layer_fn(echo);
    assert!(service.clone().oneshot(Err("not found")).await.is_err());
    assert_eq!(phase(&breaker), Phase::Closed);
    assert_eq!(service.oneshot(Ok(0)).await, Ok(0));
    assert_eq!(phase(&breaker), Phase::Open);
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_ready_and_never_called_holds_no_probes_place() {
    let breaker = breaker();
    let layer = BreakerLayer::new(breaker.clone());
    let (mut idle, busy) = (layer.layer_fn(echo), layer.layer_fn(echo));
    ready_to_probe(&breaker).await;
    idle.ready().await.unwrap();
    assert_eq!(phase(&breaker), Phase::Open);
    assert_eq!(busy.oneshot(Ok(1)).await, Ok(1));
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_gives_the_probes_place_back() {
    let breaker = breaker();
    let mut service = BreakerLayer::new(breaker.clone()).layer_fn(|()| pending::<Result<(), Infallible>>());
    ready_to_probe(&breaker).await;
    let mut unpolled = Some(service.ready().await.unwrap().call(()));
    assert_eq!(breaker.snapshot().in_flight, 1);
    drop(unpolled.take());
    assert_eq!(breaker.snapshot().in_flight, 0);

    let mut polled = Box::pin(service.ready().await.unwrap().call(()));
    assert!(poll_once(&mut polled).await.is_pending());
    assert_eq!(breaker.snapshot().in_flight, 1);
    drop(polled);
    assert_eq!(breaker.snapshot().in_flight, 0);
    assert_eq!(phase(&breaker), Phase::HalfOpen);
}

pub(crate) async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll_fn(|context| Poll::Ready(std::pin::Pin::new(&mut *future).poll(context))).await
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_call_is_a_failure() {
    let breaker = breaker();
    let broken = |()| -> Ready<Answer> { panic!("broken") };
    let service = BreakerLayer::new(breaker.clone()).layer_fn(broken);
    let task = tokio::spawn(service.oneshot(()));
    assert!(task.await.unwrap_err().is_panic());
    assert_eq!(phase(&breaker), Phase::Open);
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_future_is_a_failure() {
    let breaker = breaker();
    let broken = |()| async { if true { panic!("broken") } else { Answer::Ok(1) } };
    let service = BreakerLayer::new(breaker.clone()).layer_fn(broken);
    let task = tokio::spawn(service.oneshot(()));
    assert!(task.await.unwrap_err().is_panic());
    assert_eq!(phase(&breaker), Phase::Open);
}

#[test]
fn a_call_that_is_polled_again_after_its_end_panics_clearly_and_counts_no_more() {
    fn poll<F: Future + Unpin>(call: &mut F) -> Poll<F::Output> {
        Pin::new(call).poll(&mut Context::from_waker(Waker::noop()))
    }
    let mut ends = Vec::new();
    for (answer, is_rejected) in [(Ok(1), false), (Err("down"), false), (Ok(1), true)] {
        // A failure trips at the second.
        let breaker = builder().consecutive(2).build().unwrap();
        if is_rejected {
            breaker.isolate();
        }
        let mut service = BreakerLayer::new(breaker.clone()).layer_fn(echo);
        assert!(poll(&mut service.ready()).is_ready());
        let mut call = service.call(answer);
        let Poll::Ready(end) = poll(&mut call) else { panic!("it waits") };
        ends.push(end.map_err(|error| error.rejected().is_some()));
        let panic = catch_unwind(AssertUnwindSafe(|| poll(&mut call))).unwrap_err();
        let message = panic.downcast_ref::<&str>().copied();
        assert_eq!(message, Some("a guarded call was polled again after it had ended"));
        drop(call);
        assert_eq!(phase(&breaker), if is_rejected { Phase::Isolated } else { Phase::Closed });
    }
    assert_eq!(ends, [Ok(1), Err(false), Err(true)]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_call_is_a_failure_where_no_rate_of_slow_calls_judges_it() {
    let breaker = builder().slow_after(Duration::from_millis(100)).build().unwrap();
    let service = BreakerLayer::new(breaker.clone()).layer_fn(|ms| async move {
        sleep(Duration::from_millis(ms)).await;
        Answer::Ok(1)
    });
    service.clone().oneshot(100).await.unwrap();
    assert_eq!(phase(&breaker), Phase::Closed);
    service.oneshot(101).await.unwrap();
    assert_eq!(phase(&breaker), Phase::Open);
}

#[tokio::test(start_paused = true)]
async fn a_hung_call_trips_before_it_returns() {
    let breaker = builder().hung_after(Duration::from_secs(1)).build().unwrap();
    let service = BreakerLayer::new(breaker.clone()).layer_fn(|()| async {
        sleep(Duration::from_secs(5)).await;
        Answer::Ok(1)
    });
    let call = tokio::spawn(service.oneshot(()));
    sleep(Duration::from_millis(999)).await;
    assert_eq!(phase(&breaker), Phase::Closed);
    sleep(Duration::from_millis(2)).await;
    assert_eq!(phase(&breaker), Phase::Open);
    assert_eq!(call.await.unwrap(), Ok(1));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_behind_the_breaker_is_a_failure_and_errors_can_be_boxes() {
    let breaker = breaker();
    let service = ServiceBuilder::new()
        .map_err(CallError::<BoxError>::into_boxed)
        .layer(BreakerLayer::new(breaker.clone()))
        .timeout(Duration::from_secs(1))
        .service_fn(|()| pending::<Answer>());
    let error = service.clone().oneshot(()).await.unwrap_err();
    assert!(error.is::<tower::timeout::error::Elapsed>());
    assert!(service.oneshot(()).await.unwrap_err().is::<nanobreaker::Rejection>());
}

/// Fails as it gets ready.
#[derive(Debug)]
struct Unready;

impl Service<()> for Unready {
    type Response = ();
    type Error = io::Error;
    type Future = Ready<io::Result<()>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Err(io::Error::other("no connection")))
    }

    fn call(&mut self, (): ()) -> Self::Future {
        panic!("called")
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_fails_to_get_ready_has_failed_a_call() {
    let breaker = breaker();
    let layer = BreakerLayer::new(breaker.clone());
    let mut service = tower::Layer::layer(&layer, Unready);
    let error = service.ready().await.unwrap_err();
    assert_eq!(error.into_failed().unwrap().to_string(), "no connection");
    assert_eq!(phase(&breaker), Phase::Open);
}

#[tokio::test(start_paused = true)]
async fn all_services_of_a_layer_share_its_breaker() {
    let layer = BreakerLayer::new(breaker());
    let (one, other) = (layer.layer_fn(echo), layer.layer_fn(echo));
    assert!(one.oneshot(Err("down")).await.is_err());
    let rejected = other.oneshot(Ok(1)).await;
    assert!(matches!(rejected, Err(CallError::Rejected(_))));
}

/// `layer.layer(service_fn(f))`, which every test here begins with.
trait LayerFn: Sized {
    type Layered<S>;
    fn layer_fn<F>(&self, function: F) -> Self::Layered<tower::util::ServiceFn<F>>;
}

impl<J: Clone> LayerFn for BreakerLayer<SharedBreaker, J> {
    type Layered<S> = nanobreaker::tower::BreakerService<S, SharedBreaker, J>;
    fn layer_fn<F>(&self, function: F) -> Self::Layered<tower::util::ServiceFn<F>> {
        tower::Layer::layer(self, service_fn(function))
    }
}

#[tokio::test(start_paused = true)]
async fn an_open_breaker_rejects_at_once_although_the_service_behind_is_not_ready() {
    let breaker = breaker();
    let limited = tower::ServiceBuilder::new()
        .layer(BreakerLayer::new(breaker.clone()))
        .concurrency_limit(1)
        .service(service_fn(|()| std::future::pending::<Result<(), Infallible>>()));
    let mut first = limited.clone();
    let _under_way = first.ready().await.unwrap().call(());
    let mut second = limited.clone();
    let waits = tokio::time::timeout(Duration::from_secs(1), second.ready());
    assert!(waits.await.is_err(), "closed: it waits for the limit");
    breaker.trip();
    let rejected = second.ready().await.unwrap().call(()).await;
    assert!(matches!(rejected, Err(CallError::Rejected(_))));
    // Its time is over: the next call is a probe, and waits again.
    advance(Duration::from_secs(10)).await;
    let waits = tokio::time::timeout(Duration::from_secs(1), second.ready());
    assert!(waits.await.is_err());
    assert_eq!(breaker.snapshot().in_flight, 0, "no place is held meanwhile");
}
