//! The operating system's coarse monotonic clock.

use coarsetime::Instant;

use nanobreaker_core::Clock;

/// Milliseconds of the operating system's coarse monotonic clock, where it has one.
///
/// A read costs a fraction of `std::time::Instant::now()`, so a rejection does too. In exchange the
/// clock moves in steps: of 1 to 10 ms on Linux, 4 ms with most kernels, and a breaker's times are
/// exact to such a step. Where the platform has no coarse clock this is its usual one.
///
/// ```
/// use nanobreaker::{Breaker, CoarseClock, Config, checked, window::Failures};
///
/// static PAYMENTS: Breaker<Failures<5>, CoarseClock> = Breaker::new(
///     checked!(Failures::within_ms(10_000)),
///     checked!(Config::builder().open_for_ms(10_000).build()),
///     CoarseClock,
/// );
/// # assert!(PAYMENTS.allow().is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CoarseClock;

impl Clock for CoarseClock {
    #[inline]
    fn now_ms(&self) -> u64 {
        // Not `now`, which also stores what it read in a place that all threads share.
        Instant::now_without_cache_update().duration_since(Instant::from_ticks(0)).as_millis()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant as Precise};

    use super::*;

    #[test]
    fn it_moves_forward_with_real_time() {
        let (coarse, precise) = (CoarseClock.now_ms(), Precise::now());
        while CoarseClock.now_ms() < coarse + 20 {
            assert!(precise.elapsed() < Duration::from_secs(5), "stands still");
        }
        // Its steps are at most 10 ms.
        assert!(precise.elapsed() >= Duration::from_millis(9));
    }
}
