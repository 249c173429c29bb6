//! How often evidence trips on noise alone, by the chain of its sum.
//!
//! The sum leaves 0 with a failure, and comes back to it or trips. These excursions are alike and know nothing
//! of each other. So trips are as many calls apart in the mean as an excursion takes, with the wait for its first
//! failure, divided by the share of excursions that trip. Within an excursion few sums are possible at a time, and
//! how probable each of them is follows from call to call.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Judges;

/// A sum is a whole number of such parts.
const PARTS: f64 = 1e9;
/// Sums that are looked at, over all calls of an excursion: a second's work. Where weights hold each other the
/// balance, excursions are longer.
const MOST: usize = 3_000_000;
/// What is less probable than a trip by this factor does not matter.
const TINY: f64 = 1e-12;

/// The weights and the threshold.
struct Sum {
    failure: i64,
    success: i64,
    threshold: i64,
}

/// The mean number of calls from one trip to the next where this share of them fails; infinite where that can't
/// be told from never. Evidence that must be sustained trips when the sum does, or later. `None` for other
/// windows, and where the chain does not come to an end.
pub(super) fn calls_between(judges: &Judges, normal: f64) -> Option<f64> {
    let Judges::Cusum { normal: well, broken, calls_per_false_trip, .. } = *judges else {
        return None;
    };
    let parts = |weight: f64| (weight * PARTS).round() as i64;
    let sum = Sum {
        failure: parts((broken / well).ln()),
        success: parts(((100.0 - well) / (100.0 - broken)).ln()),
        threshold: parts((calls_per_false_trip as f64).ln()),
    };
    let (calls, trips) = sum.excursion(normal)?;
    Some((1.0 / normal + calls) / trips)
}

/// Whether evidence must have been mounting for a while.
pub(super) fn is_sustained(judges: &Judges) -> bool {
    matches!(judges, Judges::Cusum { sustained_for, .. } if *sustained_for > Duration::ZERO)
}

impl Sum {
    /// The calls of an excursion after its first failure, and the probability that it trips.
    fn excursion(&self, failing: f64) -> Option<(f64, f64)> {
        if self.failure >= self.threshold {
            return Some((0.0, 1.0));
        }
        let (mut calls, mut trips, mut looked_at) = (0.0, 0.0, 0);
        let mut sums = BTreeMap::from([(self.failure, 1.0)]);
        while looked_at < MOST {
            let all: f64 = sums.values().sum();
            if all <= TINY * trips {
                return Some((calls, trips));
            }
            calls += all;
            looked_at += sums.len();
            let mut after = BTreeMap::new();
            for (sum, share) in sums {
                match sum + self.failure {
                    raised if raised >= self.threshold => trips += share * failing,
                    raised => *after.entry(raised).or_default() += share * failing,
                }
                if sum > self.success {
                    *after.entry(sum - self.success).or_default() += share * (1.0 - failing);
                }
            }
            after.retain(|_, share| *share > TINY * TINY * trips);
            sums = after;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Page's rule with a threshold of this logarithm.
    fn rule(well: f64, broken: f64, log: f64) -> Judges {
        Judges::Cusum {
            normal: well,
            broken,
            calls_per_false_trip: log.exp() as u64,
            sustained_for: Duration::ZERO,
        }
    }

    #[test]
    fn trips_are_as_far_apart_as_billions_of_random_calls_say() {
        // From 7,100 to 27,000 trips each, but for the last.
        for (well, broken, log, normal, calls, off) in [
            (1.0, 20.0, 14.0, 0.02, 281_452.0, 0.03),
            (1.0, 50.0, 16.0, 0.05, 18_142.0, 0.02),
            (2.0, 50.0, 16.0, 0.05, 207_125.0, 0.04),
            (2.0, 50.0, 20.0, 0.05, 2_355_713.0, 0.06),
        ] {
            let told = calls_between(&rule(well, broken, log), normal).unwrap();
            assert!((told / calls - 1.0).abs() < off, "{well}/{broken} at {normal}: {told}");
        }
    }

    #[test]
    fn calls_that_all_fail_trip_after_as_many_as_the_threshold_takes() {
        // 20 / ln(25) is 6.2.
        let between = calls_between(&rule(2.0, 50.0, 20.0), 1.0 - 1e-12).unwrap();
        assert!((between - 7.0).abs() < 1e-6, "{between}");
    }

    #[test]
    fn one_failure_in_a_billion_never_trips() {
        assert!(calls_between(&rule(2.0, 50.0, 20.0), 1e-9).unwrap() > 1e30);
    }
}
