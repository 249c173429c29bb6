//! A tonic client behind a breaker, a tonic server behind one, and tonic's own health service between
//! them.

use std::pin::Pin;
use std::sync::{Arc, Mutex};

use nanobreaker::tower::BreakerLayer;
use nanobreaker::{Phase, SharedBreaker};
use tokio::net::TcpListener;
use tokio_stream::{Stream, StreamExt, wrappers::TcpListenerStream};
use tonic::transport::{Channel, Server};
use tonic::{Code, Request, Response, Status};
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tower::ServiceBuilder;

use crate::servers::{clock, manual_breaker, phase};

/// Answers as the test says: `check` with this status, `watch` with one message and then with it.
#[derive(Clone)]
struct Scripted(Arc<Mutex<Code>>);

impl Scripted {
    fn new(code: Code) -> Self {
        Self(Arc::new(Mutex::new(code)))
    }

    fn set(&self, code: Code) {
        *self.0.lock().unwrap() = code;
    }

    fn answer(&self) -> Result<HealthCheckResponse, Status> {
        match *self.0.lock().unwrap() {
            Code::Ok => Ok(HealthCheckResponse::default()),
            code => Err(Status::new(code, "as the test says")),
        }
    }
}

type Watched = Pin<Box<dyn Stream<Item = Result<HealthCheckResponse, Status>> + Send>>;

#[tonic::async_trait]
impl Health for Scripted {
    type WatchStream = Watched;

    async fn check(&self, _: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        self.answer().map(Response::new)
    }

    async fn watch(&self, _: Request<HealthCheckRequest>) -> Result<Response<Watched>, Status> {
        let messages = [Ok(HealthCheckResponse::default()), self.answer()];
        Ok(Response::new(Box::pin(tokio_stream::iter(messages))))
    }
}

/// A channel to a server of this service, behind these layers.
macro_rules! channel_to {
    ($service:expr, $layers:expr) => {{
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server::builder().layer($layers);
        let router = { server }.add_service(HealthServer::new($service));
        tokio::spawn(router.serve_with_incoming(TcpListenerStream::new(listener)));
        let endpoint = Channel::from_shared(format!("http://{address}")).unwrap();
        endpoint.connect().await.unwrap()
    }};
    ($service:expr) => {
        channel_to!($service, ())
    };
}

/// A client behind a breaker, as a macro because its type has no short name.
macro_rules! guarded {
    ($channel:expr, $breaker:expr) => {
        HealthClient::new(ServiceBuilder::new().layer(BreakerLayer::grpc($breaker.clone())).service($channel))
    };
}

fn request() -> HealthCheckRequest {
    HealthCheckRequest::default()
}

#[tokio::test]
async fn the_status_in_the_trailers_of_a_real_server_judges_the_call() {
    let (breaker, service) = (manual_breaker(), Scripted::new(Code::Ok));
    let mut client = guarded!(channel_to!(service.clone()), breaker);
    client.check(request()).await.unwrap();
    assert_eq!(phase(&breaker), Phase::Closed);

    service.set(Code::Internal);
    assert_eq!(client.check(request()).await.unwrap_err().code(), Code::Internal);
    assert_eq!(phase(&breaker), Phase::Open);
    let rejected = client.check(request()).await.unwrap_err();
    assert_eq!(rejected.code(), Code::Unavailable, "{rejected:?}");
    assert_eq!(rejected.metadata().get("grpc-retry-pushback-ms").unwrap(), "10000");

    clock().advance(10_000);
    service.set(Code::Ok);
    client.check(request()).await.unwrap();
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test]
async fn a_guarded_channel_is_a_type_to_keep_and_is_cloned_for_each_client() {
    struct Clients {
        channel: nanobreaker::tonic::GuardedChannel,
    }
    let (breaker, service) = (manual_breaker(), Scripted::new(Code::Unavailable));
    let clients = Clients { channel: nanobreaker::tonic::guard(channel_to!(service), breaker.clone()) };
    let mut first = HealthClient::new(clients.channel.clone());
    assert_eq!(first.check(request()).await.unwrap_err().code(), Code::Unavailable);
    assert_eq!(phase(&breaker), Phase::Open);
    let rejected = HealthClient::new(clients.channel).check(request()).await.unwrap_err();
    assert!(rejected.message().contains("open"), "{rejected:?}");
}

