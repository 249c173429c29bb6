//! A hyper client behind a breaker, and a real axum server.

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Path;
use axum::http::StatusCode;
use axum::routing::get;
use http::{Request, Uri};
use http_body_util::{BodyExt, Empty, channel::Channel};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use nanobreaker::tower::BreakerLayer;
use nanobreaker::{CallError, Phase, SharedBreaker};
use tokio::sync::Notify;
use tower::{Layer, ServiceExt};
use tower_http::classify::ServerErrorsAsFailures;

use crate::servers::{clock, manual_breaker, phase, serve};

fn client() -> Client<HttpConnector, Empty<Bytes>> {
    Client::builder(TokioExecutor::new()).build_http()
}

/// Answers `/status/{status}`.
fn app() -> Router {
    let status = async |Path(status): Path<u16>| StatusCode::from_u16(status).unwrap();
    Router::new().route("/status/{status}", get(status))
}

/// Answers with a body that breaks off when told to.
fn cut(when: &Arc<Notify>) -> Router {
    let when = Arc::clone(when);
    let handler = async move || {
        let (mut sender, body) = Channel::<Bytes, io::Error>::new(1);
        tokio::spawn(async move {
            sender.send_data(Bytes::from("half")).await.unwrap();
            when.notified().await;
            sender.abort(io::Error::other("cut"));
        });
        Body::new(body)
    };
    Router::new().route("/", get(handler))
}

fn request(base: &str, path: &str) -> Request<Empty<Bytes>> {
    let uri: Uri = format!("{base}{path}").parse().unwrap();
    Request::get(uri).body(Empty::new()).unwrap()
}

#[tokio::test]
async fn server_errors_trip_it_and_client_errors_do_not() {
    let (breaker, base) = (manual_breaker(), serve(app()).await);
    let service = BreakerLayer::http(breaker.clone()).layer(client());
    for (status, then) in [(404, Phase::Closed), (503, Phase::Open)] {
        let request = request(&base, &format!("/status/{status}"));
        let response = service.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), status);
        assert_eq!(phase(&breaker), then);
    }
    let rejected = service.clone().oneshot(request(&base, "/status/200")).await;
    assert!(matches!(rejected, Err(CallError::Rejected(_))));

    clock().advance(10_000);
    let probe = service.oneshot(request(&base, "/status/200")).await;
    assert_eq!(probe.unwrap().status(), 200);
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test]
async fn a_refused_connection_is_a_failure() {
    let breaker = manual_breaker();
    let service = BreakerLayer::http(breaker.clone()).layer(client());
    let unused = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", unused.local_addr().unwrap());
    drop(unused);
    let error = service.oneshot(request(&base, "/")).await.unwrap_err();
    assert!(error.into_failed().unwrap().is_connect());
    assert_eq!(phase(&breaker), Phase::Open);
}

#[tokio::test]
async fn tower_https_classifiers_judge_as_its_users_know() {
    let (breaker, base) = (manual_breaker(), serve(app()).await);
    let layer = BreakerLayer::new(breaker.clone()).classify_http(ServerErrorsAsFailures::make_classifier());
    let service = layer.layer(client());
    for (path, then) in [("/status/404", Phase::Closed), ("/status/500", Phase::Open)] {
        let response = service.clone().oneshot(request(&base, path)).await.unwrap();
        response.into_body().collect().await.unwrap();
        assert_eq!(phase(&breaker), then);
    }
}

/// What a body that breaks off does to a breaker with this layer.
async fn after_a_cut_body<J>(layer: impl FnOnce(SharedBreaker) -> BreakerLayer<SharedBreaker, J>) -> Phase
where
    J: nanobreaker::tower::Judge<Request<Empty<Bytes>>> + Clone,
    J::Call: nanobreaker::tower::JudgeCall<
            http::Response<hyper::body::Incoming>,
            hyper_util::client::legacy::Error,
            Judged<nanobreaker::PinnedBreaker>: IntoBody,
        >,
{
    let when = Arc::new(Notify::new());
    let (breaker, base) = (manual_breaker(), serve(cut(&when)).await);
    let service = layer(breaker.clone()).layer(client());
    let response = service.oneshot(request(&base, "/")).await.unwrap();
    when.notify_one();
    assert!(response.read().await.is_err());
    phase(&breaker)
}

/// A response whose body can be read, whatever it is wrapped in.
trait IntoBody {
    fn read(self) -> impl Future<Output = Result<Bytes, hyper::Error>>;
}

impl<B: http_body::Body<Data = Bytes, Error = hyper::Error>> IntoBody for http::Response<B> {
    async fn read(self) -> Result<Bytes, hyper::Error> {
        let collected = self.into_body().collect().await?;
        Ok(collected.to_bytes())
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_counts_only_where_bodies_are_judged() {
    let heads = after_a_cut_body(BreakerLayer::http).await;
    assert_eq!(heads, Phase::Closed);
    let bodies = after_a_cut_body(|breaker| BreakerLayer::http(breaker).until_body_ends()).await;
    assert_eq!(bodies, Phase::Open);
    let by_tower_http = after_a_cut_body(|breaker| {
        BreakerLayer::new(breaker).classify_http(ServerErrorsAsFailures::make_classifier()).until_body_ends()
    });
    assert_eq!(by_tower_http.await, Phase::Open);
}
