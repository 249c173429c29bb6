//! The wall's clock, which goes on while a process is frozen.

use std::time::{SystemTime, UNIX_EPOCH};

use nanobreaker_core::Clock;

/// Milliseconds of the system's clock since 1970: for processes that are frozen between requests, such as AWS
/// Lambda's, where monotonic clocks may stand still meanwhile.
///
/// Whoever sets the system's clock sets this one. Set forward, open times end early; set back, an open time
/// begins anew once (see [`Config`](crate::Config)). Elsewhere use [`CoarseClock`](crate::CoarseClock), which
/// nobody sets and which costs less.
///
/// ```
/// use nanobreaker::{SharedBreaker, WallClock};
///
/// let breaker = SharedBreaker::builder().clock(WallClock).build()?;
/// # drop(breaker);
/// # Ok::<(), nanobreaker::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct WallClock;

impl Clock for WallClock {
    fn now_ms(&self) -> u64 {
        // Before 1970 it stands still.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}
