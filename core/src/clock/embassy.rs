//! embassy-time's clock.

use crate::clock::Clock;

/// Embassy's uptime, from the time driver that the binary links.
///
/// A read costs one of `embassy_time::Instant::now()` and its conversion to milliseconds.
///
/// ```no_run
/// use nanobreaker_core::{Breaker, Config, EmbassyClock, checked, window::Failures};
///
/// static RADIO: Breaker<Failures<3>, EmbassyClock> = Breaker::new(
///     checked!(Failures::new(3, 10_000)),
///     Config::DEFAULT,
///     EmbassyClock,
/// );
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct EmbassyClock;

impl Clock for EmbassyClock {
    #[inline]
    fn now_ms(&self) -> u64 {
        embassy_time::Instant::now().as_millis()
    }
}
