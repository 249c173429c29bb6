//! The rules that are measured, by name.

use nanobreaker_core::window::{Consecutive, Cusum, Failures};
use nanobreaker_core::{Config, ConfigBuilder, ConfigError, CusumSettings};

use crate::detection::failsafe::Failsafe;
use crate::detection::guarded::{Fading, Guarded, Watch};
use crate::detection::opossum::Opossum;
use crate::detection::rule::Rule;
use crate::detection::windows::{LastHundred, SharePerTime};

/// A rule that a simulation can make as often as it needs.
pub struct NamedRule {
    /// Its name in tables.
    pub name: &'static str,
    make: Box<dyn Fn(u64) -> Made + Sync>,
}

/// A closed breaker, or why the core refuses its settings.
pub type Made = Result<Box<dyn Rule>, ConfigError>;

/// The name of the default.
pub const DEFAULT: &str = "nanobreaker default";
/// The name of the cumulative sum with the core's opening.
pub const CUSUM: &str = "nanobreaker cusum";

impl NamedRule {
    /// The rule that `make` makes. Its argument is a seed for those that draw random numbers themselves.
    pub fn new(name: &'static str, make: impl Fn(u64) -> Made + Sync + 'static) -> Self {
        let make = Box::new(make);
        Self { name, make }
    }

    /// A closed one.
    ///
    /// # Errors
    ///
    /// The core's, for settings that it refuses.
    pub fn make(&self, seed: u64) -> Made {
        (self.make)(seed)
    }

    /// Whether it is another breaker's.
    pub fn is_peer(&self) -> bool {
        !self.name.starts_with("nanobreaker")
    }
}

/// All of them, ours first.
pub fn all() -> Vec<NamedRule> {
    vec![
        NamedRule::new(DEFAULT, |_| sum_and_opening(EVIDENCE_SUSTAINED, QUICK_OPENING)),
        NamedRule::new(CUSUM, |_| sum_and_opening(EVIDENCE, Config::builder())),
        // Five failures within 10 s, open for 10 s: the core's static default.
        NamedRule::new("nanobreaker ring", |_| {
            let window = Failures::<5>::within_ms(10_000)?;
            Ok(Box::new(Guarded::new(window, Config::DEFAULT, Watch::Failures)))
        }),
        // Resilience4j 2, `CircuitBreakerConfig`: 50 % of the last 100 calls and no fewer, open for 60 s,
        // then ten calls, of which half must not fail. Here they are judged as soon as it is certain how.
        NamedRule::new("Resilience4j", |_| {
            let trial = opening(60_000).max_probes(10).probe_successes(6).probe_failures(5);
            Ok(Box::new(Guarded::counting(LastHundred::new(50), trial.build()?)))
        }),
        // Hystrix 1.5, `HystrixCommandProperties`: 50 % of at least 20 calls in 10 s, open for 5 s, one
        // trial. It judges every 500 ms only, which is spared it here, as is its time limit of 1 s a call.
        NamedRule::new("Hystrix", |_| {
            let window = SharePerTime::new(10_000.0, 10, 0.5, 20);
            Ok(Box::new(Guarded::counting(window, opening(5_000).build()?)))
        }),
        // Polly 8, `CircuitBreakerConstants`: 10 % of at least 100 calls in 30 s, in ten windows
        // (`RollingHealthMetrics`), open for 5 s, one trial.
        NamedRule::new("Polly", |_| {
            let window = SharePerTime::new(30_000.0, 10, 0.1, 100);
            Ok(Box::new(Guarded::counting(window, opening(5_000).build()?)))
        }),
        NamedRule::new("opossum", |_| Ok(Box::new(Opossum::default()))),
        // gobreaker 2, `gobreaker.go`: more than five failures in a row, open for 60 s, one trial.
        NamedRule::new("gobreaker", |_| {
            let watch = Watch::Fading(Fading::ROW);
            let window = Consecutive::new(6)?;
            Ok(Box::new(Guarded::new(window, opening(60_000).build()?, watch)))
        }),
        NamedRule::new("failsafe", |seed| Ok(Box::new(Failsafe::new(seed)))),
    ]
}

/// The evidence that our rules ask for: 2 % is normal, 50 % is broken.
pub const EVIDENCE: CusumSettings = CusumSettings {
    normal_ppm: 20_000,
    broken_ppm: 500_000,
    calls_per_false_trip: 500_000_000,
    sustained_for_ms: 0,
};

/// The same, mounting for as long as no burst lasts.
pub const EVIDENCE_SUSTAINED: CusumSettings = CusumSettings { sustained_for_ms: 20, ..EVIDENCE };

/// Open for 500 ms, doubling to 5 s; three successes one after another close; a trip within 5 s of
/// closing is a relapse.
pub const QUICK_OPENING: ConfigBuilder = Config::builder()
    .open_for_ms(500)
    .max_open_ms(5_000)
    .relapse_within_ms(5_000)
    .probe_successes(3)
    .probe_lease_ms(30_000);

/// A cumulative sum of the core with this opening.
///
/// # Errors
///
/// The core's, for settings that it refuses.
pub fn sum_and_opening(evidence: CusumSettings, opening: ConfigBuilder) -> Made {
    let watch = Watch::Fading(Fading::of_sum(evidence));
    Ok(Box::new(Guarded::new(Cusum::new(evidence)?, opening.build()?, watch)))
}

/// Open for so long, then one call at a time. A trial that never ends is waited for: the peers have no
/// lease.
fn opening(open_for_ms: u64) -> ConfigBuilder {
    Config::builder().open_for_ms(open_for_ms).probe_lease_ms(u64::from(Config::MAX_DURATION_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_that_of_shared_breakers() {
        let shared = nanobreaker::SharedBreaker::builder().build().unwrap().settings();
        assert_eq!(shared.window, nanobreaker_core::WindowSettings::Cusum(EVIDENCE_SUSTAINED));
        assert_eq!(shared.opening.build(), QUICK_OPENING.build());
    }

    #[test]
    fn every_rule_can_be_made_and_begins_closed() {
        for rule in all() {
            assert!(rule.make(1).unwrap().is_closed(), "{}", rule.name);
        }
    }
}
