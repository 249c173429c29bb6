//! A reqwest client with a breaker per host and with retries: one host fails, one asks for a pause by
//! `Retry-After`, one is well. Runs for about two seconds:
//!
//! ```console
//! cargo run -p nanobreaker --example reqwest_per_host
//! ```

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use nanobreaker::SharedBreaker;
use nanobreaker::reqwest::{BreakerMiddleware, rejection};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use reqwest_retry::{RetryTransientMiddleware, policies::ExponentialBackoff};
use tokio::net::TcpListener;
use tokio::time::sleep;

/// A host that always answers the same.
struct Host {
    name: &'static str,
    address: String,
    /// Requests that it got, over all attempts.
    requests: Arc<AtomicU32>,
}

impl Host {
    async fn start(
        name: &'static str,
        status: StatusCode,
        retry_after: Option<u32>,
    ) -> Result<Self, Box<dyn Error>> {
        let requests = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&requests);
        let app = Router::new().fallback(async move || {
            counter.fetch_add(1, Ordering::Relaxed);
            match retry_after {
                Some(seconds) => (status, [(header::RETRY_AFTER, seconds.to_string())]).into_response(),
                None => status.into_response(),
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        tokio::spawn(async { axum::serve(listener, app).await });
        Ok(Self { name, address, requests })
    }

    /// Makes one request, which may take several attempts.
    async fn ask(&self, client: &ClientWithMiddleware) {
        let before = self.requests.load(Ordering::Relaxed);
        let result = client.get(format!("http://{}", self.address)).send().await;
        let attempts = self.requests.load(Ordering::Relaxed) - before;
        let said = match result {
            Ok(response) => response.status().to_string(),
            Err(error) => match rejection(&error) {
                Some(rejected) => rejected.to_string(),
                None => format!("{error:#}"),
            },
        };
        println!("  {}: {attempts} attempts, then {said}", self.name);
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let hosts = [
        Host::start("well", StatusCode::OK, None).await?,
        Host::start("down", StatusCode::BAD_GATEWAY, None).await?,
        Host::start("busy", StatusCode::TOO_MANY_REQUESTS, Some(1)).await?,
    ];
    let breakers = BreakerMiddleware::per_host(|_| {
        SharedBreaker::builder()
            .failures(3, Duration::from_secs(10))
            .open_for(Duration::from_millis(500))
            .max_open(Duration::from_secs(60))
    });
    let pause = Duration::from_millis(10);
    let retries = ExponentialBackoff::builder().retry_bounds(pause, pause).build_with_max_retries(2);
    let client = ClientBuilder::new(reqwest::Client::new())
        .with(RetryTransientMiddleware::new_with_policy(retries))
        .with(breakers.clone()) // after the retries: each attempt asks
        .build();

    for round in 1..=6 {
        println!("round {round}");
        for host in &hosts {
            host.ask(&client).await;
        }
        sleep(Duration::from_millis(300)).await;
    }
    for host in &hosts {
        if let Some(breaker) = breakers.breaker(&host.address) {
            let requests = host.requests.load(Ordering::Relaxed);
            let phase = breaker.snapshot().phase;
            println!("{}: its breaker is {phase}, it got {requests} requests", host.name);
        }
    }
    println!("without breakers, and with 2 retries, `down` and `busy` would have got 18 each");
    Ok(())
}