#[test]
fn a_method_that_fails_with_a_call_error_passes_it_on() {
    let breaker = manual_breaker();
    breaker.trip();
    let call = || -> Result<(), Status> {
        Ok(nanobreaker::CallExt::call(&breaker, || Err::<(), _>(Status::not_found("no such article")))?)
    };
    assert_eq!(call().unwrap_err().code(), Code::Unavailable);
    clock().advance(10_000);
    assert_eq!(call().unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn answers_to_wrong_requests_do_not_trip_it() {
    let (breaker, service) = (manual_breaker(), Scripted::new(Code::Ok));
    let mut client = guarded!(channel_to!(service.clone()), breaker);
    for code in [Code::NotFound, Code::InvalidArgument, Code::Unauthenticated] {
        service.set(code);
        assert_eq!(client.check(request()).await.unwrap_err().code(), code);
        assert_eq!(phase(&breaker), Phase::Closed);
    }
}

#[tokio::test]
async fn codes_that_a_file_ignores_leave_the_probe_to_another_call() {
    let file: nanobreaker::PartialSettings =
        toml::from_str("failure_status = ['UNAVAILABLE']\nignore_status = ['NOT_FOUND']").unwrap();
    let (breaker, service) = (probing(), Scripted::new(Code::NotFound));
    let layer = BreakerLayer::grpc_by(breaker.clone(), &file.statuses());
    let mut client = HealthClient::new(tower::Layer::layer(&layer, channel_to!(service.clone())));
    for _ in 0..3 {
        assert_eq!(client.check(request()).await.unwrap_err().code(), Code::NotFound);
        let snapshot = breaker.snapshot();
        assert_eq!((snapshot.phase, snapshot.in_flight, snapshot.succeeded), (Phase::HalfOpen, 0, 0));
    }
    // In trailers, after a message that began well.
    breaker.reset();
    let mut messages = client.watch(request()).await.unwrap().into_inner();
    messages.next().await.unwrap().unwrap();
    assert_eq!(messages.next().await.unwrap().unwrap_err().code(), Code::NotFound);
    assert_eq!(phase(&breaker), Phase::Closed);
    service.set(Code::InvalidArgument);
    assert_eq!(client.check(request()).await.unwrap_err().code(), Code::InvalidArgument);
    service.set(Code::Unavailable);
    client.check(request()).await.unwrap_err();
    assert_eq!(phase(&breaker), Phase::Open);
}

#[tokio::test]
async fn a_probes_stream_is_judged_by_its_first_message_and_then_by_its_trailers() {
    for (code, then) in [(Code::Unavailable, Phase::Open), (Code::NotFound, Phase::Closed)] {
        let breaker = probing();
        let mut client = guarded!(channel_to!(Scripted::new(code)), breaker);
        let mut messages = client.watch(request()).await.unwrap().into_inner();
        messages.next().await.unwrap().unwrap();
        assert_eq!(phase(&breaker), Phase::Closed, "the first message decides a probe");
        let end = messages.next().await.unwrap().unwrap_err();
        assert_eq!((end.code(), phase(&breaker)), (code, then));
    }
}

#[tokio::test]
async fn a_stream_that_its_reader_leaves_gives_the_probes_place_back() {
    let breaker = probing();
    let mut client = guarded!(channel_to!(Scripted::new(Code::Ok)), breaker);
    let messages = client.watch(request()).await.unwrap();
    assert_eq!(breaker.snapshot().in_flight, 1);
    drop(messages);
    assert_eq!(breaker.snapshot().in_flight, 0);
}

/// A breaker whose next call is a probe.
fn probing() -> SharedBreaker {
    let breaker = manual_breaker();
    breaker.trip();
    clock().advance(10_000);
    breaker
}

#[tokio::test]
async fn a_proxy_that_answers_without_a_grpc_status_is_a_failure() {
    for status in [200, 404, 429, 502, 503] {
        answers_by_a_proxy(axum::http::StatusCode::from_u16(status).unwrap()).await;
    }
}

async fn answers_by_a_proxy(status: axum::http::StatusCode) {
    let breaker = manual_breaker();
    let page = axum::response::Html("<html>a page of the proxy's</html>");
    let proxy = axum::Router::new().fallback(async move || (status, page));
    let respond = tower::service_fn(move |request: http::Request<tonic::body::Body>| {
        tower::ServiceExt::oneshot(proxy.clone(), request.map(axum::body::Body::new))
    });
    let mut client = guarded!(respond, breaker);
    client.check(request()).await.unwrap_err();
    assert_eq!(phase(&breaker), Phase::Open, "{status}");
}

#[tokio::test]
async fn a_server_behind_a_breaker_tells_its_clients_that_it_is_unavailable() {
    let (breaker, service) = (manual_breaker(), Scripted::new(Code::Internal));
    let layers = (nanobreaker::axum::AnswerLayer::grpc(), BreakerLayer::grpc(breaker.clone()));
    let mut client = HealthClient::new(channel_to!(service, layers));
    assert_eq!(client.check(request()).await.unwrap_err().code(), Code::Internal);
    let rejected = client.check(request()).await.unwrap_err();
    assert_eq!(rejected.code(), Code::Unavailable);
    let pushback = rejected.metadata().get("grpc-retry-pushback-ms");
    assert_eq!(pushback.unwrap(), "10000");
    assert_eq!(phase(&breaker), Phase::Open);
}
