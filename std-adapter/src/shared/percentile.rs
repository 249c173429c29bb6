//! Percentiles of durations in the builder.

use std::time::Duration;

use nanobreaker_core::Rate;
use nanobreaker_settings::Percentile;

use super::SharedBreakerBuilder;

impl SharedBreakerBuilder {
    /// Trips also when this percentile of the durations of the last `size` calls exceeds `limit`, once
    /// there are `min_calls`. Slow calls are then no failures.
    ///
    /// It is a rate of calls that are [slow after](Self::slow_after) `limit`: see [`Percentile`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use nanobreaker::{Percentile, SharedBreaker};
    ///
    /// let limit = Duration::from_millis(500);
    /// let search = SharedBreaker::builder().percentile_of_calls(Percentile::P95, limit, 100, 20).build()?;
    /// assert_eq!(search.settings().slow_after_ms, Some(500));
    /// # Ok::<(), nanobreaker::ConfigError>(())
    /// ```
    pub fn percentile_of_calls(
        self,
        percentile: Percentile,
        limit: Duration,
        size: u32,
        min_calls: u32,
    ) -> Self {
        self.slow_after(limit).slow_rate_of_calls(size, rate(percentile, min_calls))
    }

    /// The same of the calls of the last `span`, counted in `buckets` (at most 64).
    pub fn percentile_of_time(
        self,
        percentile: Percentile,
        limit: Duration,
        span: Duration,
        buckets: u32,
        min_calls: u32,
    ) -> Self {
        self.slow_after(limit).slow_rate_of_time(span, buckets, rate(percentile, min_calls))
    }
}

fn rate(percentile: Percentile, min_calls: u32) -> Rate {
    percentile.rate_of_slow_calls().min_calls(min_calls)
}
