//! tokio's clock, which tests can pause.

use tokio::time::Instant;

use nanobreaker_core::Clock;

/// tokio's clock: it stands still while a test has paused time, and follows `tokio::time::advance`.
///
/// For tests; it costs as much as `std::time::Instant::now()`.
///
/// ```
/// # use nanobreaker::{Clock, TokioClock};
/// # use std::time::Duration;
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() {
///     tokio::time::pause();
///     let clock = TokioClock::new();
///     tokio::time::advance(Duration::from_secs(3)).await;
///     assert_eq!(clock.now_ms(), 3_000);
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    start: Instant,
}

impl TokioClock {
    /// A clock that starts at 0, now.
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
