//! How many calls an outage must take in before any rule can know: the lower bound.
//!
//! Of all rules with as many calls between false trips, none has a smaller worst mean delay than the
//! cumulative sum that knows both failure rates (Lorden 1971, Moustakides 1986). Its sum is a Markov
//! chain, whose mean times to the trip solve a system of linear equations (Brook and Evans, Biometrika
//! 1972).
//!
//! The chain lives on a lattice: both weights are whole numbers whose ratio is as near to the true one as
//! a few steps allow. That is a cumulative sum for rates a little beside the true ones, and its delay
//! differs by less than a hundredth. Where the sum lands on the threshold exactly it trips with a
//! probability, so that any number of calls between false trips is met exactly.

/// The mean number of calls from the beginning of an outage to the trip, at best, where `background` of the
/// calls fail before it and `outage` in it, for a rule that trips once in `calls_between` calls without it.
/// The outage begins at any moment of a well time.
pub fn least_calls(background: f64, outage: f64, calls_between: f64) -> f64 {
    let steps = Steps::between(background, outage);
    let threshold = Threshold::for_interval(steps, background, calls_between);
    let delays = steps.calls_to_trip(threshold, outage);
    let present = steps.sum_on_a_good_day(threshold, background);
    delays.iter().zip(&present).map(|(delay, share)| delay * share).sum()
}

/// What an outcome does to the sum.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Steps {
    /// A failure's weight.
    up: usize,
    /// A success's weight. Larger than any sum where one success is proof.
    down: usize,
}

/// The most steps that a success takes.
const FINEST: usize = 12;

impl Steps {
    fn between(background: f64, outage: f64) -> Self {
        if outage >= 1.0 {
            return Self { up: 1, down: usize::MAX };
        }
        let ratio = (outage / background).ln() / ((1.0 - background) / (1.0 - outage)).ln();
        let off = |down: &usize| {
            let exact = ratio * *down as f64;
            (exact.round() - exact).abs() / exact
        };
        let down = (1..=FINEST).min_by(|one, other| off(one).total_cmp(&off(other))).unwrap_or(FINEST);
        Self { up: (ratio * down as f64).round() as usize, down }
    }

    /// For each sum: the mean number of calls until the trip where `failing` of them fail.
    fn calls_to_trip(self, threshold: Threshold, failing: f64) -> Vec<f64> {
        let size = threshold.sum + 1;
        let mut system = Banded::identity(size, self.down, self.up);
        for sum in 0..size {
            let raised = sum + self.up;
            if raised < size {
                let stays = if raised == threshold.sum { 1.0 - threshold.trips_on_it } else { 1.0 };
                system.add(sum, raised, -failing * stays);
            }
            system.add(sum, sum.saturating_sub(self.down), failing - 1.0);
        }
        system.solve(vec![1.0; size])
    }

    /// How the sum is distributed while nothing is wrong; it begins anew after a false trip.
    fn sum_on_a_good_day(self, threshold: Threshold, failing: f64) -> Vec<f64> {
        const ENOUGH_CALLS: usize = 2_000;
        let size = threshold.sum + 1;
        let mut present = vec![0.0; size];
        present[0] = 1.0;
        for _ in 0..ENOUGH_CALLS {
            let mut next = vec![0.0; size];
            for (sum, share) in present.iter().enumerate() {
                next[sum.saturating_sub(self.down)] += share * (1.0 - failing);
                let raised = sum + self.up;
                let stays = match raised.cmp(&threshold.sum) {
                    std::cmp::Ordering::Less => 1.0,
                    std::cmp::Ordering::Equal => 1.0 - threshold.trips_on_it,
                    std::cmp::Ordering::Greater => 0.0,
                };
                next[if stays > 0.0 { raised } else { 0 }] += share * failing * stays;
                next[0] += share * failing * (1.0 - stays);
            }
            present = next;
        }
        present
    }
}

/// Sums above it trip; the sum itself does with a probability.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Threshold {
    sum: usize,
    trips_on_it: f64,
}

impl Threshold {
    /// The one with so many calls between false trips, or the lowest there is.
    fn for_interval(steps: Steps, failing: f64, calls_between: f64) -> Self {
        let interval = |threshold| steps.calls_to_trip(threshold, failing)[0];
        let always = |sum| Self { sum, trips_on_it: 1.0 };
        let mut above = steps.up;
        while interval(always(above)) < calls_between {
            above *= 2;
        }
        let mut below = 0;
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            if interval(always(middle)) < calls_between {
                below = middle;
            } else {
                above = middle;
            }
        }
        // Tripping on `below` always is too often, and never is as tripping on `above`.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..30 {
            let trips_on_it = f64::midpoint(low, high);
            let threshold = Self { sum: below, trips_on_it };
            if interval(threshold) < calls_between {
                high = trips_on_it;
            } else {
                low = trips_on_it;
            }
        }
        Self { sum: below, trips_on_it: low }
    }
}

