//! The days whose cost is measured.
//!
//! A day is a well day with a few episodes of outages in it. The two are played apart: no rule remembers
//! anything for hours. So episodes, whose cost depends much on chance, can be played more often, and days
//! that share a part share its result.

use crate::detection::chance::Chance;
use crate::detection::weather::{Burst, DAY, Stretch, Weather};

/// A simulated day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Day {
    /// What it is without outages.
    pub well: WellDay,
    /// The outages in it.
    pub troubles: Troubles,
}

/// A day without outages. Failing calls take 20 ms on it: however long they take, their ends are the same
/// Poisson process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WellDay {
    /// The traffic.
    pub traffic: Traffic,
    /// What fails calls though the dependency is well, and how often.
    pub noise: Option<(Noise, f64)>,
}

/// How many calls come and fail while the dependency is well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// How many come.
    pub calls_per_s: f64,
    /// The share that fails.
    pub background: f64,
}

/// What fails calls though the dependency is well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// A reset connection: so many at one instant, whatever the traffic is.
    Burst(u32),
    /// So many, one after another over [`SMEARED_MS`].
    Smeared(u32),
    /// A deploy: a third of the calls for 300 ms.
    Deploy,
}

/// How long a smeared burst lasts.
pub const SMEARED_MS: f64 = 50.0;

/// The outages of a day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Troubles {
    /// The traffic around them.
    pub traffic: Traffic,
    /// They come far from each other.
    pub episodes: &'static [Episode],
    /// How long a failing call takes, in milliseconds.
    pub failure_takes: f64,
}

/// Outages that come so near to each other that a rule may remember the last one.
pub type Episode = &'static [Outage];

/// A time in which calls should be stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outage {
    /// Its beginning in the episode, in milliseconds.
    pub from: f64,
    /// Its mean length, in milliseconds. No outage lasts exactly as long as a breaker stays open, or a
    /// whole multiple of that: it is drawn within [`SPREAD`] of the mean.
    pub lasts: f64,
    /// The share of calls that fail.
    pub failing: f64,
}

/// An outage is at most so much of its mean length shorter or longer.
pub const SPREAD: f64 = 0.1;

const SECOND: f64 = 1_000.0;
const MINUTE: f64 = 60.0 * SECOND;
const HOUR: f64 = 60.0 * MINUTE;
const SUCCESS_TAKES: f64 = 20.0;
const FAILURE_TAKES: f64 = 20.0;

const fn outage(lasts: f64, failing: f64) -> Outage {
    Outage { from: 0.0, lasts, failing }
}

/// One full outage, a brown-out of half the calls and a long one of a fifth.
pub const OUTAGES: &[Episode] =
    &[&[outage(MINUTE, 1.0)], &[outage(MINUTE, 0.5)], &[outage(10.0 * MINUTE, 0.2)]];

const SHORT: &[Episode] =
    &[&[outage(5.0 * SECOND, 1.0)], &[outage(10.0 * SECOND, 0.5)], &[outage(MINUTE, 0.2)]];

const LONG: &[Episode] =
    &[&[outage(10.0 * MINUTE, 1.0)], &[outage(5.0 * MINUTE, 0.5)], &[outage(30.0 * MINUTE, 0.2)]];

/// Five seconds down, five seconds up, for five minutes.
const FLAPPING: &[Episode] = &[&{
    let mut all = [outage(5.0 * SECOND, 1.0); 30];
    let mut turn = 1;
    while turn < all.len() {
        all[turn].from = all[turn - 1].from + 10.0 * SECOND;
        turn += 1;
    }
    all
}];

const RATES: [f64; 3] = [10_000.0, 500.0, 10.0];
const BACKGROUNDS: [f64; 2] = [0.01, 0.001];
const TEN_MINUTES: f64 = 10.0 * MINUTE;

/// The 108 cells that the default was chosen by.
pub fn cells() -> Vec<Day> {
    let mut noises = vec![None];
    for noise in [Noise::Burst(5), Noise::Burst(20), Noise::Burst(100), Noise::Deploy] {
        noises.extend([HOUR, TEN_MINUTES].map(|every| Some((noise, every))));
    }
    let mut cells = Vec::new();
    for traffic in traffics() {
        for failure_takes in [20.0, 1_000.0] {
            cells.extend(noises.iter().map(|&noise| Day {
                well: WellDay { traffic, noise },
                troubles: Troubles { traffic, episodes: OUTAGES, failure_takes },
            }));
        }
    }
    cells
}

