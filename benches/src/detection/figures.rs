//! The two figures of the README.

use nanobreaker_core::window::{AnyWindow, Consecutive};
use nanobreaker_core::{Config, ConfigError, CusumSettings, WindowSettings};

use crate::detection::bound::least_calls;
use crate::detection::chart::{Axis, Group, Series, bars, lines};
use crate::detection::cost::CostRow;
use crate::detection::delay::{Patience, Traffic};
use crate::detection::guarded::{Fading, Guarded, Watch};
use crate::detection::rules::{EVIDENCE, NamedRule, sum_and_opening};
use crate::detection::windows::{LastHundred, SharePerTime};
use crate::detection::workers::on_all_cores;

const CALLS_PER_S: f64 = 500.0;
const BACKGROUND: f64 = 0.01;
const OUTAGE: f64 = 0.5;
const DAYS: u32 = 4;
const RANGE: (f64, f64) = (1e2, 1e8);

/// How many calls an outage takes in against how often each rule is wrong, as it is made stricter.
///
/// # Errors
///
/// The core's, for settings that it refuses.
pub fn delay_against_false_trips(seed: u64) -> Result<String, ConfigError> {
    let settings: Vec<(usize, NamedRule)> = families()
        .into_iter()
        .enumerate()
        .flat_map(|(family, (_, rules))| rules.into_iter().map(move |rule| (family, rule)))
        .collect();
    let points = on_all_cores(&settings, |(_, rule)| point(rule, seed));
    let points = points.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut all: Vec<_> = families()
        .into_iter()
        .map(|(name, _)| Series { name: name.into(), points: Vec::new(), is_limit: false })
        .collect();
    for ((family, _), point) in settings.iter().zip(points) {
        all[*family].points.extend(point);
    }
    let steps = 60;
    all.push(Series {
        name: "least possible".into(),
        points: (0..=steps)
            .map(|step| {
                let share = f64::from(step) / f64::from(steps);
                let between = RANGE.0 * (RANGE.1 / RANGE.0).powf(share);
                (between, least_calls(BACKGROUND, OUTAGE, between))
            })
            .collect(),
        is_limit: true,
    });
    Ok(lines(
        "500 calls a second, 1 % fail on a good day, 50 % in the outage",
        Axis { title: "calls between false trips", range: RANGE },
        Axis { title: "calls an outage takes in until the trip", range: (1.0, 1e5) },
        &all,
    ))
}

/// Calls between false trips and calls until the trip, where both were seen.
fn point(rule: &NamedRule, seed: u64) -> Result<Option<(f64, f64)>, ConfigError> {
    let traffic = Traffic { rule, calls_per_s: CALLS_PER_S, background: BACKGROUND };
    let Some(between) = traffic.false_trips(DAYS, seed)?.calls_between else {
        return Ok(None);
    };
    let doomed = traffic.doomed(OUTAGE, Patience::FULL, seed)?;
    Ok(doomed.map(|doomed| (between, doomed.mean)))
}

/// Rules of one kind, from eager to strict.
fn families() -> Vec<(&'static str, Vec<NamedRule>)> {
    let rule =
        |make: Box<dyn Fn() -> crate::detection::rules::Made + Sync>| NamedRule::new("", move |_| make());
    let sums = [5, 30, 300, 3_000, 30_000, 300_000, 3_000_000].map(|calls_per_false_trip| {
        rule(Box::new(move || {
            let evidence = CusumSettings { calls_per_false_trip, ..EVIDENCE };
            sum_and_opening(evidence, Config::builder())
        }))
    });
    let rows = [2, 3, 4].map(|threshold| {
        rule(Box::new(move || {
            let watch = Watch::Fading(Fading::ROW);
            Ok(Box::new(Guarded::new(Consecutive::new(threshold)?, Config::DEFAULT, watch)))
        }))
    });
    let rings = [5, 20, 40, 60, 70, 80, 90, 95].map(|threshold| {
        rule(Box::new(move || {
            let window = AnyWindow::<128>::new(WindowSettings::Failures { threshold, within_ms: 10_000 })?;
            Ok(Box::new(Guarded::new(window, Config::DEFAULT, Watch::Failures)))
        }))
    });
    let hundreds = [3, 4, 5, 6, 7, 8, 9, 10].map(|trips_at| {
        rule(Box::new(move || Ok(Box::new(Guarded::counting(LastHundred::new(trips_at), Config::DEFAULT)))))
    });
    let shares = [0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.1].map(|share| {
        rule(Box::new(move || {
            let window = SharePerTime::new(30_000.0, 10, share, 100);
            Ok(Box::new(Guarded::counting(window, Config::DEFAULT)))
        }))
    });
    vec![
        ("Cusum, 2 % to 50 %", sums.into()),
        ("failures in a row", rows.into()),
        ("failures within 10 s", rings.into()),
        ("share of the last 100", hundreds.into()),
        ("share of 30 s", shares.into()),
    ]
}

/// What a day costs with each rule, by the rate of calls.
pub fn cost_by_rule_and_rate(rows: &[CostRow]) -> String {
    let names: Vec<_> = rows
        .first()
        .map_or(&[][..], |row| &row.a_by_rate)
        .iter()
        .map(|(rate, _)| format!("{rate} calls a second"))
        .collect();
    let groups: Vec<_> = rows
        .iter()
        .map(|row| Group {
            name: row.rule.into(),
            values: row.a_by_rate.iter().map(|&(_, ratio)| ratio).collect(),
        })
        .collect();
    let largest = groups.iter().flat_map(|group| group.values.iter().copied());
    let top = 10_f64.powf(largest.fold(10.0, f64::max).log10().ceil());
    bars(
        "Good calls rejected in vain and doomed calls, beside the best rule of each day (1 is best)",
        Axis { title: "geometric mean of the ratio", range: (0.9, top) },
        &names,
        &groups,
    )
}