/// A system of linear equations whose matrix is zero far from its diagonal.
struct Banded {
    below: usize,
    above: usize,
    rows: Vec<Vec<f64>>,
}

impl Banded {
    fn identity(size: usize, below: usize, above: usize) -> Self {
        let (below, above) = (below.min(size - 1), above.min(size - 1));
        let mut row = vec![0.0; below + 1 + above];
        row[below] = 1.0;
        Self { below, above, rows: vec![row; size] }
    }

    fn add(&mut self, row: usize, column: usize, value: f64) {
        self.rows[row][column + self.below - row] += value;
    }

    /// Gauss's elimination. It needs no exchange of rows: on its diagonal each row of these has its largest
    /// value.
    fn solve(mut self, mut right: Vec<f64>) -> Vec<f64> {
        let size = self.rows.len();
        for pivot in 0..size {
            let width = self.above.min(size - 1 - pivot);
            let (done, rest) = self.rows.split_at_mut(pivot + 1);
            let upper = &done[pivot][self.below..=self.below + width];
            for (offset, row) in rest.iter_mut().take(self.below).enumerate() {
                let first = self.below - 1 - offset;
                let factor = row[first] / upper[0];
                if factor != 0.0 {
                    for (value, from) in row[first..].iter_mut().zip(upper) {
                        *value -= factor * from;
                    }
                    right[pivot + 1 + offset] -= factor * right[pivot];
                }
            }
        }
        for pivot in (0..size).rev() {
            let width = self.above.min(size - 1 - pivot);
            let row = &self.rows[pivot][self.below..];
            let known: f64 = (1..=width).map(|ahead| row[ahead] * right[pivot + ahead]).sum();
            right[pivot] = (right[pivot] - known) / row[0];
        }
        right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detection::chance::Chance;

    /// Calls to the trip of a sum in floating point, from 0.
    fn simulated(background: f64, outage: f64, trips_at: f64, failing: f64, runs: u32) -> f64 {
        let up = (outage / background).ln();
        let down = ((1.0 - background) / (1.0 - outage)).ln();
        let mut chance = Chance::new(11);
        let mut calls = 0_u64;
        for _ in 0..runs {
            let mut sum = 0.0_f64;
            while sum < trips_at {
                calls += 1;
                sum = if chance.happens(failing) { sum + up } else { (sum - down).max(0.0) };
            }
        }
        calls as f64 / f64::from(runs)
    }

    #[test]
    fn a_dead_dependency_takes_as_many_failures_as_the_interval_needs_in_a_row() {
        // Two failures in a row come every (1 + 1/p)/p calls; three every (1 + 1/p + 1/p²)/p.
        let bound = |calls_between| least_calls(0.01, 1.0, calls_between);
        assert!((bound(10_100.0) - 2.0).abs() < 0.02, "{}", bound(10_100.0));
        assert!((bound(1_010_100.0) - 3.0).abs() < 0.02, "{}", bound(1_010_100.0));
        let between = bound(100_000.0);
        assert!(2.5 < between && between < 3.0, "{between}");
    }

    #[test]
    fn the_chain_agrees_with_a_simulated_sum() {
        for (background, outage, trips_at) in [(0.01, 0.2, 7.0), (0.02, 0.5, 8.0), (0.001, 0.2, 6.0)] {
            let interval = simulated(background, outage, trips_at, background, 400);
            let delay = simulated(background, outage, trips_at, outage, 20_000);
            let bound = least_calls(background, outage, interval);
            // It begins on a good day, a little above 0.
            let ratio = bound / delay;
            assert!((0.85..1.03).contains(&ratio), "{background} {outage}: {bound} for {delay}");
        }
    }

    #[test]
    fn a_finer_lattice_changes_nothing() {
        let coarse = Steps::between(0.01, 0.2);
        let fine = Steps { up: coarse.up * 2, down: coarse.down * 2 };
        let delay = |steps: Steps| {
            let threshold = Threshold::for_interval(steps, 0.01, 1e8);
            steps.calls_to_trip(threshold, 0.2)[0]
        };
        assert!((delay(coarse) / delay(fine) - 1.0).abs() < 0.01);
    }
}
