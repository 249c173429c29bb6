//! What the default must hold.

use nanobreaker_core::ConfigError;

use crate::detection::chance::Chance;
use crate::detection::cost::{CostRow, NO_BREAKER, play};
use crate::detection::days::{Traffic, WellDay, well_days};
use crate::detection::delay::DelayRow;
use crate::detection::rules::{CUSUM, DEFAULT, EVIDENCE, NamedRule};
use crate::detection::weather::DAY;
use crate::detection::workers::on_all_cores;

/// One thing that must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What it is, with what was measured.
    pub what: String,
    /// Whether it does.
    pub holds: bool,
}

const WELL_RATES: [f64; 4] = [10_000.0, 500.0, 10.0, 1.0];
const WELL_BACKGROUNDS: [f64; 2] = [0.01, 0.001];

/// False trips of a rule on days without outages: none on a quiet one, at most three with bursts.
///
/// # Errors
///
/// The core's, for settings that it refuses.
pub fn well(rule: &NamedRule, seed: u64) -> Result<Vec<Check>, ConfigError> {
    let traffics = WELL_RATES
        .into_iter()
        .flat_map(|calls_per_s| WELL_BACKGROUNDS.map(|background| Traffic { calls_per_s, background }));
    let days: Vec<WellDay> = traffics.flat_map(well_days).collect();
    let trips = on_all_cores(&days, |day| false_trips(rule, day, seed));
    days.iter()
        .zip(trips)
        .map(|(day, trips)| {
            let trips = trips?;
            let (noise, most) = match day.noise {
                None => ("no bursts".into(), 0.0),
                Some((noise, _)) => (format!("{noise:?} every ten minutes"), 3.0),
            };
            Ok(Check {
                what: format!(
                    "false trips a day at {}/s, background {}, {noise}: {trips:.2} ≤ {most}",
                    day.traffic.calls_per_s, day.traffic.background
                ),
                holds: trips <= most,
            })
        })
        .collect()
}

/// The mean of as many days as make some millions of calls.
fn false_trips(rule: &NamedRule, day: &WellDay, seed: u64) -> Result<f64, ConfigError> {
    let days = if day.traffic.calls_per_s < 100.0 { 20 } else { 1 };
    let mut chance = Chance::part(seed, day.traffic.calls_per_s as u64);
    let mut trips = 0;
    for _ in 0..days {
        trips += play(rule, day, DAY, &mut chance)?.trips;
    }
    Ok(trips as f64 / f64::from(days))
}

/// The default beside the best peer.
pub fn against_peers(rules: &[NamedRule], rows: &[CostRow]) -> Vec<Check> {
    let is_peer = |row: &&CostRow| rules.iter().any(|rule| rule.name == row.rule && rule.is_peer());
    let peers = rows.iter().filter(|row| row.rule != NO_BREAKER).filter(is_peer);
    let Some(peer) = peers.min_by(|one, other| one.a.total_cmp(&other.a)) else {
        return Vec::new();
    };
    let ours = rows.iter().filter(|row| row.rule == DEFAULT);
    ours.flat_map(|ours| {
        [
            Check {
                what: format!("A {:.2} ≤ 3/4 of {}'s {:.2}", ours.a, peer.rule, peer.a),
                holds: ours.a <= 0.75 * peer.a,
            },
            Check {
                what: format!("worst A {:.1} ≤ {}'s {:.1}", ours.a_worst, peer.rule, peer.a_worst),
                holds: ours.a_worst <= peer.a_worst,
            },
        ]
    })
    .collect()
}

/// The cumulative sum beside the bound, where its rates are the true ones.
pub fn against_bound(rows: &[DelayRow]) -> Vec<Check> {
    let [normal, broken] = [EVIDENCE.normal_ppm, EVIDENCE.broken_ppm].map(|ppm| f64::from(ppm) / 1e6);
    let asked = |row: &&DelayRow| row.rule == CUSUM && row.background == normal && row.outage == broken;
    let checks: Vec<_> = rows
        .iter()
        .filter(asked)
        .filter_map(|row| {
            let (mean, bound) = (row.doomed?.mean, row.bound?);
            Some(Check {
                what: format!("{CUSUM} at {}/s: {mean:.2} ≤ 1.15 × {bound:.2}", row.calls_per_s),
                holds: mean <= 1.15 * bound,
            })
        })
        .collect();
    let some = Check {
        what: format!("{CUSUM} is compared with the bound at some rate of calls"),
        holds: !checks.is_empty(),
    };
    checks.into_iter().chain([some]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detection::days::Noise;
    use crate::detection::rules::{EVIDENCE_SUSTAINED, QUICK_OPENING, all, sum_and_opening};

    #[test]
    fn bursts_at_low_traffic_are_false_trips_at_most_three_times_a_day() {
        let rule = NamedRule::new("default", move |_| sum_and_opening(EVIDENCE_SUSTAINED, QUICK_OPENING));
        for (calls_per_s, burst) in [(1.0, 20), (1.0, 100), (10.0, 20), (10.0, 100)] {
            let traffic = Traffic { calls_per_s, background: 0.01 };
            let day = WellDay { traffic, noise: Some((Noise::Burst(burst), 600_000.0)) };
            let trips = false_trips(&rule, &day, 1).unwrap();
            assert!(trips <= 3.0, "{burst} at {calls_per_s}/s: {trips}");
        }
    }

    fn row(rule: &'static str, a: f64, a_worst: f64) -> CostRow {
        CostRow { rule, a, a_worst, b: 1.0, a_by_rate: Vec::new() }
    }

    #[test]
    fn the_best_peer_is_neither_ours_nor_no_breaker() {
        let rows = [
            row(DEFAULT, 1.4, 5.0),
            row("nanobreaker ring", 0.1, 0.1),
            row(NO_BREAKER, 0.2, 0.2),
            row("Polly", 2.0, 4.0),
            row("Hystrix", 3.0, 9.0),
        ];
        let holds: Vec<_> = against_peers(&all(), &rows).iter().map(|check| check.holds).collect();
        assert_eq!(holds, [true, false]);
    }
}
