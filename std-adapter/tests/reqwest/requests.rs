//! Requests of a client with the middleware alone.

use super::*;

#[tokio::test]
async fn each_host_has_a_breaker_of_its_own() {
    let (down, well) = (Server::start().await, Server::start().await);
    let middleware = per_host(1);
    let client = client(&middleware);
    assert_eq!(get(&client, down.url(500)).await.unwrap(), 500);
    assert!(is_rejected(&client, down.url(200)).await);
    assert_eq!(down.requests(), 1);
    assert_eq!(get(&client, well.url(200)).await.unwrap(), 200);

    let mut hosts = middleware.hosts();
    hosts.sort_by_key(|(_, breaker)| breaker.snapshot().phase == Phase::Closed);
    let names: Vec<_> = hosts.iter().map(|(host, _)| host.as_str()).collect();
    assert_eq!(names, [&down.host, &well.host]);
}

#[tokio::test]
async fn one_breaker_can_serve_all_hosts() {
    let (down, well) = (Server::start().await, Server::start().await);
    let client = client(&BreakerMiddleware::single(breaker(1).build().unwrap()));
    get(&client, down.url(500)).await.unwrap();
    assert!(is_rejected(&client, well.url(200)).await);
}

#[tokio::test]
async fn statuses_are_judged_as_the_table_says() {
    let server = Server::start().await;
    for (status, phase) in [
        (200, Phase::Closed),
        (301, Phase::Closed),
        (400, Phase::Closed),
        (401, Phase::Closed),
        (404, Phase::Closed),
        (408, Phase::Open),
        (429, Phase::Open),
        (500, Phase::Open),
        (503, Phase::Open),
    ] {
        let middleware = per_host(1);
        get(&client(&middleware), server.url(status)).await.unwrap();
        assert_eq!(server.phase(&middleware), phase, "{status}");
    }
}

#[tokio::test]
async fn statuses_that_a_file_names_are_judged_as_it_says() {
    let toml = "failure_status = ['5xx', 403]\nignore_status = [404]";
    let file: nanobreaker::PartialSettings = toml::from_str(toml).unwrap();
    let server = Server::start().await;
    for (statuses, phase) in [
        ([500, 503], Phase::Open),
        ([403, 403], Phase::Open),
        // Named nowhere: successes.
        ([429, 408], Phase::Closed),
        ([500, 429], Phase::Closed),
    ] {
        let middleware = per_host(2).statuses(file.statuses());
        for status in statuses {
            get(&client(&middleware), server.url(status)).await.unwrap();
        }
        assert_eq!(server.phase(&middleware), phase, "{statuses:?}");
    }
    let middleware = per_host(2).statuses(file.statuses());
    for status in [500, 404, 500] {
        get(&client(&middleware), server.url(status)).await.unwrap();
    }
    assert_eq!(server.phase(&middleware), Phase::Open, "404 says nothing, and ends no row");
}

#[tokio::test]
async fn a_refused_connection_is_a_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    drop(listener);
    let middleware = per_host(1);
    let error = get(&client(&middleware), format!("http://{host}/")).await.unwrap_err();
    assert!(error.is_connect());
    let breaker = middleware.breaker(&host).unwrap();
    assert_eq!(breaker.snapshot().phase, Phase::Open);
}

#[tokio::test]
async fn a_timeout_is_a_failure() {
    // Takes connections and never answers.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let middleware = per_host(1);
    let request = client(&middleware).get(format!("http://{host}/")).timeout(Duration::from_millis(20));
    assert!(request.send().await.unwrap_err().is_timeout());
    let breaker = middleware.breaker(&host).unwrap();
    assert_eq!(breaker.snapshot().phase, Phase::Open);
}

#[tokio::test]
async fn redirects_in_a_circle_say_nothing_about_the_host() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let app = Router::new().fallback(async || axum::response::Redirect::to("/again"));
    tokio::spawn(async { axum::serve(listener, app).await });
    let middleware = per_host(1);
    let error = get(&client(&middleware), format!("http://{host}/")).await.unwrap_err();
    assert!(error.is_redirect());
    let breaker = middleware.breaker(&host).unwrap();
    assert_eq!(breaker.snapshot().phase, Phase::Closed);
}

