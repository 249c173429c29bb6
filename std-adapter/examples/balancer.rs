//! A balancer (tower's power of two choices) over two endpoints, one of which is broken: without breakers, with
//! ordinary ones, and with gates.
//!
//! `cargo run --example balancer`, or with `-- --json` for the numbers alone.
//!
//! A balancer prefers who has the fewest calls under way. An ordinary breaker that is open rejects at once, so
//! its endpoint never has any, and gets nearly all calls. A gate is not ready instead, and gets none. Time is
//! virtual here, so nothing is waited for.

use std::io;
use std::time::Duration;

use nanobreaker::tower::BreakerLayer;
use nanobreaker::{SharedBreaker, TokioClock};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tower::balance::p2c::Balance;
use tower::discover::ServiceList;
use tower::load::{CompleteOnResponse, PendingRequests};
use tower::{BoxError, Layer, Service, ServiceExt, service_fn};

const REQUESTS: usize = 5_000;
const AT_ONCE: usize = 10;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    tokio::time::pause();
    // Takes 5 ms to answer, or to fail.
    let endpoint = |works: bool| {
        service_fn(move |()| async move {
            sleep(Duration::from_millis(5)).await;
            if works { Ok(()) } else { Err(io::Error::other("the endpoint is broken")) }
        })
    };
    let without = good_answers([true, false].map(endpoint)).await?;
    let gated = good_answers([true, false].map(|works| breaker().gate().layer(endpoint(works)))).await?;
    let ungated = good_answers([true, false].map(|works| breaker().layer(endpoint(works)))).await?;
    if std::env::args().any(|argument| argument == "--json") {
        println!(r#"{{"without": {without}, "gated": {gated}, "ungated": {ungated}}}"#);
        return Ok(());
    }
    println!("good answers to {REQUESTS} requests, by two endpoints of which one is broken:");
    println!("{:<18} {without:>6}", "without breakers");
    println!("{:<18} {gated:>6}", "with gates");
    println!("{:<18} {ungated:>6}", "with breakers");
    Ok(())
}

/// A layer with a breaker of its own: five failures in a row open it for a second.
fn breaker() -> BreakerLayer<SharedBreaker> {
    let breaker = SharedBreaker::builder()
        .consecutive(5)
        .open_for(Duration::from_secs(1))
        .clock(TokioClock::new())
        .build()
        .expect("the settings are within their limits");
    BreakerLayer::new(breaker)
}

/// How many of the requests are answered well, ten of them at once.
async fn good_answers<S>(endpoints: [S; 2]) -> Result<usize, BoxError>
where
    S: Service<(), Response = (), Future: Send + 'static>,
    S::Error: Into<BoxError> + Send + 'static,
{
    let loaded = endpoints.map(|endpoint| PendingRequests::new(endpoint, CompleteOnResponse::default()));
    let mut balancer = Balance::new(ServiceList::new::<()>(loaded));
    let mut under_way = JoinSet::new();
    let mut good = 0;
    for _ in 0..REQUESTS {
        if under_way.len() == AT_ONCE
            && let Some(ended) = under_way.join_next().await
        {
            good += usize::from(ended?);
        }
        let answer = balancer.ready().await?.call(());
        under_way.spawn(async { answer.await.is_ok() });
    }
    for is_good in under_way.join_all().await {
        good += usize::from(is_good);
    }
    Ok(good)
}
