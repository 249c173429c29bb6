//! A reqwest client with a breaker per host and with retries: one host fails, one asks for a pause by
//! `Retry-After`, one is well. Runs for about two seconds:
//!
//! ```console
//! cargo run -p nanobreaker --example reqwest_per_host
//! ```

use std::error::Error;
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
async fn host(status: StatusCode, retry_after: Option<u32>) -> Result<String, Box<dyn Error>> {
    let app = Router::new().fallback(async move || match retry_after {
        Some(seconds) => (status, [(header::RETRY_AFTER, seconds.to_string())]).into_response(),
        None => status.into_response(),
    });
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async { axum::serve(listener, app).await });
    Ok(format!("http://{address}"))
}

async fn ask(client: &ClientWithMiddleware, name: &str, url: &str) {
    match client.get(url).send().await {
        Ok(response) => println!("{name}: {}", response.status()),
        Err(error) => match rejection(&error) {
            Some(rejected) => println!("{name}: not asked, {rejected}"),
            None => println!("{name}: {error:#}"),
        },
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let hosts = [
        ("well", host(StatusCode::OK, None).await?),
        ("down", host(StatusCode::BAD_GATEWAY, None).await?),
        ("busy", host(StatusCode::TOO_MANY_REQUESTS, Some(1)).await?),
    ];
    let breakers = BreakerMiddleware::per_host(|_| {
        SharedBreaker::builder()
            .failures(3, Duration::from_secs(10))
            .open_for(Duration::from_millis(500))
            .max_open(Duration::from_secs(60))
            .build()
    });
    let pause = Duration::from_millis(10);
    let retries = ExponentialBackoff::builder()
        .retry_bounds(pause, pause)
        .build_with_max_retries(2);
    let client = ClientBuilder::new(reqwest::Client::new())
        .with(RetryTransientMiddleware::new_with_policy(retries))
        .with(breakers.clone()) // after the retries: each attempt asks
        .build();

    for round in 1..=6 {
        println!("round {round}");
        for (name, url) in &hosts {
            ask(&client, name, url).await;
        }
        sleep(Duration::from_millis(300)).await;
    }
    for (name, url) in &hosts {
        let host = url.trim_start_matches("http://");
        if let Some(breaker) = breakers.breaker(host) {
            println!("{name} is {}", breaker.snapshot().phase);
        }
    }
    Ok(())
}
