//! The middleware beside others: retries, itself, one that wraps errors.

use reqwest_retry::{RetryTransientMiddleware, policies::ExponentialBackoff};

use super::*;

fn retries(max: u32) -> RetryTransientMiddleware<ExponentialBackoff> {
    let at_once = (Duration::ZERO, Duration::ZERO);
    let policy = ExponentialBackoff::builder().retry_bounds(at_once.0, at_once.1);
    RetryTransientMiddleware::new_with_policy(policy.build_with_max_retries(max))
}

#[tokio::test]
async fn attempts_of_one_request_count_as_one_failure() {
    let server = Server::start().await;
    let middleware = per_host(3);
    let client = ClientBuilder::new(reqwest::Client::new()).with(retries(3)).with(middleware.clone()).build();
    for requests in [4, 8] {
        assert_eq!(get(&client, server.url(500)).await.unwrap(), 500);
        assert_eq!(server.requests(), requests);
        assert_eq!(server.phase(&middleware), Phase::Closed);
    }
    // The third failure trips with its first attempt, and there are no more.
    assert!(is_rejected(&client, server.url(500)).await);
    assert_eq!(server.requests(), 9);
    assert_eq!(server.phase(&middleware), Phase::Open);
}

#[tokio::test]
async fn attempts_of_one_request_that_hang_count_as_one_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let hung_after = Duration::from_millis(20);
    let breaker = SharedBreaker::builder().consecutive(3).hung_after(hung_after).build().unwrap();
    let client = reqwest::Client::builder().timeout(5 * hung_after).build().unwrap();
    let client =
        ClientBuilder::new(client).with(retries(3)).with(BreakerMiddleware::single(breaker.clone())).build();
    for phase in [Phase::Closed, Phase::Closed, Phase::Open] {
        get(&client, url.clone()).await.unwrap_err();
        assert_eq!(breaker.phase(), phase);
    }
}

#[tokio::test]
async fn a_breaker_around_the_retries_counts_the_last_attempt() {
    let server = Server::start().await;
    let middleware = per_host(2);
    let client = ClientBuilder::new(reqwest::Client::new()).with(middleware.clone()).with(retries(3)).build();
    get(&client, server.url(500)).await.unwrap();
    assert_eq!(server.requests(), 4);
    assert_eq!(server.phase(&middleware), Phase::Closed);
    get(&client, server.url(500)).await.unwrap();
    assert_eq!(server.phase(&middleware), Phase::Open);
    assert!(is_rejected(&client, server.url(200)).await);
    assert_eq!(server.requests(), 8);
}

#[tokio::test]
async fn a_connection_refused_behind_retries_is_one_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    drop(listener);
    let middleware = per_host(2);
    let client = ClientBuilder::new(reqwest::Client::new()).with(middleware.clone()).with(retries(1)).build();
    let breaker = || middleware.breaker(&host).unwrap().snapshot().phase;
    assert!(get(&client, format!("http://{host}/")).await.is_err());
    assert_eq!(breaker(), Phase::Closed);
    assert!(get(&client, format!("http://{host}/")).await.is_err());
    assert_eq!(breaker(), Phase::Open);
}

#[tokio::test]
async fn a_middleware_that_is_there_twice_counts_once() {
    let server = Server::start().await;
    let middleware = per_host(2);
    let client =
        ClientBuilder::new(reqwest::Client::new()).with(middleware.clone()).with(middleware.clone()).build();
    get(&client, server.url(500)).await.unwrap();
    assert_eq!(server.phase(&middleware), Phase::Closed);
    get(&client, server.url(500)).await.unwrap();
    assert_eq!(server.phase(&middleware), Phase::Open);
}

#[tokio::test]
async fn an_attempt_that_is_a_probe_is_always_judged() {
    let server = Server::start().await;
    let middleware = per_host(1);
    let client = ClientBuilder::new(reqwest::Client::new()).with(retries(1)).with(middleware.clone()).build();
    assert!(is_rejected(&client, server.url(500)).await);
    let before = server.breaker(&middleware).snapshot().generation;
    clock().advance(10_000);
    assert!(is_rejected(&client, server.url(500)).await);
    let snapshot = server.breaker(&middleware).snapshot();
    assert_eq!((snapshot.phase, snapshot.in_flight), (Phase::Open, 0));
    assert_eq!(snapshot.generation, before + 1);
}

#[tokio::test]
async fn a_round_that_takes_two_failed_probes_gets_them_from_one_request() {
    let server = Server::start().await;
    let breaker = SharedBreaker::builder()
        .consecutive(1)
        .max_probes(2)
        .probe_successes(2)
        .probe_failures(2)
        .clock(clock())
        .build()
        .unwrap();
    breaker.trip();
    clock().advance(10_000);
    let client = ClientBuilder::new(reqwest::Client::new())
        .with(retries(1))
        .with(BreakerMiddleware::single(breaker.clone()))
        .build();
    get(&client, server.url(500)).await.unwrap();
    assert_eq!(server.requests(), 2);
    assert_eq!(breaker.snapshot().phase, Phase::Open);
}

#[tokio::test]
async fn a_rejection_further_in_says_nothing_about_the_outer_breakers_dependency() {
    let server = Server::start().await;
    let (outer, inner) = (breaker(1).build().unwrap(), breaker(1).build().unwrap());
    inner.trip();
    let client = ClientBuilder::new(reqwest::Client::new())
        .with(BreakerMiddleware::single(outer.clone()))
        .with(retries(1))
        .with(BreakerMiddleware::single(inner))
        .build();
    assert!(is_rejected(&client, server.url(200)).await);
    assert_eq!(server.requests(), 0);
    assert_eq!(outer.snapshot().phase, Phase::Closed);
}

/// Tells more about errors, as anyhow's users do.
struct WithContext;

#[tonic::async_trait]
impl reqwest_middleware::Middleware for WithContext {
    async fn handle(
        &self,
        request: reqwest::Request,
        extensions: &mut http::Extensions,
        next: reqwest_middleware::Next<'_>,
    ) -> reqwest_middleware::Result<reqwest::Response> {
        let result = next.run(request, extensions).await;
        result.map_err(|error| Error::Middleware(anyhow::Error::new(error).context("asking")))
    }
}

#[tokio::test]
async fn an_error_that_another_middleware_wrapped_is_judged_as_what_it_was() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let app = Router::new().fallback(async || axum::response::Redirect::to("/again"));
    tokio::spawn(async { axum::serve(listener, app).await });
    let middleware = per_host(1);
    let client =
        ClientBuilder::new(reqwest::Client::new()).with(middleware.clone()).with(WithContext).build();
    assert!(get(&client, format!("http://{host}/")).await.is_err());
    let breaker = middleware.breaker(&host).unwrap();
    assert_eq!(breaker.snapshot().phase, Phase::Closed);
}
