//! Random numbers that come again with the same seed.

use rand_distr::{Distribution, Exp1, Poisson, StandardUniform};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// A source of random numbers: xoshiro256++ (Blackman and Vigna, 2018).
#[derive(Clone, Debug)]
pub struct Chance(Xoshiro256PlusPlus);

impl Chance {
    /// The numbers of this seed.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Numbers for one of many parts that share a seed.
    pub fn part(seed: u64, part: u64) -> Self {
        // An odd multiplier sends different parts to different seeds.
        Self::new(seed ^ part.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// A wait with mean 1: from any moment to the next event of a Poisson process.
    #[inline]
    pub fn wait(&mut self) -> f64 {
        Exp1.sample(&mut self.0)
    }

    /// How many events a Poisson process has where `mean` are expected.
    #[inline]
    pub fn count(&mut self, mean: f64) -> u64 {
        match Poisson::new(mean) {
            Ok(distribution) => Distribution::<f64>::sample(&distribution, &mut self.0) as u64,
            // There is none with mean 0.
            Err(_) => 0,
        }
    }

    /// Evenly from 0 to 1.
    #[inline]
    pub fn share(&mut self) -> f64 {
        StandardUniform.sample(&mut self.0)
    }

    /// A seed for another source.
    pub fn seed(&mut self) -> u64 {
        StandardUniform.sample(&mut self.0)
    }

    /// Whether something of this probability happens.
    #[inline]
    pub fn happens(&mut self, probability: f64) -> bool {
        self.share() < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_another_part_others() {
        let mut numbers = [Chance::part(7, 0), Chance::part(7, 0), Chance::part(7, 1)]
            .map(|mut chance| [chance.share(), chance.wait(), chance.share()]);
        assert_eq!(numbers[0], numbers[1]);
        numbers.sort_by(|a, b| a[0].total_cmp(&b[0]));
        assert_ne!(numbers[0], numbers[2]);
    }

    #[test]
    fn waits_and_counts_have_their_means() {
        let mut chance = Chance::new(1);
        let draws = 100_000;
        let wait = (0..draws).map(|_| chance.wait()).sum::<f64>() / f64::from(draws);
        assert!((wait - 1.0).abs() < 0.02, "{wait}");
        for mean in [0.3, 7.0, 99.0] {
            let total: u64 = (0..draws).map(|_| chance.count(mean)).sum();
            let found = total as f64 / f64::from(draws);
            assert!((found / mean - 1.0).abs() < 0.02, "{found} for {mean}");
        }
        assert_eq!(chance.count(0.0), 0);
    }
}
