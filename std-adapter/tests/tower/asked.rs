//! Answers that ask to be left alone, and requests that are tried again.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Body;
use axum::routing::get;
use http::{Request, Response};
use nanobreaker::tower::{BreakerLayer, CountedLayer};
use nanobreaker::{CallError, Counted, Outcome, Phase, SharedBreaker, TokioClock};
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};

use super::phase;
use crate::servers::{clock, serve};

fn patient() -> SharedBreaker {
    let builder = SharedBreaker::builder().name("stock").consecutive(5).max_open(Duration::from_secs(60));
    builder.clock(TokioClock::new()).build().unwrap()
}

type Answer = Result<Response<Body>, Infallible>;

/// Answers with this status and header.
fn says(status: u16, name: &'static str, value: &str) -> impl Fn(Request<()>) -> Ready<Answer> + Clone {
    let value = value.to_owned();
    move |_| {
        let builder = Response::builder().status(status).header(name, &value);
        ready(Ok(builder.body(Body::empty()).unwrap()))
    }
}

fn left_ms(breaker: &SharedBreaker) -> Option<u32> {
    breaker.snapshot().time_left_ms
}

#[tokio::test(start_paused = true)]
async fn a_429_or_503_with_retry_after_opens_for_that_long_within_bounds() {
    for status in [429, 503] {
        for (asked, opens_for) in [("7", 7_000), ("100000", 60_000)] {
            let breaker = patient();
            let layer = BreakerLayer::http(breaker.clone());
            layer
                .layer(service_fn(says(status, "retry-after", asked)))
                .oneshot(Request::new(()))
                .await
                .unwrap();
            assert_eq!(
                (phase(&breaker), left_ms(&breaker)),
                (Phase::Open, Some(opens_for)),
                "{status} {asked}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn retry_after_may_be_a_date() {
    let breaker = patient();
    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(30));
    let service = BreakerLayer::http(breaker.clone()).layer(service_fn(says(503, "retry-after", &date)));
    service.oneshot(Request::new(())).await.unwrap();
    let left = left_ms(&breaker).unwrap();
    // A date has whole seconds, and the machine may be busy between the two readings of the real time.
    assert!((20_000..=30_000).contains(&left), "{left}");
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_heeded_where_bodies_are_judged_too() {
    let breaker = patient();
    let layer = BreakerLayer::http(breaker.clone()).until_body_ends();
    layer.layer(service_fn(says(503, "retry-after", "7"))).oneshot(Request::new(())).await.unwrap();
    assert_eq!(left_ms(&breaker), Some(7_000));
}

#[tokio::test(start_paused = true)]
async fn what_a_classifier_ignores_asks_for_nothing() {
    let breaker = patient();
    let layer = BreakerLayer::http(breaker.clone()).classify(|answer: &Answer| match answer {
        Ok(response) if response.status() == 429 => Outcome::Ignored,
        _ => Outcome::Success,
    });
    layer.layer(service_fn(says(429, "retry-after", "7"))).oneshot(Request::new(())).await.unwrap();
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_layer_may_be_told_to_ignore_retry_after() {
    let breaker = patient();
    let layer = BreakerLayer::http(breaker.clone()).ignore_retry_after();
    layer.layer(service_fn(says(503, "retry-after", "7"))).oneshot(Request::new(())).await.unwrap();
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn pushback_of_grpc_opens_for_that_long() {
    let unavailable = |_: Request<()>| {
        let builder =
            Response::builder().header("content-type", "application/grpc").header("grpc-status", "14");
        let response = builder.header("grpc-retry-pushback-ms", "2500").body(Body::empty());
        ready(Ok::<_, Infallible>(response.unwrap()))
    };
    let breaker = patient();
    BreakerLayer::grpc(breaker.clone())
        .layer(service_fn(unavailable))
        .oneshot(Request::new(()))
        .await
        .unwrap();
    assert_eq!(left_ms(&breaker), Some(2_500));

    let breaker = patient();
    let layer = BreakerLayer::grpc(breaker.clone()).ignore_retry_after();
    layer.layer(service_fn(unavailable)).oneshot(Request::new(())).await.unwrap();
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test]
async fn a_route_that_answers_503_with_retry_after_is_left_alone_and_the_answer_names_its_breaker() {
    let builder = SharedBreaker::builder().name("stock").max_open(Duration::from_secs(60));
    let breaker = builder.clock(clock()).build().unwrap();
    let busy = async || (http::StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "30")]);
    let app = Router::new().route("/", get(busy).layer(nanobreaker::axum::guard(breaker.clone())));
    let base = serve(app).await;
    assert_eq!(reqwest::get(&base).await.unwrap().status(), 503);
    let rejected = reqwest::get(&base).await.unwrap();
    assert_eq!(rejected.headers()["retry-after"], "30");
    assert!(rejected.text().await.unwrap().contains("stock"));
}

#[tokio::test]
async fn an_outage_of_one_dependency_opens_its_breaker_and_not_the_routes() {
    let (route, inner) = (patient(), patient());
    inner.isolate();
    let handler = move || {
        let answer = nanobreaker::CallExt::call(&inner, || Ok::<_, http::StatusCode>("7"));
        ready(answer)
    };
    let app = Router::new().route("/", get(handler).layer(nanobreaker::axum::guard(route.clone())));
    let base = serve(app).await;
    for _ in 0..10 {
        assert_eq!(reqwest::get(&base).await.unwrap().status(), 503);
    }
    assert_eq!(phase(&route), Phase::Closed);
}

/// Tries three times.
#[derive(Clone)]
struct Thrice(u32);

impl<E> tower::retry::Policy<Request<()>, Response<Body>, E> for Thrice {
    type Future = Ready<()>;

    fn retry(&mut self, _: &mut Request<()>, result: &mut Result<Response<Body>, E>) -> Option<Ready<()>> {
        let fails = result.as_ref().is_ok_and(|response| response.status().is_server_error());
        self.0 += 1;
        (fails && self.0 < 3).then(|| ready(()))
    }

    fn clone_request(&mut self, request: &Request<()>) -> Option<Request<()>> {
        Some(request.clone())
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_of_one_request_count_once_where_asked_and_each_by_itself_elsewhere() {
    for (is_asked, failures_to_trip) in [(true, 5), (false, 2)] {
        let breaker = patient();
        let attempts = ServiceBuilder::new()
            .retry(Thrice(0))
            .layer(BreakerLayer::http(breaker.clone()).counted())
            .service(service_fn(says(500, "x", "")));
        let mut requests = 0;
        while phase(&breaker) == Phase::Closed {
            if is_asked {
                let mut service = CountedLayer::new().layer(attempts.clone());
                let _ = service.ready().await.unwrap().call(Request::new(())).await;
            } else {
                let _ = attempts.clone().oneshot(Request::new(())).await;
            }
            requests += 1;
        }
        assert_eq!(requests, failures_to_trip, "asked: {is_asked}");
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_count_once_at_each_of_two_breakers_of_which_one_is_inside_of_the_other() {
    let (outer, inner) = (patient(), patient());
    let attempts = ServiceBuilder::new()
        .layer(CountedLayer::new())
        .retry(Thrice(0))
        .layer(BreakerLayer::http(outer.clone()).counted())
        .map_err(CallError::<Infallible>::into_boxed)
        .layer(BreakerLayer::http(inner.clone()).counted())
        .service(service_fn(says(500, "x", "")));
    for request in 1..=5 {
        assert_eq!((phase(&outer), phase(&inner)), (Phase::Closed, Phase::Closed), "request {request}");
        let _ = attempts.clone().oneshot(Request::new(())).await;
    }
    assert_eq!((phase(&outer), phase(&inner)), (Phase::Open, Phase::Open));
}

#[tokio::test(start_paused = true)]
async fn attempts_that_change_hosts_count_once_at_each() {
    let hosts = [patient(), patient()];
    let layers = hosts.clone().map(|host| BreakerLayer::http(host).counted());
    let service = layers.map(|layer| layer.layer(service_fn(says(500, "x", ""))));
    for _ in 0..4 {
        let mut request = Request::new(());
        request.extensions_mut().insert(Counted::new());
        for attempt in 0..4 {
            let _ = service[attempt % 2].clone().oneshot(request.clone()).await;
        }
    }
    assert_eq!(hosts.map(|host| phase(&host)), [Phase::Closed; 2], "four requests failed");
}

#[tokio::test(start_paused = true)]
async fn attempts_that_hang_count_once_too() {
    let builder = SharedBreaker::builder().consecutive(3).hung_after(Duration::from_secs(1));
    let breaker = builder.clock(TokioClock::new()).build().unwrap();
    let attempts = ServiceBuilder::new()
        .layer(CountedLayer::new())
        .retry(Thrice(0))
        .layer(BreakerLayer::http(breaker.clone()).counted())
        .service(service_fn(async |request| {
            tokio::time::sleep(Duration::from_secs(2)).await;
            says(500, "x", "")(request).await
        }));
    for expected in [Phase::Closed, Phase::Closed, Phase::Open] {
        let _ = attempts.clone().oneshot(Request::new(())).await;
        assert_eq!(phase(&breaker), expected);
    }
}
