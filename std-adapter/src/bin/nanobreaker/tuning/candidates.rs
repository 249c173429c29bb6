//! The configurations that are tried.

use std::time::Duration;

use nanobreaker::{Settings, WindowKind, WindowSettings};

const THRESHOLDS: [u32; 6] = [3, 5, 10, 20, 40, 64];
const WITHIN_S: [u64; 4] = [5, 10, 30, 60];
const CONSECUTIVE: [u32; 4] = [3, 5, 10, 20];
const SIZES: [u32; 4] = [10, 20, 50, 100];
const PERCENTS: [u32; 4] = [10, 25, 50, 75];
const SPANS_S: [u64; 3] = [5, 10, 30];
const MIN_CALLS: [u32; 3] = [5, 10, 20];

/// Every window with every open time, on top of what `base` says. Simple ones come first.
pub(crate) fn candidates(base: &Settings, open_for: &[Duration]) -> Vec<Settings> {
    let mut candidates = Vec::new();
    for window in windows() {
        for open_for in open_for {
            let settings = Settings {
                open_for: Some(*open_for),
                window: WindowSettings {
                    slow_rate_percent: base.window.slow_rate_percent,
                    ..window
                },
                ..*base
            };
            // The base may say what some of them can't fulfil, such as a cap of the open time.
            if settings.check().is_ok() {
                candidates.push(settings);
            }
        }
    }
    candidates
}

fn windows() -> Vec<WindowSettings> {
    let of = |kind| WindowSettings {
        kind: Some(kind),
        ..WindowSettings::default()
    };
    let mut windows = Vec::new();
    for threshold in CONSECUTIVE {
        windows.push(WindowSettings {
            threshold: Some(threshold),
            ..of(WindowKind::Consecutive)
        });
    }
    for threshold in THRESHOLDS {
        for within in WITHIN_S {
            windows.push(WindowSettings {
                threshold: Some(threshold),
                within: Some(Duration::from_secs(within)),
                ..of(WindowKind::Failures)
            });
        }
    }
    for percent in PERCENTS {
        for size in SIZES {
            windows.push(WindowSettings {
                size: Some(size),
                failure_rate_percent: Some(percent),
                min_calls: Some(size.min(20)),
                ..of(WindowKind::Calls)
            });
        }
        for span in SPANS_S {
            for min_calls in MIN_CALLS {
                windows.push(WindowSettings {
                    span: Some(Duration::from_secs(span)),
                    failure_rate_percent: Some(percent),
                    min_calls: Some(min_calls),
                    ..of(WindowKind::Time)
                });
            }
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_window_is_valid_on_its_own() {
        let candidates = candidates(&Settings::default(), &[Duration::from_secs(5)]);
        assert_eq!(candidates.len(), windows().len());
    }

    #[test]
    fn what_the_base_rules_out_is_not_tried() {
        let base: Settings = toml::from_str("max_open = '10s'").unwrap();
        let candidates = candidates(&base, &[5, 20].map(Duration::from_secs));
        assert!(
            candidates
                .iter()
                .all(|one| one.open_for == Some(Duration::from_secs(5)))
        );
    }
}
