//! The reqwest middleware, against real servers and beside real retries.

mod chain;
mod requests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use nanobreaker::reqwest::{BreakerMiddleware, rejection};
use nanobreaker::{BreakerRef, ManualClock, Outcome, Phase, Registry, SharedBreaker, SharedBreakerBuilder};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Error};
use tokio::net::TcpListener;

type Middleware = BreakerMiddleware;

/// Breakers that open for 10 s, at most for 60, on this many failures in a row.
fn per_host(failures: u32) -> Middleware {
    BreakerMiddleware::per_host(move |_| breaker(failures))
}

/// The clock of this thread's breakers.
fn clock() -> &'static ManualClock {
    thread_local! {
        static CLOCK: &'static ManualClock = Box::leak(Box::new(ManualClock::new(0)));
    }
    CLOCK.with(|clock| *clock)
}

fn breaker(failures: u32) -> SharedBreakerBuilder {
    SharedBreaker::builder()
        .consecutive(failures)
        .open_for(Duration::from_secs(10))
        .max_open(Duration::from_secs(60))
        .probe_successes(1)
        .clock(clock())
}

fn client(middleware: &Middleware) -> ClientWithMiddleware {
    ClientBuilder::new(reqwest::Client::new()).with(middleware.clone()).build()
}

/// A server that answers with the status that the path names, and counts its requests.
struct Server {
    host: String,
    requests: Arc<AtomicU32>,
}

impl Server {
    async fn start() -> Self {
        let requests = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&requests);
        let answer = async move |Path((status, retry_after)): Path<(u16, String)>| {
            counter.fetch_add(1, Ordering::SeqCst);
            let status = StatusCode::from_u16(status).unwrap();
            (status, [(header::RETRY_AFTER, retry_after)])
        };
        let app = Router::new().route("/{status}/{retry_after}", axum::routing::get(answer));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        tokio::spawn(async { axum::serve(listener, app).await });
        Self { host, requests }
    }

    fn url(&self, status: u16) -> String {
        self.url_with(status, "none")
    }

    fn url_with(&self, status: u16, retry_after: &str) -> String {
        format!("http://{}/{status}/{retry_after}", self.host)
    }

    fn breaker(&self, middleware: &Middleware) -> BreakerRef {
        middleware.breaker(&self.host).unwrap()
    }

    fn phase(&self, middleware: &Middleware) -> Phase {
        self.breaker(middleware).snapshot().phase
    }

    fn requests(&self) -> u32 {
        self.requests.load(Ordering::SeqCst)
    }
}

async fn get(client: &ClientWithMiddleware, url: String) -> Result<StatusCode, Error> {
    client.get(url).send().await.map(|response| response.status())
}

async fn is_rejected(client: &ClientWithMiddleware, url: String) -> bool {
    get(client, url).await.is_err_and(|error| rejection(&error).is_some())
}
