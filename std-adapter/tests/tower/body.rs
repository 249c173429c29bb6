//! Bodies that are judged at their end.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use http::{HeaderMap, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Empty, Full, StreamBody, channel::Channel, channel::Sender};
use nanobreaker::tower::{BreakerLayer, GuardedBody, ServerErrors, UntilBodyEnds};
use nanobreaker::{Outcome, Phase, PinnedBreaker, SharedBreaker};
use tokio::time::{advance, sleep};
use tower::{Layer, ServiceExt, service_fn};
use tower_http::classify::NeverClassifyEos;

use super::{breaker, builder, phase};

type Bytes = &'static [u8];
type Guarded<T> = GuardedBody<T, PinnedBreaker, NeverClassifyEos<()>>;

fn layer(breaker: &SharedBreaker) -> BreakerLayer<SharedBreaker, UntilBodyEnds<ServerErrors>> {
    BreakerLayer::http(breaker.clone()).until_body_ends()
}

/// What a caller gets for a response with this body.
async fn answered<T: Body>(breaker: &SharedBreaker, body: T) -> Guarded<T> {
    let mut body = Some(body);
    let respond = move |()| {
        let response = Ok::<_, Infallible>(Response::new(body.take().unwrap()));
        std::future::ready(response)
    };
    let response = layer(breaker).layer(service_fn(respond)).oneshot(()).await;
    response.unwrap().into_body()
}

/// A body that its sender is still writing.
async fn streaming(
    breaker: &SharedBreaker,
) -> (Sender<Bytes, io::Error>, Guarded<Channel<Bytes, io::Error>>) {
    let (sender, body) = Channel::new(4);
    (sender, answered(breaker, body).await)
}