#[tokio::test]
async fn a_closure_judges_otherwise() {
    let server = Server::start().await;
    let middleware = per_host(1).classify(|result| match result {
        Ok(response) if response.status() == StatusCode::NOT_FOUND => Outcome::Failure,
        _ => Outcome::Success,
    });
    let client = client(&middleware);
    get(&client, server.url(500)).await.unwrap();
    assert_eq!(server.phase(&middleware), Phase::Closed);
    get(&client, server.url(404)).await.unwrap();
    assert_eq!(server.phase(&middleware), Phase::Open);
}

#[tokio::test]
async fn retry_after_opens_it_at_once_and_for_that_long() {
    let server = Server::start().await;
    let middleware = per_host(100);
    let client = client(&middleware);
    get(&client, server.url_with(429, "30")).await.unwrap();
    let error = get(&client, server.url(200)).await.unwrap_err();
    let rejected = rejection(&error).unwrap();
    assert_eq!(rejected.retry_after(), Some(Duration::from_secs(30)));

    clock().advance(29_999);
    assert!(is_rejected(&client, server.url(200)).await);
    clock().advance(1);
    assert_eq!(get(&client, server.url(200)).await.unwrap(), 200);
    assert_eq!(server.phase(&middleware), Phase::Closed);
}

#[tokio::test]
async fn retry_after_is_bounded_and_does_not_shorten() {
    let server = Server::start().await;
    for (failures, asked, seconds) in [(100, "86400", 60), (1, "1", 10), (1, "30", 30)] {
        let middleware = per_host(failures);
        let url = server.url_with(503, asked);
        get(&client(&middleware), url).await.unwrap();
        let rejected = server.breaker(&middleware).allow().unwrap_err();
        assert_eq!(rejected.retry_after(), Some(Duration::from_secs(seconds)));
    }
}

#[tokio::test]
async fn retry_after_counts_only_where_the_host_asks_for_less() {
    let server = Server::start().await;
    let middleware = per_host(100);
    let client = client(&middleware);
    for (status, asked) in [(200, "30"), (404, "30"), (429, "0"), (503, "soon")] {
        get(&client, server.url_with(status, asked)).await.unwrap();
        assert_eq!(server.phase(&middleware), Phase::Closed, "{status}");
    }
}

#[tokio::test]
async fn a_request_that_is_dropped_gives_the_probes_place_back() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let breaker = breaker(1).build().unwrap();
    breaker.trip();
    clock().advance(10_000);
    let client = client(&BreakerMiddleware::single(breaker.clone()));
    let request = tokio::spawn(async move { get(&client, url).await });
    // The host has the connection, so the request is under way.
    let _connection = listener.accept().await.unwrap();
    assert_eq!(breaker.snapshot().in_flight, 1);
    request.abort();
    assert!(request.await.unwrap_err().is_cancelled());
    assert_eq!(breaker.snapshot().in_flight, 0);
    assert_eq!(breaker.snapshot().phase, Phase::HalfOpen);
}

#[tokio::test]
async fn a_wrong_configuration_fails_the_request_and_says_what_is_wrong() {
    let middleware: Middleware = BreakerMiddleware::per_host(|_| breaker(0));
    let error = get(&client(&middleware), "http://127.0.0.1:1/".into()).await.unwrap_err();
    assert!(error.to_string().contains("threshold"), "{error}");
}

#[tokio::test]
async fn a_registry_of_ones_own_bounds_the_hosts_and_can_be_looked_at() {
    let (first, second) = (Server::start().await, Server::start().await);
    let hosts = Registry::builder(|_: &String| breaker(1)).max_breakers(1).build();
    let middleware = BreakerMiddleware::with_registry(hosts.clone());
    let client = client(&middleware);
    for server in [&first, &second] {
        get(&client, server.url(200)).await.unwrap();
        assert_eq!(hosts.len(), 1);
    }
    assert!(hosts.get(second.host.as_str()).is_some());
}

#[tokio::test]
async fn a_host_is_found_however_its_name_is_written() {
    let middleware = per_host(1);
    let client = client(&middleware);
    for url in ["http://b\u{fc}cher.invalid/", "http://[::1]:9/"] {
        get(&client, url.into()).await.unwrap_err();
    }
    for written in ["B\u{dc}CHER.invalid.", "xn--bcher-kva.invalid", "[0:0::1]:9"] {
        assert!(middleware.breaker(written).is_some(), "{written}");
    }
    assert!(middleware.breaker("another.invalid").is_none() && middleware.breaker("a b").is_none());
}
