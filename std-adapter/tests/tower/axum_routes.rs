//! Breakers in front of the routes of a real axum server.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use nanobreaker::axum::{AnswerLayer, guard};
use nanobreaker::tower::BreakerLayer;
use nanobreaker::{CallError, CallExt, Phase, SharedBreaker};
use tower::{Service, ServiceExt};

use crate::servers::{clock, manual_breaker, phase, serve};

/// A route that answers with the status that the test sets.
fn route(status: &Arc<AtomicU16>) -> axum::routing::MethodRouter {
    let status = Arc::clone(status);
    get(async move || StatusCode::from_u16(status.load(Ordering::SeqCst)).unwrap())
}

fn status_of(status: u16) -> Arc<AtomicU16> {
    Arc::new(AtomicU16::new(status))
}

#[tokio::test]
async fn an_open_breaker_answers_503_with_retry_after_in_seconds_rounded_up() {
    let (breaker, status) = (manual_breaker(), status_of(500));
    let app = Router::new().route("/", route(&status).layer(guard(breaker.clone())));
    let base = serve(app).await;
    assert_eq!(reqwest::get(&base).await.unwrap().status(), 500);
    clock().advance(1);

    let rejected = reqwest::get(&base).await.unwrap();
    assert_eq!(rejected.status(), 503);
    assert_eq!(rejected.headers()["retry-after"], "10");

    clock().advance(9_999);
    status.store(200, Ordering::SeqCst);
    assert_eq!(reqwest::get(&base).await.unwrap().status(), 200);
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test]
async fn an_isolated_breaker_names_no_time() {
    let breaker = manual_breaker();
    breaker.isolate();
    let app = Router::new().route("/", route(&status_of(200)).layer(guard(breaker)));
    let rejected = reqwest::get(serve(app).await).await.unwrap();
    assert_eq!(rejected.status(), 503);
    assert!(!rejected.headers().contains_key("retry-after"));
}

#[tokio::test]
async fn each_route_has_its_own_breaker_or_all_share_one() {
    let (one, all) = (manual_breaker(), manual_breaker());
    let app = Router::new()
        .route("/alone", route(&status_of(500)).layer(guard(one.clone())))
        .route("/down", route(&status_of(500)))
        .route("/well", route(&status_of(200)))
        .layer(guard(all.clone()));
    let base = serve(app).await;
    for path in ["/well", "/alone"] {
        reqwest::get(format!("{base}{path}")).await.unwrap();
    }
    assert_eq!((phase(&one), phase(&all)), (Phase::Open, Phase::Open));
    let rejected = reqwest::get(format!("{base}/well")).await.unwrap();
    assert_eq!(rejected.status(), 503);
}

#[tokio::test]
async fn another_answer_can_stand_in() {
    let breaker = manual_breaker();
    breaker.trip();
    let layers = (AnswerLayer::with(|_| "yesterday's"), BreakerLayer::http(breaker).until_body_ends());
    let app = Router::new().route("/", route(&status_of(200)).layer(layers));
    let answer = reqwest::get(serve(app).await).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.text().await.unwrap(), "yesterday's");
}

#[tokio::test]
async fn a_body_judged_to_its_end_reaches_the_client_whole() {
    let breaker = manual_breaker();
    breaker.trip();
    clock().advance(10_000);
    let layers = (AnswerLayer::new(), BreakerLayer::http(breaker.clone()).until_body_ends());
    let app = Router::new().route("/", get(async || "x".repeat(100_000)).layer(layers));
    let answer = reqwest::get(serve(app).await).await.unwrap();
    assert_eq!(answer.text().await.unwrap().len(), 100_000);
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test]
async fn a_handler_returns_the_error_of_a_guarded_call() {
    async fn handler(breaker: SharedBreaker) -> Result<(), CallError<StatusCode>> {
        breaker.call_async(async { Err(StatusCode::IM_A_TEAPOT) }).await
    }
    let breaker = manual_breaker();
    let app = Router::new().route("/", get(move || handler(breaker.clone())));
    let base = serve(app).await;
    assert_eq!(reqwest::get(&base).await.unwrap().status(), 418);
    let rejected = reqwest::get(&base).await.unwrap();
    assert_eq!(rejected.status(), 503);
    assert_eq!(rejected.headers()["retry-after"], "10");
}

/// Asks its breaker as it gets ready, which ours do not.
#[derive(Clone)]
struct Eager(nanobreaker::Rejected);

impl tower::Service<axum::extract::Request> for Eager {
    type Response = axum::response::Response;
    type Error = CallError<Infallible>;
    type Future = std::future::Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
        std::task::Poll::Ready(Err(CallError::from(self.0)))
    }

    fn call(&mut self, _: axum::extract::Request) -> Self::Future {
        panic!("called before it was ready")
    }
}

#[tokio::test]
async fn a_service_that_is_rejected_as_it_gets_ready_is_answered_too() {
    let breaker = manual_breaker();
    breaker.trip();
    let eager = Eager(breaker.allow().unwrap_err());
    let answering = tower::Layer::layer(&AnswerLayer::new(), eager);
    let base = serve(Router::new().route_service("/", answering)).await;
    assert_eq!(reqwest::get(&base).await.unwrap().status(), 503);
}

/// Rejects as it gets ready for the first time.
struct OnceEager(Option<nanobreaker::Rejected>);

impl tower::Service<()> for OnceEager {
    type Response = &'static str;
    type Error = CallError<Infallible>;
    type Future = std::future::Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
        std::task::Poll::Ready(self.0.take().map_or(Ok(()), |rejected| Err(CallError::from(rejected))))
    }

    fn call(&mut self, (): ()) -> Self::Future {
        std::future::ready(Ok("well again"))
    }
}

#[tokio::test]
async fn a_service_that_gets_ready_after_it_was_rejected_is_called() {
    let breaker = manual_breaker();
    breaker.trip();
    let eager = OnceEager(breaker.allow().err());
    let mut answering = tower::Layer::layer(&AnswerLayer::new(), eager);
    answering.ready().await.unwrap();
    assert_eq!(answering.ready().await.unwrap().call(()).await.unwrap().status(), 200);
}