/// A breaker whose next call is a probe, so that each outcome shows.
async fn probing() -> SharedBreaker {
    let breaker = breaker();
    breaker.trip();
    advance(Duration::from_secs(10)).await;
    breaker
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_outlives_the_lease_has_closed_the_breaker_by_its_head() {
    let breaker = probing().await;
    let (mut sender, mut body) = streaming(&breaker).await;
    assert_eq!(phase(&breaker), Phase::Closed);
    for _ in 0..3 {
        advance(Duration::from_secs(3_600)).await;
        sender.send_data(b"event").await.unwrap();
        body.frame().await.unwrap().unwrap();
    }
    // Its reader leaves after the last event.
    drop(body);
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_probes_body_counts_once_its_head_has_closed_the_breaker() {
    let breaker = probing().await;
    let (sender, mut body) = streaming(&breaker).await;
    assert_eq!(phase(&breaker), Phase::Closed);
    sender.abort(io::Error::other("connection reset"));
    assert!(body.frame().await.unwrap().is_err());
    assert_eq!(phase(&breaker), Phase::Open);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_breaks_is_a_failure_although_the_head_was_fine() {
    let breaker = breaker();
    let (sender, mut body) = streaming(&breaker).await;
    sender.abort(io::Error::other("connection reset"));
    assert!(body.frame().await.unwrap().is_err());
    assert_eq!(phase(&breaker), Phase::Open);
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_body_is_a_failure() {
    let breaker = breaker();
    let stream = tokio_stream::iter([()]);
    let broken =
        StreamBody::new(tokio_stream::StreamExt::map(stream, |()| -> Result<Frame<Bytes>, Infallible> {
            panic!("broken")
        }));
    let mut body = answered(&breaker, broken).await;
    let task = tokio::spawn(async move { body.frame().await.is_some() });
    assert!(task.await.unwrap_err().is_panic());
    assert_eq!(phase(&breaker), Phase::Open);
}

#[tokio::test(start_paused = true)]
async fn a_body_known_to_be_at_its_end_needs_no_poll() {
    let breaker = probing().await;
    let body = answered(&breaker, Empty::<Bytes>::new()).await;
    assert_eq!(phase(&breaker), Phase::Closed);
    drop(body);

    let breaker = probing().await;
    let mut body = answered(&breaker, Full::new(b"all" as Bytes)).await;
    assert_eq!(body.size_hint().exact(), Some(3));
    body.frame().await.unwrap().unwrap();
    assert!(body.is_end_stream());
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn trailers_end_a_body() {
    let breaker = breaker();
    let (mut sender, mut body) = streaming(&breaker).await;
    sender.send_trailers(HeaderMap::new()).await.unwrap();
    assert!(body.frame().await.unwrap().unwrap().is_trailers());
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_failed_head_is_judged_at_once() {
    let breaker = breaker();
    let (_sender, body) = Channel::<Bytes>::new(1);
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    let mut response = Some(response);
    let respond = move |()| std::future::ready(Ok::<_, Infallible>(response.take().unwrap()));
    let service = layer(&breaker).layer(service_fn(respond));
    let _unread = service.oneshot(()).await.unwrap();
    assert_eq!(phase(&breaker), Phase::Open);
}

#[tokio::test(start_paused = true)]
async fn a_quiet_stream_is_well_even_where_calls_that_hang_are_failures() {
    let builder = builder().hung_after(Duration::from_secs(1));
    let breaker = builder.build().unwrap();
    let (_sender, mut body) = streaming(&breaker).await;
    let frame = tokio::spawn(async move { body.frame().await.is_none() });
    sleep(Duration::from_secs(3_600)).await;
    assert_eq!(phase(&breaker), Phase::Closed);
    frame.abort();
}

#[tokio::test(start_paused = true)]
async fn a_body_that_falls_silent_is_a_failure_while_its_reader_waits_on() {
    let breaker = breaker();
    let layer = layer(&breaker).silent_after(Duration::from_secs(1));
    let (mut sender, body) = Channel::<Bytes, io::Error>::new(4);
    let mut body = Some(body);
    let respond = move |()| std::future::ready(Ok::<_, Infallible>(Response::new(body.take().unwrap())));
    let response = layer.layer(service_fn(respond)).oneshot(()).await;
    let mut body = response.unwrap().into_body();
    // The reader takes its time, which is no silence.
    sleep(Duration::from_secs(60)).await;
    for _ in 0..3 {
        let frame = tokio::spawn(async move {
            let frame = body.frame().await.unwrap().unwrap();
            (frame, body)
        });
        sleep(Duration::from_millis(900)).await;
        sender.send_data(b"part").await.unwrap();
        body = frame.await.unwrap().1;
    }
    assert_eq!(phase(&breaker), Phase::Closed);
    let frame = tokio::spawn(async move { body.frame().await.is_none() });
    sleep(Duration::from_millis(1_001)).await;
    assert_eq!(phase(&breaker), Phase::Open);
    drop(sender);
    assert!(frame.await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_goes_on_for_long_is_not_slow() {
    let breaker = builder().slow_after(Duration::from_millis(100)).build().unwrap();
    let (sender, mut body) = streaming(&breaker).await;
    sleep(Duration::from_secs(60)).await;
    drop(sender);
    assert!(body.frame().await.is_none());
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_head_that_came_late_is_slow_however_well_the_body_ends() {
    let breaker = builder().slow_after(Duration::from_millis(100)).build().unwrap();
    let late = service_fn(|()| async {
        sleep(Duration::from_millis(101)).await;
        Ok::<_, Infallible>(Response::new(Full::new(b"all" as Bytes)))
    });
    let mut body = layer(&breaker).layer(late).oneshot(()).await.unwrap().into_body();
    assert_eq!(phase(&breaker), Phase::Closed);
    body.frame().await.unwrap().unwrap();
    assert_eq!(phase(&breaker), Phase::Open);
}

#[tokio::test(start_paused = true)]
async fn a_closure_judges_the_head_and_then_the_body_decides() {
    let breaker = breaker();
    let judge = |result: &Result<Response<Channel<Bytes, io::Error>>, Infallible>| match result {
        Ok(response) if response.status() == StatusCode::NOT_FOUND => Outcome::Ignored,
        _ => Outcome::Success,
    };
    let layer = BreakerLayer::new(breaker.clone()).classify(judge).until_body_ends();
    let (sender, body) = Channel::new(1);
    let mut body = Some(body);
    let respond = move |()| std::future::ready(Ok(Response::new(body.take().unwrap())));
    let response = layer.layer(service_fn(respond)).oneshot(()).await;
    let mut body = response.unwrap().into_body();
    sender.abort(io::Error::other("connection reset"));
    assert!(body.frame().await.unwrap().is_err());
    assert_eq!(phase(&breaker), Phase::Open);
}
