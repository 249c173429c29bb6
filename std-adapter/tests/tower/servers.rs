//! Real servers on the loopback interface, and breakers whose time the test sets.

use std::time::Duration;

use axum::Router;
use nanobreaker::{ManualClock, Phase, SharedBreaker};
use tokio::net::TcpListener;

/// Serves `app` until the test ends; returns the address as the beginning of a URL.
pub(crate) async fn serve(app: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, app).await });
    format!("http://{address}")
}

/// The clock of this thread's breakers.
pub(crate) fn clock() -> &'static ManualClock {
    thread_local! {
        static CLOCK: &'static ManualClock = Box::leak(Box::new(ManualClock::new(0)));
    }
    CLOCK.with(|clock| *clock)
}

/// A breaker that opens for 10 s on the first failure and closes on the first success.
pub(crate) fn manual_breaker() -> SharedBreaker {
    let builder = SharedBreaker::builder().consecutive(1).open_for(Duration::from_secs(10));
    builder.probe_successes(1).clock(clock()).build().unwrap()
}

pub(crate) fn phase(breaker: &SharedBreaker) -> Phase {
    breaker.snapshot().phase
}
