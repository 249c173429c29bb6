//! The cumulative sum, in the units that its documentation names.
//!
//! Its weights are rounded to the cautious side, by up to two units. A [`Cusum`] goes on with each
//! pair of weights that this allows.

use nanobreaker_core::CusumSettings;

use super::settings::WIDE;
use super::time::Moment;
use super::window::Verdicts;

/// The sum that trips.
const TRIPS_AT: i64 = if WIDE { 1 << 26 } else { 1 << 24 };
/// The time of the first evidence comes round after so many milliseconds.
const RANGE_MS: i128 = 1 << 26;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cusum {
    sustained_for_ms: i128,
    sums: Vec<Sum>,
}

/// One sum, by one pair of weights.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Sum {
    failure: i64,
    success: i64,
    sum: i64,
    /// When it left 0, or when a failure came too late to find more than a lone one.
    began: Moment,
}

impl Cusum {
    pub fn new(settings: CusumSettings) -> Self {
        let rate = |ppm: u32| f64::from(ppm) / 1e6;
        let (normal, broken) = (rate(settings.normal_ppm), rate(settings.broken_ppm));
        let unit = TRIPS_AT as f64 / (settings.calls_per_false_trip as f64).ln();
        let failure = (broken / normal).ln() * unit;
        let success = ((1.0 - normal) / (1.0 - broken)).ln() * unit;
        // The logarithms here are exact to far less than a thousandth of a unit.
        let (failure, success) = ((failure + 1e-3).floor(), (success - 1e-3).ceil());
        let sums = [0, 1].into_iter().flat_map(|less| {
            [0, 1].map(|more| Sum {
                failure: (failure as i64 - less).min(TRIPS_AT),
                success: (success as i64 + more).min(TRIPS_AT),
                sum: 0,
                began: 0,
            })
        });
        Self { sustained_for_ms: settings.sustained_for_ms.into(), sums: sums.collect() }
    }

    /// What each sum may be in, in parts per million of what trips.
    pub fn shares_ppm(&self) -> Vec<u32> {
        self.sums.iter().map(|sum| (sum.sum * 1_000_000 / TRIPS_AT) as u32).collect()
    }

    pub fn take_in(&mut self, bad: bool, now: Moment) -> Verdicts {
        if !bad {
            for sum in &mut self.sums {
                sum.sum = (sum.sum - sum.success).max(0);
            }
            return Verdicts::exactly(false);
        }
        let sustained_for = self.sustained_for_ms;
        let trips: Vec<bool> = self.sums.iter_mut().map(|sum| sum.fail(now, sustained_for)).collect();
        Verdicts::between(trips.iter().all(|trips| *trips), trips.contains(&true))
    }
}

impl Sum {
    /// One more failure; whether it trips.
    fn fail(&mut self, now: Moment, sustained_for: i128) -> bool {
        // Where it stops until it has lasted: one failure below what trips.
        let full = (TRIPS_AT - self.failure).max(1);
        let passed = (now - self.began).rem_euclid(RANGE_MS);
        let is_lone = self.sum <= self.failure && self.failure < full && passed > sustained_for;
        if self.sum == 0 || is_lone {
            self.began = now;
        }
        let raised = self.sum + self.failure;
        if raised < TRIPS_AT {
            self.sum = raised;
            return false;
        }
        if sustained_for == 0 {
            return true;
        }
        let passed = (now - self.began).rem_euclid(RANGE_MS);
        if (sustained_for..RANGE_MS / 2).contains(&passed) {
            return true;
        }
        if passed >= RANGE_MS / 2 {
            self.began = now;
        }
        self.sum = full;
        false
    }
}
