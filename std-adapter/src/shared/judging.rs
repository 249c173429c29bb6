//! Settings of the builder that say how calls are judged.

use std::time::Duration;

use nanobreaker_core::{CusumSettings, Rate, WindowSettings};
use nanobreaker_settings::millis;

use super::SharedBreakerBuilder;

impl SharedBreakerBuilder {
    /// Judges failed calls by this window: see [`WindowSettings`].
    pub fn window(mut self, window: WindowSettings) -> Self {
        self.settings.window = window;
        self
    }

    /// Trips on `threshold` failures (at most 129) within a time: see
    /// [`Failures`](nanobreaker_core::window::Failures).
    pub fn failures(self, threshold: u32, within: Duration) -> Self {
        self.window(WindowSettings::Failures { threshold, within_ms: millis(within) })
    }

    /// Trips on `threshold` failures in a row: see
    /// [`Consecutive`](nanobreaker_core::window::Consecutive).
    pub fn consecutive(self, threshold: u32) -> Self {
        self.window(WindowSettings::Consecutive { threshold })
    }

    /// Trips when so many of the last `size` calls (at most 1,024) failed: see
    /// [`Calls`](nanobreaker_core::window::Calls).
    ///
    /// ```
    /// use nanobreaker::{Rate, SharedBreaker};
    ///
    /// let half = Rate::percent(50).min_calls(20);
    /// let search = SharedBreaker::builder().failure_rate_of_calls(100, half).build()?;
    /// # drop(search);
    /// # Ok::<(), nanobreaker::ConfigError>(())
    /// ```
    pub fn failure_rate_of_calls(self, size: u32, rate: Rate) -> Self {
        self.window(WindowSettings::Calls { size, rate })
    }

    /// Trips when so many of the calls of the last `span` failed, counted in `buckets` (at most 64): see
    /// [`Time`](nanobreaker_core::window::Time).
    pub fn failure_rate_of_time(self, span: Duration, buckets: u32, rate: Rate) -> Self {
        self.window(WindowSettings::Time { span_ms: millis(span), buckets, rate })
    }

    /// Trips on evidence that the dependency is broken: see
    /// [`Cusum`](nanobreaker_core::window::Cusum).
    pub fn cusum(self, settings: CusumSettings) -> Self {
        self.window(WindowSettings::Cusum(settings))
    }

    /// A call is slow when it took longer than this: see
    /// [`Caller::slow_after`](crate::Caller::slow_after). From a millisecond to 18 hours. A slow call is
    /// a failure, unless a rate of slow calls judges it.
    pub fn slow_after(mut self, limit: Duration) -> Self {
        self.settings.slow_after_ms = Some(limit_ms(limit));
        self
    }

    /// Judges slow calls by this window; they are then no failures.
    pub fn slow_window(mut self, window: WindowSettings) -> Self {
        self.settings.slow_window = Some(window);
        self
    }

    /// Trips also when so many of the last `size` calls were slow. Slow calls are then no failures.
    pub fn slow_rate_of_calls(self, size: u32, rate: Rate) -> Self {
        self.slow_window(WindowSettings::Calls { size, rate })
    }

    /// Trips also when so many of the calls of the last `span` were slow. Slow calls are then no
    /// failures.
    pub fn slow_rate_of_time(self, span: Duration, buckets: u32, rate: Rate) -> Self {
        self.slow_window(WindowSettings::Time { span_ms: millis(span), buckets, rate })
    }

    /// A call that still runs after this long is judged a failure at that moment: see
    /// [`Caller::hung_after`](crate::Caller::hung_after). From a millisecond to 18 hours.
    #[cfg(feature = "tokio")]
    pub fn hung_after(mut self, limit: Duration) -> Self {
        self.settings.hung_after_ms = Some(limit_ms(limit));
        self
    }
}

/// A limit of calls as the breaker keeps it. What is too long for that is too long for any limit.
fn limit_ms(limit: Duration) -> u32 {
    u32::try_from(millis(limit)).unwrap_or(u32::MAX)
}
