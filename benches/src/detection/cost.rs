//! What a day costs with each rule.
//!
//! A: good calls rejected while the dependency is well, and doomed calls let through. B: the good calls
//! rejected in brown-outs as well. Only ratios compare days of different traffic: in each cell a rule's
//! cost is divided by that of the best rule of the table.

use std::ops::Add;

use nanobreaker_core::ConfigError;

use crate::detection::chance::Chance;
use crate::detection::days::{Day, Troubles, WellDay};
use crate::detection::rules::NamedRule;
use crate::detection::simulation::{Simulation, Tally};
use crate::detection::weather::DAY;
use crate::detection::workers::on_all_cores;

/// What a rule costs over all cells, as ratios to the best rule of each cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CostRow {
    /// The rule.
    pub rule: &'static str,
    /// A, geometric mean.
    pub a: f64,
    /// A in the worst cell.
    pub a_worst: f64,
    /// B, geometric mean.
    pub b: f64,
    /// A, geometric mean for each rate of calls.
    pub a_by_rate: Vec<(f64, f64)>,
}

/// Calls a day that a rule costs in one cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Rejected in vain, and doomed.
    pub a: f64,
    /// And good calls rejected in brown-outs.
    pub b: f64,
}

/// The name of the row of a day without a breaker.
pub const NO_BREAKER: &str = "no breaker";

/// Calls a day for each rule and cell; the last row is a day without a breaker.
///
/// # Errors
///
/// The core's, for settings that it refuses.
pub fn costs(rules: &[NamedRule], cells: &[Day], seed: u64) -> Result<Vec<Vec<Cost>>, ConfigError> {
    let well_days = distinct(cells.iter().map(|day| day.well));
    let troubles = distinct(cells.iter().map(|day| day.troubles));
    let halves: Vec<_> =
        (well_days.iter().map(Half::Well)).chain(troubles.iter().map(Half::Troubles)).collect();
    let parts: Vec<_> = halves
        .iter()
        .enumerate()
        .flat_map(|(place, half)| rules.iter().map(move |rule| (place as u64, half, rule)))
        .collect();
    let all = on_all_cores(&parts, |&(place, half, rule)| half.cost(rule, &mut Chance::part(seed, place)));
    let all = all.into_iter().collect::<Result<Vec<_>, _>>()?;
    let cost = |half: usize, rule: usize| all[half * rules.len() + rule];
    let of_day = |day: &Day, rule| {
        let well = well_days.iter().position(|other| *other == day.well);
        let troubled = troubles.iter().position(|other| *other == day.troubles);
        let (well, troubled) = (well.unwrap_or(0), troubled.unwrap_or(0));
        cost(well, rule) + cost(well_days.len() + troubled, rule)
    };
    let mut rows: Vec<Vec<Cost>> =
        (0..rules.len()).map(|rule| cells.iter().map(|day| of_day(day, rule)).collect()).collect();
    rows.push(cells.iter().map(without_breaker).collect());
    Ok(rows)
}

/// Each once, in order.
fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut kept = Vec::new();
    for one in all {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    kept
}

/// One of the two parts of a day.
enum Half<'a> {
    Well(&'a WellDay),
    Troubles(&'a Troubles),
}

impl Half<'_> {
    /// What it costs, as a mean of several.
    fn cost(&self, rule: &NamedRule, chance: &mut Chance) -> Result<Cost, ConfigError> {
        let times = match self {
            Self::Well(day) => times(day.traffic.calls_per_s, [1, 2, 10]),
            Self::Troubles(troubles) => times(troubles.traffic.calls_per_s, [5, 20, 100]),
        };
        let mut total = Cost::default();
        for _ in 0..times {
            match self {
                Self::Well(day) => {
                    let share = share_played(day);
                    let part = Cost::of(&play(rule, day, DAY * share, chance)?);
                    total = total + Cost { a: part.a / share, b: part.b / share };
                }
                Self::Troubles(troubles) => {
                    for episode in troubles.episodes {
                        let (weather, end) = troubles.weather(episode, chance);
                        let mut breaker = rule.make(chance.seed())?;
                        let chance = Chance::new(chance.seed());
                        let mut simulation = Simulation::new(&mut *breaker, &weather, chance);
                        total = total + Cost::of(&simulation.run_until(end));
                    }
                }
            }
        }
        Ok(Cost { a: total.a / f64::from(times), b: total.b / f64::from(times) })
    }
}

