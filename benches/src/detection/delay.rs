//! How many calls an outage takes in before the trip, and how often it trips without one.
//!
//! Calls end at once here, so that a delay is the rule's own. Doomed are all calls that the outage takes in
//! up to the one that trips, failed and answered alike; the bound counts them so, too.

use nanobreaker_core::ConfigError;

use crate::detection::bound::least_calls;
use crate::detection::chance::Chance;
use crate::detection::rules::{CUSUM, NamedRule};
use crate::detection::simulation::Simulation;
use crate::detection::weather::{DAY, Weather};
use crate::detection::workers::on_all_cores;

/// One rule in one traffic and one outage.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayRow {
    /// The rule.
    pub rule: &'static str,
    /// How many calls come.
    pub calls_per_s: f64,
    /// The share that fails on a good day.
    pub background: f64,
    /// The share that fails in the outage.
    pub outage: f64,
    /// How often it trips on a good day.
    pub false_trips_per_day: f64,
    /// Calls until the trip; none where some outage lasted [`Patience`] without one.
    pub doomed: Option<Doomed>,
    /// The least mean that is possible with as many calls between false trips; none where there is no
    /// background, or was no false trip.
    pub bound: Option<f64>,
}

/// Calls until the trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Doomed {
    /// Their mean.
    pub mean: f64,
    /// Their 99th percentile, by nearest rank.
    pub p99: f64,
}

/// How many outages are played.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// So many.
    pub outages: usize,
    /// Fewer, if they take more calls than this.
    pub calls: u64,
}

impl Patience {
    /// For tables.
    pub const FULL: Self = Self { outages: 400, calls: 8_000_000 };

    const LEAST_OUTAGES: usize = 40;

    /// After so many calls an outage was not found out: ten minutes of them, and no fewer than this.
    fn longest(calls_per_s: f64) -> u64 {
        (calls_per_s as u64 * 600).max(200_000)
    }
}

/// The rates of calls.
pub const RATES: [f64; 4] = [10_000.0, 500.0, 10.0, 1.0];
/// The background rates.
pub const BACKGROUNDS: [f64; 4] = [0.02, 0.01, 0.001, 0.0];
/// The outages.
pub const OUTAGES: [f64; 3] = [1.0, 0.5, 0.2];

/// One rule in one traffic.
#[derive(Clone, Copy)]
pub struct Traffic<'a> {
    /// The rule.
    pub rule: &'a NamedRule,
    /// How many calls come.
    pub calls_per_s: f64,
    /// The share that fails on a good day.
    pub background: f64,
}

/// All rows, in the order of rules, rates, backgrounds and outages.
///
/// # Errors
///
/// The core's, for settings that it refuses.
pub fn rows(rules: &[NamedRule], seed: u64) -> Result<Vec<DelayRow>, ConfigError> {
    let traffics: Vec<_> = RATES
        .into_iter()
        .flat_map(|calls_per_s| BACKGROUNDS.map(|background| (calls_per_s, background)))
        .flat_map(|(calls_per_s, background)| {
            rules.iter().map(move |rule| Traffic { rule, calls_per_s, background })
        })
        .collect();
    let rows = on_all_cores(&traffics, |traffic| traffic.rows(seed));
    let mut rows: Vec<_> = rows.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    let place = |row: &DelayRow| rules.iter().position(|rule| rule.name == row.rule);
    rows.sort_by(|a, b| {
        let of = |row: &DelayRow| [row.calls_per_s, row.background, -row.outage];
        place(a).cmp(&place(b)).then(of(a).partial_cmp(&of(b)).unwrap_or(std::cmp::Ordering::Equal))
    });
    Ok(rows)
}

/// Trips on good days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FalseTrips {
    /// Of a day.
    pub per_day: f64,
    /// Calls that were judged for each trip; none without a trip.
    pub calls_between: Option<f64>,
}

impl Traffic<'_> {
    fn rows(&self, seed: u64) -> Result<Vec<DelayRow>, ConfigError> {
        let false_trips = self.false_trips(self.days(), seed)?;
        let row = |outage| {
            let between = false_trips.calls_between.filter(|_| self.background > 0.0);
            Ok(DelayRow {
                rule: self.rule.name,
                calls_per_s: self.calls_per_s,
                background: self.background,
                outage,
                false_trips_per_day: false_trips.per_day,
                doomed: self.doomed(outage, Patience::FULL, seed)?,
                bound: between.map(|between| least_calls(self.background, outage, between)),
            })
        };
        OUTAGES.into_iter().map(row).collect()
    }

    /// Good days that are played.
    fn days(&self) -> u32 {
        let is_rare = self.rule.name == CUSUM && self.background == 0.02;
        match self.calls_per_s {
            rate if rate < 5.0 => 100,
            rate if rate < 100.0 => 20,
            rate if rate < 1_000.0 => 2,
            // Its own normal rate: the bound needs its false trips, of which a day has a fifth.
            _ if is_rare => 8,
            _ => 1,
        }
    }

    /// How often it trips on so many good days.
    ///
    /// # Errors
    ///
    /// The core's, for settings that it refuses.
    pub fn false_trips(&self, days: u32, seed: u64) -> Result<FalseTrips, ConfigError> {
        let weather = Weather::fair(self.calls_per_s, self.background);
        let mut rule = self.rule.make(seed)?;
        let chance = Chance::part(seed, 1);
        let tally = Simulation::new(&mut *rule, &weather, chance).run_until(DAY * f64::from(days));
        let judged = tally.closed_ms * weather.calls_per_ms();
        Ok(FalseTrips {
            per_day: tally.trips as f64 / f64::from(days),
            calls_between: (tally.trips > 0).then(|| judged / tally.trips as f64),
        })
    }

    /// Calls until it trips in an outage, on a day that was good so far.
    ///
    /// # Errors
    ///
    /// The core's, for settings that it refuses.
    pub fn doomed(&self, outage: f64, patience: Patience, seed: u64) -> Result<Option<Doomed>, ConfigError> {
        // As long as the longest memory among the rules, and so many calls.
        let good_ms = 40_000.0_f64.max(300_000.0 / self.calls_per_s);
        let weather = Weather::fair(self.calls_per_s, self.background);
        let mut chance = Chance::part(seed, 2);
        let mut all: Vec<u64> = Vec::new();
        let mut played = 0;
        while all.len() < patience.outages && (played < patience.calls || all.len() < Patience::LEAST_OUTAGES)
        {
            let mut rule = self.rule.make(chance.seed())?;
            let mut simulation = Simulation::new(&mut *rule, &weather, Chance::new(chance.seed()));
            simulation.run_until(good_ms);
            simulation.run_until_closed();
            let longest = Patience::longest(self.calls_per_s);
            let Some(calls) = simulation.calls_until_trip(outage, longest) else {
                return Ok(None);
            };
            played += calls;
            all.push(calls);
        }
        Ok(Doomed::of(all))
    }
}

impl Doomed {
    fn of(mut calls: Vec<u64>) -> Option<Self> {
        calls.sort_unstable();
        let rank = (calls.len() * 99).div_ceil(100);
        Some(Self {
            mean: calls.iter().sum::<u64>() as f64 / calls.len() as f64,
            p99: *calls.get(rank.checked_sub(1)?)? as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_is_the_nearest_rank() {
        let doomed = Doomed::of((1..=200).rev().collect()).unwrap();
        assert_eq!((doomed.mean, doomed.p99), (100.5, 198.0));
        assert_eq!(Doomed::of(vec![7]).unwrap().p99, 7.0);
        assert_eq!(Doomed::of(vec![]), None);
    }
}
