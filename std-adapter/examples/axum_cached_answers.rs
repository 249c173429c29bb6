//! An axum server whose endpoints call a dependency, each through a breaker of its own, and answer
//! from their cache while it is down. Runs for about a second:
//!
//! ```console
//! cargo run -p nanobreaker --example axum_cached_answers
//! ```

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use nanobreaker::{CallError, CallExt, SharedBreaker};
use tokio::net::TcpListener;
use tokio::time::sleep;

/// An endpoint: where its answers come from, what guards that, and the last one that came.
#[derive(Clone)]
struct Endpoint {
    url: String,
    breaker: SharedBreaker,
    cached: Arc<Mutex<Option<String>>>,
}

impl Endpoint {
    fn new(name: &'static str, dependency: &str) -> Result<Self, Box<dyn Error>> {
        let breaker = SharedBreaker::builder()
            .consecutive(2)
            .open_for(Duration::from_millis(300))
            .max_open(Duration::from_millis(300))
            .probe_successes(1)
            .on_transition(move |change| println!("  {name}: {} -> {}", change.from, change.to))
            .build()?;
        Ok(Self { url: format!("{dependency}/{name}"), breaker, cached: Arc::default() })
    }

    fn cached(&self) -> Option<String> {
        let cached = self.cached.lock();
        cached.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, answer: &str) {
        let cached = self.cached.lock();
        *cached.unwrap_or_else(PoisonError::into_inner) = Some(answer.into());
    }
}

/// Fresh if the dependency answers, else from the cache. With neither it is 503 with `Retry-After`
/// where the breaker rejected the call, and 502 where the call failed.
async fn answer(State(endpoint): State<Endpoint>) -> Response {
    match endpoint.breaker.call_async(fetch(&endpoint.url)).await {
        Ok(fresh) => {
            endpoint.keep(&fresh);
            format!("{fresh} (fresh)").into_response()
        }
        Err(why) => match (endpoint.cached(), why) {
            (Some(cached), CallError::Rejected(_)) => format!("{cached} (cached)").into_response(),
            (Some(cached), CallError::Failed(_) | CallError::TimedOut) => {
                format!("{cached} (cached, after a failed call)").into_response()
            }
            (None, why) => why.into_response(),
        },
    }
}

async fn fetch(url: &str) -> Result<String, StatusCode> {
    let bad_gateway = |_| StatusCode::BAD_GATEWAY;
    let response = reqwest::get(url).await.map_err(bad_gateway)?;
    let response = response.error_for_status().map_err(bad_gateway)?;
    response.text().await.map_err(bad_gateway)
}

/// The dependency: stock always answers, rates only while it is up.
fn dependency(up: Arc<AtomicBool>) -> Router {
    let rates = async move || match up.load(Ordering::Relaxed) {
        true => Ok("1.09"),
        false => Err(StatusCode::INTERNAL_SERVER_ERROR),
    };
    Router::new().route("/rates", get(rates)).route("/stock", get(async || "7 left"))
}

async fn serve(app: Router) -> Result<String, Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async { axum::serve(listener, app).await });
    Ok(format!("http://{address}"))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let up = Arc::new(AtomicBool::new(true));
    let dependency = serve(dependency(Arc::clone(&up))).await?;
    let endpoint = |name| Endpoint::new(name, &dependency);
    let app = Router::new()
        .route("/rates", get(answer).with_state(endpoint("rates")?))
        .route("/stock", get(answer).with_state(endpoint("stock")?));
    let server = serve(app).await?;

    for round in 0..10 {
        up.store(!(2..6).contains(&round), Ordering::Relaxed);
        for path in ["/rates", "/stock"] {
            let response = reqwest::get(format!("{server}{path}")).await?;
            println!("{path}: {} {}", response.status(), response.text().await?);
        }
        sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}
