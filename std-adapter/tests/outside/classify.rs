//! A breaker's own classifiers, through each of its doors.

use std::convert::Infallible;
use std::future::ready;
use std::io::{self, ErrorKind};
use std::num::ParseIntError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use nanobreaker::tower::BreakerLayer;
use nanobreaker::{CallError, CallExt, Outcome, Phase, SharedBreaker, SharedBreakerBuilder, classify};
use tower::{Layer, ServiceExt, service_fn};

fn builder() -> SharedBreakerBuilder {
    SharedBreaker::builder().consecutive(1).classify(classify::io)
}

fn breaker() -> SharedBreaker {
    builder().build().unwrap()
}

fn fails(kind: ErrorKind) -> Result<u32, io::Error> {
    Err(kind.into())
}

/// That the breaker ignored the first kind, and opens on the second.
fn judges<E>(breaker: &SharedBreaker, call: impl Fn(ErrorKind) -> Result<u32, CallError<E>>) {
    for _ in 0..3 {
        assert!(matches!(call(ErrorKind::NotFound), Err(CallError::Failed(_))));
        assert_eq!(breaker.phase(), Phase::Closed);
    }
    assert!(matches!(call(ErrorKind::ConnectionReset), Err(CallError::Failed(_))));
    assert_eq!(breaker.phase(), Phase::Open);
}

#[tokio::test]
async fn every_door_judges_errors_as_the_breaker_does() {
    let plain = breaker();
    judges(&plain, |kind| plain.call(|| fails(kind)));
    let limited = builder().slow_after(Duration::from_secs(1)).build().unwrap();
    judges(&limited, |kind| limited.call(|| fails(kind)));
    let held = breaker();
    judges(&held, |kind| held.calls().call(|| fails(kind)));
    let pinned = breaker();
    judges(&pinned, |kind| pinned.clone().pin().call(|| fails(kind)));
    let referred = breaker();
    judges(&referred, |kind| referred.reference().call(|| fails(kind)));

    let now = |call| futures_now(call);
    let asynchronous = breaker();
    judges(&asynchronous, |kind| now(Box::pin(asynchronous.call_async(ready(fails(kind))))));
    let timed = breaker();
    let calls = timed.calls().timeout(Duration::from_secs(1));
    judges(&timed, |kind| now(Box::pin(calls.call_async(ready(fails(kind))))));
}

/// What a future comes to that is ready.
fn futures_now<T>(mut call: std::pin::Pin<Box<dyn Future<Output = T> + '_>>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match call.as_mut().poll(&mut context) {
        std::task::Poll::Ready(answer) => answer,
        std::task::Poll::Pending => panic!("it waits"),
    }
}

type Page = http::Response<axum::body::Body>;

#[tokio::test]
async fn layers_judge_errors_as_the_breaker_does() {
    let of_any = breaker();
    let service = BreakerLayer::new(of_any.clone()).layer(service_fn(|kind| ready(fails(kind))));
    service.clone().oneshot(ErrorKind::NotFound).await.unwrap_err();
    assert_eq!(of_any.phase(), Phase::Closed);
    service.oneshot(ErrorKind::ConnectionReset).await.unwrap_err();
    assert_eq!(of_any.phase(), Phase::Open);

    let request = || http::Request::new(());
    for (kind, phase) in [(ErrorKind::NotFound, Phase::Closed), (ErrorKind::BrokenPipe, Phase::Open)] {
        let inner = service_fn(move |_: http::Request<()>| ready(Err::<Page, _>(io::Error::from(kind))));
        let of_http = breaker();
        BreakerLayer::http(of_http.clone()).layer(inner).oneshot(request()).await.unwrap_err();
        let to_its_end = breaker();
        let layer = BreakerLayer::http(to_its_end.clone()).until_body_ends();
        layer.layer(inner).oneshot(request()).await.unwrap_err();
        let of_grpc = breaker();
        BreakerLayer::grpc(of_grpc.clone()).layer(inner).oneshot(request()).await.unwrap_err();
        assert_eq!([of_http.phase(), to_its_end.phase(), of_grpc.phase()], [phase; 3], "{kind:?}");
    }
}

#[test]
fn what_a_call_or_a_layer_says_itself_comes_first() {
    let breaker = breaker();
    let all_fail = |_: &Result<u32, io::Error>| Outcome::Failure;
    let _ = breaker.calls().classify(all_fail).call(|| fails(ErrorKind::NotFound));
    assert_eq!(breaker.phase(), Phase::Open);
}

#[test]
fn each_type_of_errors_has_its_classifier_and_the_last_one_holds() {
    let by_length = |result: &Result<Infallible, String>| match result {
        Err(error) if error.len() < 3 => Outcome::Ignored,
        _ => Outcome::Failure,
    };
    let none_counts = |_: &Result<Infallible, io::Error>| Outcome::Ignored;
    let breaker = builder().classify(by_length).classify(none_counts).build().unwrap();
    let _ = breaker.call(|| fails(ErrorKind::ConnectionReset));
    let _ = breaker.call(|| Err::<(), _>("no".to_owned()));
    assert_eq!(breaker.phase(), Phase::Closed);
    // Nobody has said what these are.
    let _ = breaker.call(|| "x".parse::<u32>() as Result<u32, ParseIntError>);
    assert_eq!(breaker.phase(), Phase::Open);
}

#[test]
fn a_classifier_that_panics_leaves_the_call_without_outcome_and_the_error_is_the_callers() {
    let panics = |_: &Result<Infallible, u32>| panic!("can not tell");
    let breaker = builder().classify(panics).probe_successes(1).build().unwrap();
    let call = || breaker.call(|| Err::<(), _>(7_u32));
    assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
    assert_eq!(breaker.phase(), Phase::Closed);
    let own = breaker.call(|| Err::<(), _>("own"));
    assert_eq!(own, Err(CallError::Failed("own")));
}

#[test]
fn classifiers_are_gone_with_their_breaker() {
    let kept = Arc::new(());
    let holds = Arc::clone(&kept);
    let classifier = move |_: &Result<Infallible, io::Error>| {
        let _ = &holds;
        Outcome::Ignored
    };
    let breaker = SharedBreaker::builder().classify(classifier).build().unwrap();
    assert_eq!(Arc::strong_count(&kept), 2);
    drop(breaker);
    assert_eq!(Arc::strong_count(&kept), 1);
    // Its place is another's now, which judges all errors as failures.
    let next: Vec<_> = (0..100).map(|_| SharedBreaker::builder().consecutive(1).build().unwrap()).collect();
    for breaker in next {
        let _ = breaker.call(|| fails(ErrorKind::NotFound));
        assert_eq!(breaker.phase(), Phase::Open);
    }
}
