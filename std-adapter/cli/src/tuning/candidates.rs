//! The configurations that are tried.

use std::time::Duration;

use nanobreaker::{PartialSettings, PartialWindow, Rate, WindowKind};

const THRESHOLDS: [u32; 6] = [3, 5, 10, 20, 40, 64];
const WITHIN_S: [u64; 4] = [5, 10, 30, 60];
const CONSECUTIVE: [u32; 4] = [3, 5, 10, 20];
const SIZES: [u32; 4] = [10, 20, 50, 100];
const PERCENTS: [u32; 4] = [10, 25, 50, 75];
const SPANS_S: [u64; 3] = [5, 10, 30];
const MIN_CALLS: [u32; 3] = [5, 10, 20];
/// Normal and broken rates of the cumulative sum, per mille.
const EVIDENCE: [(u32, u32); 4] = [(2, 200), (10, 200), (20, 500), (50, 500)];

/// How a breaker opens and comes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opening {
    pub(crate) open_for: Duration,
    pub(crate) max_open: Option<Duration>,
    pub(crate) ramp: Option<Duration>,
}

/// The shortest and the longest open time that is tried unasked.
const OPEN_FOR: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(60));
/// An outage that is as usual as any, where the log has none.
const USUAL_OUTAGE: Duration = Duration::from_secs(60);

/// Openings that suit outages of this length: a breaker that is open for a part of it asks often enough to
/// see its end, and seldom enough to spare the dependency. Simple ones come first.
pub(crate) fn openings(usual_outage: Option<Duration>) -> Vec<Opening> {
    let usual = usual_outage.unwrap_or(USUAL_OUTAGE);
    let part = |of: u32| readable((usual / of).clamp(OPEN_FOR.0, OPEN_FOR.1));
    let (short, medium, long) = (part(60), part(12), part(3));
    let fixed = |open_for| Opening { open_for, ..Opening::default() };
    let backoff = Opening { max_open: Some(medium), ..fixed(short) };
    let mut openings = vec![fixed(short), fixed(medium), fixed(long), backoff];
    openings.push(Opening { ramp: Some(short), ..backoff });
    openings.retain(|one| one.max_open.is_none_or(|most| most > one.open_for));
    let mut different: Vec<Opening> = Vec::new();
    for opening in openings {
        if !different.contains(&opening) {
            different.push(opening);
        }
    }
    different
}

/// Open times that were asked for.
pub(crate) fn asked(open_for: &[Duration]) -> Vec<Opening> {
    let opening = |open_for: &Duration| Opening { open_for: *open_for, ..Opening::default() };
    open_for.iter().map(opening).collect()
}

/// To one digit, as people would write it.
fn readable(duration: Duration) -> Duration {
    let ms = duration.as_millis().max(1) as u64;
    let step = match ms {
        ..1_000 => 100,
        1_000..10_000 => 1_000,
        _ => 5_000,
    };
    Duration::from_millis((ms + step / 2) / step * step.min(ms.max(1)))
}

/// Every window with every opening, on top of what `base` says. Simple ones come first. `normal` is the share
/// of calls that fail outside of the log's outages.
pub(crate) fn candidates(base: &PartialSettings, openings: &[Opening], normal: f64) -> Vec<PartialSettings> {
    let mut candidates = Vec::new();
    for window in windows(normal) {
        for opening in openings {
            let settings = PartialSettings {
                open_for: Some(opening.open_for),
                // Without one of its own it would back off as the default does.
                max_open: base.max_open.or(opening.max_open).or(Some(opening.open_for)),
                ramp: base.ramp.or(opening.ramp),
                window: beside_slow_calls(window, &base.window),
                ..*base
            };
            // The base may say what some of them can't fulfil, such as a cap of the open time.
            if settings.complete().is_ok() && !candidates.contains(&settings) {
                candidates.push(settings);
            }
        }
    }
    candidates
}

/// A window with what `base` says of slow calls; where it is no rate itself, with what their rate is over.
fn beside_slow_calls(window: PartialWindow, base: &PartialWindow) -> PartialWindow {
    let PartialWindow { slow_rate, p50, p90, p95, p99, p999, size, span, buckets, min_calls, .. } = *base;
    let judges = slow_rate.is_some() || [p50, p90, p95, p99, p999].iter().any(Option::is_some);
    let is_rate = matches!(window.kind, Some(WindowKind::Calls | WindowKind::Time));
    let window = match judges && !is_rate {
        true => PartialWindow { size, span, buckets, min_calls, ..window },
        false => window,
    };
    PartialWindow { slow_rate, p50, p90, p95, p99, p999, ..window }
}

