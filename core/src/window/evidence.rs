//! What a window has counted, for people and for dashboards.

use crate::settings::{MILLION, Threshold};

/// How near a breaker is to tripping: read on demand by [`Breaker::evidence`](crate::Breaker::evidence).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Evidence {
    /// Of failed calls. `None` where the rule is a [`Custom`](super::Custom) one, which nobody else can
    /// read.
    pub failed: Option<Measured>,
    /// Of slow calls; `None` where no window judges them.
    pub slow: Option<Measured>,
}

/// What one window has counted, beside what trips it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Measured {
    /// Bad calls: within the time of a failure ring, or in a row.
    Count {
        /// Bad calls that count now.
        bad: u32,
        /// So many trip.
        limit: u32,
    },
    /// A rate: of the last calls, or of those of the last time.
    Rate {
        /// Bad calls that count now.
        bad: u64,
        /// All calls that count now, the bad ones among them.
        calls: u64,
        /// The rate that trips, in parts per million.
        limit_ppm: u32,
        /// From so many calls on it is judged.
        min_calls: u32,
    },
    /// A cumulative sum.
    Sum {
        /// The sum, in parts per million of what trips. Times ln(calls per false trip) it is the
        /// logarithm of how much likelier an outage makes what was seen.
        ppm: u32,
    },
}

impl Measured {
    pub(super) const fn rate(threshold: Threshold, bad: u64, calls: u64) -> Self {
        let Threshold { ppm: limit_ppm, min_calls } = threshold;
        Self::Rate { bad, calls, limit_ppm, min_calls }
    }

    /// How much of what trips there is, in parts per million: 0 is nothing, a million trips. Of a rate
    /// that is the rate itself or its minimum of calls, whichever is further from tripping.
    pub const fn share_ppm(&self) -> u32 {
        match *self {
            Self::Count { bad, limit } => millionths(bad as u64, limit as u64),
            Self::Rate { bad, calls, limit_ppm, min_calls } => {
                let rate = millionths(millionths(bad, calls) as u64, limit_ppm as u64);
                let filled = millionths(calls, min_calls as u64);
                if rate < filled { rate } else { filled }
            }
            Self::Sum { ppm } => ppm,
        }
    }
}

/// `part` of `whole` in parts per million, rounded down: at most a million. Of nothing there is nothing.
const fn millionths(part: u64, whole: u64) -> u32 {
    match (part as u128 * MILLION as u128).checked_div(whole as u128) {
        Some(share) if share < MILLION as u128 => share as u32,
        Some(_) => MILLION,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    use crate::window::{Adjustable, Consecutive, Custom, Failures, Lane, Lanes, Policy, WithSlow};
    use crate::{Breaker, Config, ManualClock, Outcome, Rate, Settings, WindowSettings};

    #[test]
    fn a_million_is_what_trips() {
        let rate = |bad, calls| Measured::Rate { bad, calls, limit_ppm: 500_000, min_calls: 10 }.share_ppm();
        assert_eq!(rate(0, 0), 0);
        assert_eq!(rate(5, 5), 500_000, "half of the minimum");
        assert_eq!(rate(3, 12), 500_000, "half of the rate");
        assert_eq!(rate(6, 12), 1_000_000);
        assert_eq!(rate(u64::MAX, u64::MAX), 1_000_000);
        let count = |bad| Measured::Count { bad, limit: 3 }.share_ppm();
        assert_eq!([count(0), count(2), count(3)], [0, 666_666, 1_000_000]);
        assert_eq!(Measured::Sum { ppm: 77 }.share_ppm(), 77);
    }
    #[test]
    fn a_failure_of_a_whole_turn_ago_is_none_though_its_stamp_came_round() {
        let window = Failures::<4>::within_ms(1_000).unwrap();
        let breaker = Breaker::new(window, Config::DEFAULT, ManualClock::new(0));
        let failed = || breaker.evidence().failed.unwrap();
        breaker.allow().unwrap().failure();
        breaker.allow().unwrap().failure();
        assert_eq!(failed(), Measured::Count { bad: 2, limit: 4 });
        // Half a turn of a narrow stamp. The failure takes the place of one of the two.
        breaker.clock().advance(1 << 22);
        breaker.allow().unwrap().failure();
        assert_eq!(failed(), Measured::Count { bad: 1, limit: 4 });
        breaker.clock().advance(1 << 22);
        assert_eq!(failed(), Measured::Count { bad: 0, limit: 4 });
    }

    #[test]
    fn slow_calls_are_told_apart_where_a_window_judges_them() {
        let row = |threshold| Consecutive::new(threshold).unwrap();
        let breaker = Breaker::new(WithSlow::new(row(3), row(4)), Config::DEFAULT, ManualClock::new(0));
        for outcome in [Outcome::SlowFailure, Outcome::Failure] {
            breaker.allow().unwrap().record(outcome);
        }
        let count = |bad, limit| Some(Measured::Count { bad, limit });
        assert_eq!(breaker.evidence(), Evidence { failed: count(2, 3), slow: count(0, 4) });
    }

    #[test]
    fn other_settings_show_with_an_empty_window() {
        let settings =
            |threshold| Settings { window: WindowSettings::Consecutive { threshold }, ..Settings::DEFAULT };
        let window = Adjustable::<1>::new(&settings(3)).unwrap();
        let breaker = Breaker::new(window, (), ManualClock::new(0));
        breaker.allow().unwrap().failure();
        assert_eq!(breaker.evidence().failed, Some(Measured::Count { bad: 1, limit: 3 }));
        breaker.adjust(&settings(7)).unwrap();
        assert_eq!(breaker.evidence().failed, Some(Measured::Count { bad: 0, limit: 7 }));
        assert_eq!(breaker.evidence().slow, None);
    }

    #[test]
    fn calls_in_all_lanes_add_up() {
        struct InTurn([Lane; 2], Cell<usize>);
        impl Lanes for InTurn {
            fn own(&self) -> Option<&Lane> {
                self.0.get(self.1.replace(1 - self.1.get()))
            }

            fn all(&self) -> &[Lane] {
                &self.0
            }
        }
        let rate = Rate::percent(50).min_calls(10);
        let window = WindowSettings::Time { span_ms: 1_000, buckets: 4, rate };
        let lanes = InTurn([Lane::new(), Lane::new()], Cell::new(0));
        let window = Adjustable::<9>::new(&Settings { window, ..Settings::DEFAULT }).unwrap();
        let breaker = Breaker::new(window.with_lanes(lanes), (), ManualClock::new(0));
        for outcome in [Outcome::Success, Outcome::Success, Outcome::Success, Outcome::Failure] {
            breaker.allow().unwrap().record(outcome);
            breaker.clock().advance(200);
        }
        let rate = |bad, calls| Measured::Rate { bad, calls, limit_ppm: 500_000, min_calls: 10 };
        assert_eq!(breaker.evidence().failed, Some(rate(1, 4)));
        breaker.clock().advance(400);
        assert_eq!(breaker.evidence().failed, Some(rate(1, 2)));
    }

    #[test]
    fn a_rule_of_ones_own_shows_nothing() {
        struct Never;
        impl Policy for Never {
            fn trips(&self, _: Outcome, _: u16) -> bool {
                false
            }
        }
        let breaker = Breaker::new(Custom(Never), Config::DEFAULT, ManualClock::new(0));
        assert_eq!(breaker.evidence(), Evidence { failed: None, slow: None });
    }
}
