//! How often a configuration trips though the dependency is well: calls fail by chance, each on its own.
//!
//! For failures in a row there is a formula, and for evidence the chain of its sum. For the other windows the
//! real breaker is played with made-up calls (Poisson traffic), so that whatever it can be set to counts.

use std::sync::Arc;
use std::time::Duration;

use nanobreaker::{Clock, ManualClock, Outcome, PartialSettings, Phase, SettingsError, SharedBreaker};

use crate::explaining::{Full, Judges, chain};

/// Calls that are made up, and trips that are enough to count.
const MOST_CALLS: f64 = 4e6;
const MOST_DRAWN: u32 = 2_000_000;
const MOST_TRIPS: u32 = 1_000;
/// Where no trip came in so many calls, their mean distance is larger than a third of them (with 95 %).
const NONE_SEEN: f64 = 3.0;
/// Further apart than that is never.
const NEVER: f64 = 1e18;
/// Traffic where a window knows no time.
const ANY_RATE: f64 = 100.0;

/// Trips on noise alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Noise {
    /// The share of calls that fail on a good day.
    pub(crate) normal: f64,
    /// Calls from one trip to the next, in the mean.
    pub(crate) calls_between: f64,
    /// Calls between them are more than that: there was no trip at all, or only later ones where evidence must be
    /// sustained.
    pub(crate) is_more: bool,
    /// By a formula, rather than by trial.
    pub(crate) is_exact: bool,
    pub(crate) calls_per_second: Option<f64>,
    /// How long a first trip rejects calls, and nothing can trip.
    open_for: Duration,
}

impl Noise {
    /// Trips in a day, if the traffic is known.
    pub(crate) fn per_day(&self) -> Option<f64> {
        let closed_s = self.calls_between / self.calls_per_second?;
        Some(86_400.0 / (closed_s + self.open_for.as_secs_f64()))
    }

    /// The share of the time in which calls are rejected.
    pub(super) fn open_share(&self) -> Option<f64> {
        Some(self.per_day()? * self.open_for.as_secs_f64() / 86_400.0)
    }
}

/// Trips on noise; `None` where that depends on a traffic that is not known.
pub(super) fn noise(
    settings: &PartialSettings,
    full: &Full,
    normal: f64,
    calls_per_second: Option<f64>,
) -> Result<Option<Noise>, SettingsError> {
    let of = |calls_between, is_more, is_exact| Noise {
        normal,
        calls_between,
        is_more,
        is_exact,
        calls_per_second,
        open_for: full.open_for(),
    };
    if let Judges::Consecutive { threshold } = full.failed {
        return Ok(Some(of(until_in_a_row(normal, threshold), false, true)));
    }
    let by_chain = chain::calls_between(&full.failed, normal).map(|calls| calls.min(NEVER));
    let is_sustained = chain::is_sustained(&full.failed);
    match by_chain {
        Some(calls) if !is_sustained => return Ok(Some(of(calls, calls == NEVER, true))),
        // How many calls come while the evidence mounts is not known.
        Some(calls) if calls_per_second.is_none() => return Ok(Some(of(calls, true, true))),
        _ => {}
    }
    if calls_per_second.is_none() && (full.failed.knows_time() || is_sustained) {
        return Ok(None);
    }
    let (calls, trips) = played(settings, full, normal, calls_per_second.unwrap_or(ANY_RATE))?;
    Ok(Some(match trips {
        0 => match by_chain {
            Some(least) if least > calls / NONE_SEEN => of(least, true, true),
            _ => of(calls / NONE_SEEN, true, false),
        },
        trips => of(calls / f64::from(trips), false, false),
    }))
}

/// The mean number of calls until `threshold` in a row failed: (p^-k - 1) / (1 - p).
fn until_in_a_row(normal: f64, threshold: u32) -> f64 {
    (normal.powi(-(threshold.min(10_000) as i32)) - 1.0) / (1.0 - normal)
}

#[derive(Clone)]
struct PlayClock(Arc<ManualClock>);

impl Clock for PlayClock {
    fn now_ms(&self) -> u64 {
        self.0.now_ms()
    }
}

/// Plays made-up calls: how many there were, and how often they tripped the breaker.
fn played(
    settings: &PartialSettings,
    full: &Full,
    normal: f64,
    calls_per_second: f64,
) -> Result<(f64, u32), SettingsError> {
    let clock = PlayClock(Arc::new(ManualClock::new(0)));
    let breaker = SharedBreaker::builder().clock(clock.clone()).settings(settings)?.build()?;
    // A success changes nothing in a window of failures: only those are drawn.
    let only_failures = matches!(full.failed, Judges::Failures { .. });
    let drawn_per_second = calls_per_second * if only_failures { normal } else { 1.0 };
    let calls_per_drawn = if only_failures { 1.0 / normal } else { 1.0 };
    let mut random = Random(7);
    let (mut at_s, mut drawn, mut trips) = (0.0, 0, 0);
    while drawn < MOST_DRAWN && f64::from(drawn) * calls_per_drawn < MOST_CALLS * 1e3 && trips < MOST_TRIPS {
        at_s += -(1.0 - random.unit()).ln() / drawn_per_second;
        drawn += 1;
        clock.0.set((at_s * 1e3) as u64);
        let outcome =
            if only_failures || random.unit() < normal { Outcome::Failure } else { Outcome::Success };
        if let Ok(token) = breaker.allow_token() {
            breaker.record(token, outcome);
        }
        if outcome == Outcome::Failure && breaker.snapshot().phase != Phase::Closed {
            trips += 1;
            breaker.reset();
        }
    }
    Ok((f64::from(drawn) * calls_per_drawn, trips))
}