/// Cells of other kinds, which nothing was chosen by.
pub fn held_out() -> Vec<Day> {
    let mut cells = Vec::new();
    for traffic in traffics() {
        let day = quiet_day(traffic);
        let with_episodes = |episodes| Day { troubles: Troubles { episodes, ..day.troubles }, ..day };
        cells.extend([SHORT, LONG, FLAPPING].map(with_episodes));
        cells.extend([5, 20, 100].map(|calls| Day {
            well: WellDay { noise: Some((Noise::Smeared(calls), TEN_MINUTES)), ..day.well },
            ..day
        }));
        cells.push(Day { troubles: Troubles { failure_takes: 30.0 * SECOND, ..day.troubles }, ..day });
    }
    cells.extend(RATES.map(|calls_per_s| quiet_day(Traffic { calls_per_s, background: 0.05 })));
    cells
}

/// Well days with this traffic: a quiet one, and with bursts every ten minutes.
pub fn well_days(traffic: Traffic) -> Vec<WellDay> {
    let quiet = WellDay { traffic, noise: None };
    let bursts =
        [5, 20, 100].map(|calls| WellDay { noise: Some((Noise::Burst(calls), TEN_MINUTES)), ..quiet });
    [quiet].into_iter().chain(bursts).collect()
}

fn traffics() -> impl Iterator<Item = Traffic> {
    RATES
        .into_iter()
        .flat_map(|calls_per_s| BACKGROUNDS.map(|background| Traffic { calls_per_s, background }))
}

fn quiet_day(traffic: Traffic) -> Day {
    Day {
        well: WellDay { traffic, noise: None },
        troubles: Troubles { traffic, episodes: OUTAGES, failure_takes: FAILURE_TAKES },
    }
}

impl Traffic {
    fn weather(&self, failure_takes: f64) -> Weather {
        Weather::fair(self.calls_per_s, self.background).with_calls_taking(SUCCESS_TAKES, failure_takes)
    }
}

impl WellDay {
    /// Its weather. When noise comes is drawn evenly within each turn of its time.
    pub fn weather(&self, chance: &mut Chance) -> Weather {
        let mut weather = self.traffic.weather(FAILURE_TAKES);
        let Some((noise, every)) = self.noise else {
            return weather;
        };
        let mut bursts = Vec::new();
        for turn in 0..(DAY / every) as u32 {
            // No two come within a tenth of it.
            let at = (f64::from(turn) + chance.share() * 0.9) * every;
            match noise {
                Noise::Burst(calls) => bursts.push(Burst { at, calls }),
                Noise::Smeared(calls) => bursts.extend((0..calls).map(|call| Burst {
                    at: at + SMEARED_MS * f64::from(call) / f64::from(calls),
                    calls: 1,
                })),
                Noise::Deploy => {
                    weather = weather.with(Stretch {
                        from: at,
                        to: at + 300.0,
                        failing: 1.0 / 3.0,
                        is_outage: false,
                    });
                }
            }
        }
        weather.with_bursts(bursts)
    }
}

impl Troubles {
    /// The weather of an episode, and when all that it caused is over.
    pub fn weather(&self, episode: Episode, chance: &mut Chance) -> (Weather, f64) {
        // Longer than any rule remembers, and than any stays open.
        const BEFORE: f64 = 40.0 * SECOND;
        const AFTER: f64 = 400.0 * SECOND;
        let mut weather = self.traffic.weather(self.failure_takes);
        let mut end: f64 = 0.0;
        for outage in episode {
            let from = BEFORE + self.failure_takes + outage.from;
            let to = from + outage.lasts * (1.0 + SPREAD * (2.0 * chance.share() - 1.0));
            weather = weather.with(Stretch { from, to, failing: outage.failing, is_outage: true });
            end = end.max(to);
        }
        (weather, end + self.failure_takes + AFTER)
    }

    /// How many calls the outages doom without a breaker.
    pub fn doomed(&self) -> f64 {
        let outages = self.episodes.iter().copied().flatten();
        let seconds: f64 = outages.map(|outage| outage.lasts / SECOND * outage.failing).sum();
        seconds * self.traffic.calls_per_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_108_cells_and_each_is_another_day() {
        let cells = cells();
        assert_eq!(cells.len(), 108);
        for (place, cell) in cells.iter().enumerate() {
            assert!(!cells[..place].contains(cell));
        }
    }

    #[test]
    fn no_held_out_cell_is_one_of_the_108() {
        let cells = cells();
        assert!(held_out().iter().all(|day| !cells.contains(day)));
    }

    #[test]
    fn without_a_breaker_a_day_dooms_as_many_calls_as_its_outages_say() {
        // 60 s whole, 60 s half, 600 s a fifth.
        assert_eq!(cells()[0].troubles.doomed(), 210.0 * 10_000.0);
    }
}