/// All windows that are tried, from the simplest kind on: a kind more is a part more here.
fn windows(normal: f64) -> Vec<PartialWindow> {
    let of = |kind| PartialWindow { kind: Some(kind), ..PartialWindow::default() };
    let mut windows = Vec::new();
    for threshold in CONSECUTIVE {
        windows.push(PartialWindow { threshold: Some(threshold), ..of(WindowKind::Consecutive) });
    }
    for threshold in THRESHOLDS {
        for within in WITHIN_S {
            windows.push(PartialWindow {
                threshold: Some(threshold),
                within: Some(Duration::from_secs(within)),
                ..of(WindowKind::Failures)
            });
        }
    }
    for percent in PERCENTS {
        for size in SIZES {
            windows.push(PartialWindow {
                size: Some(size),
                failure_rate: Some(Rate::percent(percent)),
                min_calls: Some(size.min(20)),
                ..of(WindowKind::Calls)
            });
        }
        for span in SPANS_S {
            for min_calls in MIN_CALLS {
                windows.push(PartialWindow {
                    span: Some(Duration::from_secs(span)),
                    failure_rate: Some(Rate::percent(percent)),
                    min_calls: Some(min_calls),
                    ..of(WindowKind::Time)
                });
            }
        }
    }
    for (normal, broken) in evidence(normal) {
        windows.push(PartialWindow { normal: Some(normal), broken: Some(broken), ..of(WindowKind::Cusum) });
    }
    windows
}

/// Normal and broken rates: the usual ones, and what is normal in the log, rounded up to one digit.
fn evidence(normal: f64) -> Vec<(Rate, Rate)> {
    let usual = EVIDENCE.map(|(normal, broken)| (normal * 1_000, broken * 1_000));
    let ppm = (normal * 1e6).ceil() as u32;
    let digit = 10_u32.pow(ppm.checked_ilog10().unwrap_or(0));
    let own = ppm.div_ceil(digit) * digit;
    // From a tenth on a log has no normal rate.
    let own = [(own, 200_000), (own, 500_000)].into_iter().filter(|(own, _)| (1..100_000).contains(own));
    let mut all: Vec<(u32, u32)> = usual.into_iter().chain(own).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(|(normal, broken)| (Rate::ppm(normal), Rate::ppm(broken))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_window_is_valid_on_its_own() {
        for normal in [0.0, 0.000_001, 0.003_2, 0.01, 0.099, 0.5, 1.0] {
            let openings = asked(&[Duration::from_secs(5)]);
            let candidates = candidates(&PartialSettings::default(), &openings, normal);
            assert_eq!(candidates.len(), windows(normal).len(), "{normal}");
        }
    }

    #[test]
    fn what_is_normal_in_the_log_is_tried_rounded_up() {
        let normal = |share: f64| -> Vec<u32> {
            let mut all: Vec<_> = evidence(share).iter().map(|(normal, _)| normal.as_ppm()).collect();
            all.dedup();
            all
        };
        assert_eq!(normal(0.0), [2_000, 10_000, 20_000, 50_000]);
        assert_eq!(normal(0.003_21), [2_000, 4_000, 10_000, 20_000, 50_000]);
        assert_eq!(normal(0.02), [2_000, 10_000, 20_000, 50_000]);
        assert_eq!(normal(0.3), [2_000, 10_000, 20_000, 50_000]);
    }

    #[test]
    fn openings_are_parts_of_the_usual_outage() {
        let openings = openings(Some(Duration::from_secs(60)));
        let times: Vec<_> = openings.iter().map(|one| (one.open_for.as_millis(), one.max_open)).collect();
        let five = Some(Duration::from_secs(5));
        let expected = [(1_000, None), (5_000, None), (20_000, None), (1_000, five), (1_000, five)];
        assert_eq!(times, expected);
        for ms in [1, 50, 700, 30_000, 86_400_000] {
            for opening in super::openings(Some(Duration::from_millis(ms))) {
                assert!((OPEN_FOR.0..=OPEN_FOR.1).contains(&opening.open_for), "{opening:?}");
            }
        }
    }

    #[test]
    fn what_the_base_rules_out_is_not_tried() {
        let base: PartialSettings = toml::from_str("max_open = '10s'").unwrap();
        let candidates = candidates(&base, &asked(&[5, 20].map(Duration::from_secs)), 0.01);
        assert!(candidates.iter().all(|one| one.open_for == Some(Duration::from_secs(5))));
    }

    #[test]
    fn a_rule_for_slow_calls_stands_beside_every_kind_of_window() {
        let openings = openings(None);
        let kinds = |toml: &str| {
            let base: PartialSettings = toml::from_str(toml).unwrap();
            let tried = candidates(&base, &openings, 0.0);
            WindowKind::ALL.map(|kind| tried.iter().filter(|one| one.window.kind == Some(kind)).count())
        };
        let plain = kinds("");
        assert!(plain.iter().all(|count| *count > 0));
        assert_eq!(kinds("[window]\nkind = 'calls'\nsize = 50"), plain);
        assert_eq!(kinds("slow_after = '1s'\n[window]\nkind = 'calls'\nsize = 50\nslow_rate = '50%'"), plain);
        assert_eq!(kinds("[window]\nkind = 'time'\nspan = '10s'\np95 = '500ms'"), plain);
    }
}