/// How often something is played where this many calls come: the fewer, the more often.
fn times(calls_per_s: f64, [many, some, few]: [u32; 3]) -> u32 {
    match calls_per_s {
        rate if rate < 100.0 => few,
        rate if rate < 1_000.0 => some,
        _ => many,
    }
}

/// The part of a day that stands for all of it. On a busy day enough calls come in three hours, and noise
/// comes evenly; a day without noise is whole, since a false trip is rare on it.
fn share_played(day: &WellDay) -> f64 {
    let is_busy = day.traffic.calls_per_s > 1_000.0;
    if is_busy && day.noise.is_some() { 0.125 } else { 1.0 }
}

/// What happens on a well day up to this time.
///
/// # Errors
///
/// The core's, for settings that it refuses.
pub fn play(rule: &NamedRule, day: &WellDay, end: f64, chance: &mut Chance) -> Result<Tally, ConfigError> {
    let weather = day.weather(chance);
    let mut breaker = rule.make(chance.seed())?;
    Ok(Simulation::new(&mut *breaker, &weather, Chance::new(chance.seed())).run_until(end))
}

/// All doomed calls pass, with their mean.
fn without_breaker(day: &Day) -> Cost {
    let doomed = day.troubles.doomed();
    Cost { a: doomed, b: doomed }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { a: self.a + other.a, b: self.b + other.b }
    }
}

impl Cost {
    fn of(tally: &Tally) -> Self {
        let a = tally.rejected_in_vain + tally.doomed;
        Self { a, b: a + tally.rejected_in_outages }
    }
}

/// The rows of the table.
pub fn rows(rules: &[NamedRule], cells: &[Day], costs: &[Vec<Cost>]) -> Vec<CostRow> {
    let best = |which: fn(&Cost) -> f64| -> Vec<f64> {
        (0..cells.len())
            .map(|cell| {
                let all = costs.iter().map(|row| which(&row[cell]));
                all.fold(f64::INFINITY, f64::min)
            })
            .collect()
    };
    let (best_a, best_b) = (best(|cost| cost.a), best(|cost| cost.b));
    let names = rules.iter().map(|rule| rule.name).chain([NO_BREAKER]);
    names
        .zip(costs)
        .map(|(rule, costs)| {
            let a: Vec<f64> = costs.iter().zip(&best_a).map(|(cost, best)| cost.a / best).collect();
            let b: Vec<f64> = costs.iter().zip(&best_b).map(|(cost, best)| cost.b / best).collect();
            CostRow {
                rule,
                a: geometric_mean(a.iter().copied()),
                a_worst: a.iter().copied().fold(0.0, f64::max),
                b: geometric_mean(b.iter().copied()),
                a_by_rate: by_rate(cells, &a),
            }
        })
        .collect()
}

fn calls_per_s(day: &Day) -> f64 {
    day.well.traffic.calls_per_s
}

fn by_rate(cells: &[Day], ratios: &[f64]) -> Vec<(f64, f64)> {
    let mut rates: Vec<f64> = cells.iter().map(calls_per_s).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    rates
        .into_iter()
        .map(|rate| {
            let of_rate = cells.iter().zip(ratios).filter(|(day, _)| calls_per_s(day) == rate);
            (rate, geometric_mean(of_rate.map(|(_, &ratio)| ratio)))
        })
        .collect()
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value.ln(), count + 1));
    (sum / f64::from(count)).exp()
}
