//! Percentiles of durations, as rates of slow calls.

use nanobreaker_core::Rate;

/// A percentile of the durations of a window's calls, by nearest rank.
///
/// It exceeds a limit exactly where more than the other part of the calls took longer than that: the 95th
/// percentile, where more than 5 % did. So a rate of slow calls judges it without keeping any duration.
///
/// ```
/// use nanobreaker_settings::Percentile;
///
/// assert_eq!(Percentile::P95.name(), "p95");
/// // A millionth above 5 %: exactly 5 % of the calls may be slow.
/// assert_eq!(Percentile::P95.rate_of_slow_calls().as_ppm(), 50_001);
/// ```
///
/// That millionth is exact for windows of up to 500,000 calls at p50, 100,000 at p90, 50,000 at p95, 10,000
/// at p99 and 1,000 at p99.9. In windows of more calls the rate that trips is at most a millionth off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Percentile {
    /// The median.
    P50,
    /// The 90th.
    P90,
    /// The 95th.
    P95,
    /// The 99th.
    P99,
    /// The 99.9th.
    P999,
}

impl Percentile {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::P50, Self::P90, Self::P95, Self::P99, Self::P999];

    /// Its key in a file: `p50`, `p90`, `p95`, `p99` or `p999`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p999",
        }
    }

    /// From this share of slow calls on it exceeds the limit.
    pub const fn rate_of_slow_calls(self) -> Rate {
        let may_be_slow = match self {
            Self::P50 => 500_000,
            Self::P90 => 100_000,
            Self::P95 => 50_000,
            Self::P99 => 10_000,
            Self::P999 => 1_000,
        };
        // Windows trip at a rate and above it.
        Rate::ppm(may_be_slow + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nanobreaker_core::window::{Calls, calls_words};
    use nanobreaker_core::{Breaker, Config, ManualClock, Phase};

    const SIZE: usize = 1_000;

    /// Latencies from 0 to 999 ms, drawn so that each percentile crosses its limit often.
    fn latencies(count: usize) -> Vec<u32> {
        let mut state = 7_u64;
        let mut draw = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut shift = 0;
        (0..count)
            .map(|place| {
                if place % 500 == 0 {
                    shift = draw() % 400;
                }
                // Of two draws the smaller: short ones are more frequent.
                (draw() % 600).min(draw() % 600) as u32 + shift as u32
            })
            .collect()
    }

    #[test]
    fn a_rate_of_slow_calls_trips_exactly_where_the_sorted_list_says() {
        let all = latencies(100_000);
        for (percentile, rank_in_a_thousand, limit_ms) in [
            (Percentile::P50, 500, 340),
            (Percentile::P90, 900, 560),
            (Percentile::P95, 950, 620),
            (Percentile::P99, 990, 740),
            (Percentile::P999, 999, 860),
        ] {
            let window = || {
                let rate = percentile.rate_of_slow_calls();
                let window = Calls::<{ calls_words(SIZE as u32) }>::new(SIZE as u32, rate).unwrap();
                Breaker::new(window, Config::DEFAULT, ManualClock::new(0))
            };
            let (mut breaker, mut began, mut trips) = (window(), 0, 0);
            let mut sorted: Vec<u32> = Vec::new();
            for end in 1..=all.len() {
                let permit = breaker.allow().unwrap();
                if all[end - 1] > limit_ms {
                    permit.failure()
                } else {
                    permit.success()
                }
                let place = |sorted: &[u32], one| sorted.partition_point(|other| *other < one);
                sorted.insert(place(&sorted, all[end - 1]), all[end - 1]);
                if end - began > SIZE {
                    sorted.remove(place(&sorted, all[end - 1 - SIZE]));
                }
                // Nearest rank: the smallest that at least this part of the list does not exceed.
                let rank = (sorted.len() * rank_in_a_thousand).div_ceil(1_000);
                let exceeds = sorted[rank - 1] > limit_ms;
                assert_eq!(breaker.phase() == Phase::Open, exceeds, "{percentile:?} at call {end}");
                if exceeds {
                    (breaker, began, trips) = (window(), end, trips + 1);
                    sorted.clear();
                }
            }
            assert!(trips > 10, "{percentile:?}: {trips}");
        }
    }
}
