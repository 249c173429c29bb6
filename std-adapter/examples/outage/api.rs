//! The API server: payments, search and products on one worker pool.
//!
//! Search and products are healthy and take a few milliseconds. Payments call the provider with an HTTP client
//! whose timeout is real, through the guard. The answer says how it went: 200, 503 for rejected by the breaker,
//! 504 for a timeout, 502 for another failure of the provider.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use nanobreaker::CallError;
use tokio::net::TcpListener;

use crate::guard::Guard;
use crate::pool::Pool;
use crate::scenario::Scenario;

struct Api {
    pool: Arc<Pool>,
    guard: Arc<Guard>,
    provider: reqwest::Client,
    charge: reqwest::Url,
    search_takes: Duration,
    products_takes: Duration,
}

/// Starts the server on a port of its own; it ends with the runtime that it was started on.
pub(crate) async fn start(
    scenario: &Scenario,
    pool: Arc<Pool>,
    guard: Arc<Guard>,
    provider: SocketAddr,
) -> Result<SocketAddr, Box<dyn Error>> {
    let api = Arc::new(Api {
        pool,
        guard,
        provider: reqwest::Client::builder()
            .timeout(scenario.http_timeout)
            .pool_max_idle_per_host(scenario.workers)
            .build()?,
        charge: format!("http://{provider}/charge").parse()?,
        search_takes: scenario.search_takes,
        products_takes: scenario.products_takes,
    });
    let router = Router::new()
        .route("/payments", post(payments))
        .route("/search", get(search))
        .route("/products", get(products))
        .with_state(api);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(accept(listener, router));
    Ok(address)
}

/// `axum::serve` would do, but for its limit of 200 requests at once on one connection: here thousands wait for
/// a worker on a few connections, as behind a load balancer, and that queue is what the demonstration shows.
async fn accept(listener: TcpListener, router: Router) {
    while let Ok((socket, _)) = listener.accept().await {
        // Without it the kernel holds small answers back for milliseconds, waiting for more to send.
        let _ = socket.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            // A connection that breaks shows in the callers' figures.
            let _ = http2::Builder::new(TokioExecutor::new())
                .max_concurrent_streams(100_000)
                // Callers who give up are no attack.
                .max_pending_accept_reset_streams(100_000)
                .serve_connection(TokioIo::new(socket), service)
                .await;
        });
    }
}

async fn search(State(api): State<Arc<Api>>) -> StatusCode {
    let _worker = api.pool.worker().await;
    tokio::time::sleep(api.search_takes).await;
    StatusCode::OK
}

async fn products(State(api): State<Arc<Api>>) -> StatusCode {
    let _worker = api.pool.worker().await;
    tokio::time::sleep(api.products_takes).await;
    StatusCode::OK
}

async fn payments(State(api): State<Arc<Api>>) -> Response {
    let worker = api.pool.worker().await;
    // A task of its own: a worker does not notice that its caller has gone, and works on until the provider's
    // answer or the timeout. Were it cancelled with the caller, hung calls would end without an outcome.
    let work = tokio::spawn(async move {
        let answer = api.pay().await;
        drop(worker);
        answer
    });
    work.await.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

impl Api {
    async fn pay(&self) -> Response {
        let charge = async {
            let request = self.provider.post(self.charge.clone());
            request.send().await?.error_for_status()
        };
        match self.guard.call(charge).await {
            Ok(_) => StatusCode::OK.into_response(),
            Err(CallError::Rejected(rejected)) => {
                let wait = rejected.retry_after().unwrap_or_default();
                // Retry-After knows whole seconds only: round up, never to "at once".
                let wait = wait.as_millis().div_ceil(1_000).max(1).to_string();
                (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, wait)]).into_response()
            }
            Err(CallError::Failed(error)) if error.is_timeout() => {
                StatusCode::GATEWAY_TIMEOUT.into_response()
            }
            Err(CallError::TimedOut) => StatusCode::GATEWAY_TIMEOUT.into_response(),
            Err(CallError::Failed(_)) => StatusCode::BAD_GATEWAY.into_response(),
        }
    }
}
