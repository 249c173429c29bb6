//! The calls of a scene: when each begins, how long it takes, and whether it fails.
//!
//! Whatever the breakers say, the calls are the same, as those of a log are. Each draws the same number of random
//! numbers, so another outage leaves the begin of every call as it was.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::outage::Outage;
use crate::scene::Scene;

/// One call, as it goes without a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// When it begins, in microseconds of the scene.
    pub start_us: u64,
    /// How long it takes, in microseconds; at least 1.
    pub duration_us: u64,
    /// Whether it fails.
    pub fails: bool,
}

impl Call {
    /// When it ends, in microseconds of the scene.
    pub const fn end_us(&self) -> u64 {
        self.start_us + self.duration_us
    }
}

/// The calls of a scene, one after another.
#[derive(Clone, Debug)]
pub struct Traffic {
    random: Random,
    outage: Outage,
    bursts: Bursts,
    gap_us: f64,
    latency_us: f64,
    timeout_us: u64,
    background: f64,
    length_us: u64,
    at_us: f64,
}

impl Traffic {
    /// The calls of `scene`.
    pub fn of(scene: &Scene) -> Self {
        let numbers = &scene.numbers;
        let seed = u64::from(numbers.seed);
        Self {
            random: Random::new(seed),
            outage: Outage::of(scene),
            bursts: Bursts::new(seed, numbers.burst_every_s, numbers.burst_size),
            gap_us: 1_000_000.0 / f64::from(numbers.rate),
            latency_us: f64::from(numbers.latency_ms) * 1_000.0,
            timeout_us: u64::from(numbers.timeout_ms) * 1_000,
            background: f64::from(numbers.background_ppm) / 1_000_000.0,
            length_us: numbers.length_us(),
            at_us: 0.0,
        }
    }
}

impl Iterator for Traffic {
    type Item = Call;

    fn next(&mut self) -> Option<Call> {
        let gap = self.random.exponential();
        let spread = self.random.exponential();
        let outage_draw = self.random.uniform();
        let background_draw = self.random.uniform();

        self.at_us += self.gap_us * gap;
        let start_us = self.at_us as u64;
        if start_us >= self.length_us {
            return None;
        }
        let severity = f64::from(self.outage.severity(start_us)) / 1_000.0;
        let slowness = f64::from(self.outage.slowness(start_us)) / 1_000.0;
        let answer_us = ((self.latency_us * slowness * (0.5 + 0.5 * spread)) as u64).max(1);

        let is_down = outage_draw < severity;
        let hangs = is_down && self.outage.hangs() || answer_us >= self.timeout_us;
        let is_hit = self.bursts.hit(self.at_us) || background_draw < self.background;
        Some(Call {
            start_us,
            duration_us: if hangs { self.timeout_us } else { answer_us },
            fails: is_down || hangs || is_hit,
        })
    }
}

/// Failures that come together though the dependency is well, as when a connection that many calls share is reset.
#[derive(Clone, Debug)]
struct Bursts {
    random: Random,
    every_us: f64,
    size: u32,
    next_us: f64,
    left: u32,
}

impl Bursts {
    fn new(seed: u64, every_s: u32, size: u32) -> Self {
        // Another stream than that of the calls.
        let mut random = Random::new(!seed);
        let every_us = f64::from(every_s) * 1_000_000.0;
        let first_us = every_us * random.exponential();
        let next_us = if every_s == 0 { f64::INFINITY } else { first_us };
        Self { random, every_us, size, next_us, left: 0 }
    }

    /// Whether the call that begins now is part of a burst.
    fn hit(&mut self, at_us: f64) -> bool {
        while at_us >= self.next_us {
            self.left = self.size;
            self.next_us += self.every_us * self.random.exponential();
        }
        let is_hit = self.left > 0;
        self.left -= u32::from(is_hit);
        is_hit
    }
}

#[derive(Clone, Debug)]
struct Random(Xoshiro256PlusPlus);

impl Random {
    fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// From 0 to just below 1, in steps of 2⁻⁵³.
    fn uniform(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 * STEP
    }

    /// Exponentially distributed with mean 1.
    fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.uniform())
    }
}
