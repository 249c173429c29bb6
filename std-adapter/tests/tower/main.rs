//! The tower layer: around plain services under paused time, and between real clients and servers.

mod asked;
mod axum_routes;
mod body;
mod gate;
mod grpc;
mod http;
mod neighbours;
mod servers;
mod service;

use std::time::Duration;

use nanobreaker::{Phase, SharedBreaker, SharedBreakerBuilder, TokioClock};

/// A breaker that opens for 10 s on the first failure and closes on the first success, in tokio's time.
fn breaker() -> SharedBreaker {
    builder().build().unwrap()
}

fn builder() -> SharedBreakerBuilder {
    SharedBreaker::builder()
        .consecutive(1)
        .open_for(Duration::from_secs(10))
        .probe_successes(1)
        .clock(TokioClock::new())
}

fn phase(breaker: &SharedBreaker) -> Phase {
    breaker.snapshot().phase
}