/// A rate in words.
pub(super) fn in_words(noise: &Noise) -> String {
    let percent = noise.normal * 100.0;
    let day = noise.per_day().map_or(String::new(), |per_day| {
        let times = if noise.is_more {
            format!("less than {} a day", number(per_day))
        } else {
            format!("{} a day", number(per_day))
        };
        format!("{times}, ")
    });
    let between = format!(
        "once in {}{} calls",
        if noise.is_more { "more than " } else { "" },
        number(noise.calls_between)
    );
    let how = if noise.is_exact { "exactly" } else { "by trial" };
    format!(
        "On a good day, with {percent} % of the calls failing by chance, it opens {day}{between} ({how})."
    )
}

/// To two digits.
pub(super) fn number(number: f64) -> String {
    if number >= 1e15 {
        return format!("{number:.0e}");
    }
    let digits = if number >= 10.0 { 0 } else { 1 };
    let step = 10_f64.powf(number.max(1e-9).log10().floor() - 1.0);
    let rounded = (number / step).round() * step;
    if number < 0.1 {
        return format!("{rounded:.1e}");
    }
    let text = format!("{rounded:.digits$}");
    match text.split_once('.') {
        Some(_) => text,
        None => crate::report::count(text.parse().unwrap_or(u64::MAX)),
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    /// From 0 on, and below 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(toml: &str, normal: f64, rate: Option<f64>) -> Option<Noise> {
        let settings: PartialSettings = toml::from_str(toml).unwrap();
        let full = Full::of(&settings).unwrap();
        noise(&settings, &full, normal, rate).unwrap()
    }

    #[test]
    fn failures_in_a_row_are_told_by_the_formula_and_the_trial_agrees() {
        let toml = "[window]\nkind = 'consecutive'\nthreshold = 3";
        let exact = of(toml, 0.1, Some(50.0)).unwrap();
        assert!(exact.is_exact);
        // 1/p + 1/p^2 + 1/p^3
        assert!((exact.calls_between - 1_110.0).abs() < 1e-6);
        let settings: PartialSettings = toml::from_str(toml).unwrap();
        let full = Full::of(&settings).unwrap();
        let (calls, trips) = played(&settings, &full, 0.1, 50.0).unwrap();
        let tried = calls / f64::from(trips);
        assert!((tried / 1_110.0 - 1.0).abs() < 0.1, "{tried}");
    }

    #[test]
    fn a_count_within_a_time_trips_on_noise_where_traffic_is_heavy() {
        // Ten failures in ten seconds on a good day.
        let toml = "open_for = '10s'\nwindow.kind = 'failures'";
        let heavy = of(toml, 0.002, Some(500.0)).unwrap();
        // Five seconds to the next trip, and ten in which there can be none.
        assert!((heavy.per_day().unwrap() / 5_760.0 - 1.0).abs() < 0.05, "{heavy:?}");
        assert!((heavy.open_share().unwrap() * 1.5 - 1.0).abs() < 0.05, "{heavy:?}");
        let light = of(toml, 0.002, Some(1.0)).unwrap();
        assert!(light.per_day().unwrap() < 0.5, "{light:?}");
        assert_eq!(of(toml, 0.002, None), None);
    }

    #[test]
    fn evidence_is_told_by_its_chain_and_the_trial_agrees() {
        let toml =
            "[window]\nnormal = '5%'\nbroken = '20%'\ncalls_per_false_trip = 200\nsustained_for = '0s'";
        let settings: PartialSettings = toml::from_str(toml).unwrap();
        let full = Full::of(&settings).unwrap();
        for normal in [0.05, 0.1] {
            let told = of(toml, normal, Some(50.0)).unwrap();
            assert!(told.is_exact && !told.is_more);
            let (calls, trips) = played(&settings, &full, normal, 50.0).unwrap();
            let tried = calls / f64::from(trips);
            assert!((told.calls_between / tried - 1.0).abs() < 0.15, "{normal}: {told:?} {tried}");
        }
    }

    #[test]
    fn evidence_that_must_be_sustained_trips_no_sooner_than_its_chain_says() {
        // On a good day the default never trips.
        let never = of("open_for = '500ms'", 0.002, Some(500.0)).unwrap();
        assert!(never.is_more && never.per_day().unwrap() < 1e-6, "{never:?}");
        let toml = "[window]\nnormal = '5%'\nbroken = '20%'\ncalls_per_false_trip = 200";
        let any = of(toml, 0.05, None).unwrap();
        assert!(any.is_more && any.is_exact, "{any:?}");
        let tried = of(toml, 0.05, Some(1_000.0)).unwrap();
        assert!(!tried.is_more && tried.calls_between > any.calls_between, "{any:?} {tried:?}");
    }

    #[test]
    fn a_rate_of_half_the_calls_never_trips_on_noise() {
        let noise = of("[window]\nkind = 'calls'\nsize = 100", 0.01, None).unwrap();
        assert!(noise.is_more && noise.calls_between > 500_000.0, "{noise:?}");
    }
}
