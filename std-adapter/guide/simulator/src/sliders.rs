//! The settings as sliders: from a key and a number to TOML, through the very parser that reads files.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use nanobreaker_settings::{PartialSettings, PartialWindow, Rate, WindowKind};
use serde::Serialize;

use crate::refusal::Refusal;
use crate::setup::Setup;

/// What a slider's number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    /// Milliseconds.
    Ms,
    /// Parts per million.
    Ppm,
    /// Parts per thousand.
    Permille,
    /// Pieces.
    Count,
    /// 0 is no, 1 is yes.
    Switch,
}

/// What a slider reaches: not what a setting may be, which its parser says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slider {
    key: &'static str,
    in_window: bool,
    unit: Unit,
    least: u64,
    most: u64,
}

const fn opening(key: &'static str, unit: Unit, least: u64, most: u64) -> Slider {
    Slider { key, in_window: false, unit, least, most }
}

const fn window(key: &'static str, unit: Unit, least: u64, most: u64) -> Slider {
    Slider { key, in_window: true, unit, least, most }
}

/// A limit or a rate that is off is 0.
const SLIDERS: [Slider; 24] = [
    window("threshold", Unit::Count, 1, 65),
    window("within", Unit::Ms, 50, 120_000),
    window("size", Unit::Count, 1, 1_024),
    window("span", Unit::Ms, 100, 120_000),
    window("buckets", Unit::Count, 1, 32),
    window("failure_rate", Unit::Ppm, 10_000, 1_000_000),
    window("min_calls", Unit::Count, 1, 1_000),
    window("normal", Unit::Ppm, 100, 300_000),
    window("broken", Unit::Ppm, 10_000, 990_000),
    window("calls_per_false_trip", Unit::Count, 100, 1_000_000_000_000),
    window("sustained_for", Unit::Ms, 0, 5_000),
    window("slow_rate", Unit::Ppm, 0, 1_000_000),
    opening("slow_after", Unit::Ms, 0, 30_000),
    opening("hung_after", Unit::Ms, 0, 30_000),
    opening("open_for", Unit::Ms, 50, 120_000),
    opening("max_open", Unit::Ms, 50, 600_000),
    opening("relapse_within", Unit::Ms, 50, 600_000),
    opening("max_probes", Unit::Count, 1, 20),
    opening("probe_successes", Unit::Count, 1, 20),
    opening("probe_failures", Unit::Count, 1, 20),
    opening("probe_lease", Unit::Ms, 50, 120_000),
    opening("ramp", Unit::Ms, 0, 60_000),
    opening("jitter_permille", Unit::Permille, 0, 1_000),
    opening("latch", Unit::Switch, 0, 1),
];

/// A slider as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Position {
    key: &'static str,
    unit: Unit,
    least: u64,
    most: u64,
    value: u64,
}

impl Setup {
    /// The kind of window.
    pub(crate) fn kind(&self) -> WindowKind {
        let window = self.partial().window.with_defaults().unwrap_or_default();
        window.kind.unwrap_or_default()
    }

    /// The sliders of what counts for this kind of window, each at its value or default.
    pub(crate) fn positions(&self) -> Vec<Position> {
        let window = self.partial().window.with_defaults().unwrap_or_default();
        let shown = SLIDERS.iter().filter_map(|slider| {
            let value = if slider.in_window {
                self.window_value(&window, slider.key)?
            } else {
                self.opening_value(slider.key)?
            };
            let Slider { key, unit, least, most, .. } = *slider;
            Some(Position { key, unit, least, most, value })
        });
        shown.collect()
    }

    fn window_value(&self, window: &PartialWindow, key: &str) -> Option<u64> {
        let ms = |duration: Duration| duration.as_millis() as u64;
        let ppm = |rate: Rate| u64::from(rate.as_ppm());
        match key {
            "threshold" => window.threshold.map(u64::from),
            "within" => window.within.map(ms),
            "size" => window.size.map(u64::from),
            "span" => window.span.map(ms),
            "buckets" => window.buckets.map(u64::from),
            "failure_rate" => window.failure_rate.map(ppm),
            "min_calls" => window.min_calls.map(u64::from),
            "normal" => window.normal.map(ppm),
            "broken" => window.broken.map(ppm),
            "calls_per_false_trip" => window.calls_per_false_trip,
            "sustained_for" => window.sustained_for.map(ms),
            "slow_rate" => {
                let rates = matches!(self.kind(), WindowKind::Calls | WindowKind::Time);
                let is_shown = rates || window.slow_rate.is_some();
                is_shown.then(|| window.slow_rate.map_or(0, ppm))
            }
            _ => None,
        }
    }

    fn opening_value(&self, key: &str) -> Option<u64> {
        let settings = self.complete();
        let config = settings.opening.build().ok()?;
        Some(match key {
            "slow_after" => settings.slow_after_ms.unwrap_or(0).into(),
            "hung_after" => settings.hung_after_ms.unwrap_or(0).into(),
            "open_for" => config.open_for_ms().into(),
            "max_open" => config.max_open_ms().into(),
            "relapse_within" => config.relapse_within_ms().into(),
            "max_probes" => config.max_probes().into(),
            "probe_successes" => config.probe_successes().into(),
            "probe_failures" => config.probe_failures().into(),
            "probe_lease" => config.probe_lease_ms().into(),
            "ramp" => config.ramp_ms().into(),
            "jitter_permille" => settings.opening.jitter_permille.into(),
            "latch" => config.latch().into(),
            _ => return None,
        })
    }

    /// The settings with this one changed.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] where the value can't be beside the others.
    pub(crate) fn slide(&self, key: &str, value: u64) -> Result<Self, Refusal> {
        let Some(slider) = SLIDERS.iter().find(|slider| slider.key == key) else {
            return Err(Refusal::new(key, "is no setting"));
        };
        let refused = |why: String| Refusal::new(key, why);
        let mut changed = *self.partial();
        match (key, value) {
            ("slow_after", 0) => changed.slow_after = None,
            ("hung_after", 0) => changed.hung_after = None,
            ("slow_rate", 0) => changed.window.slow_rate = None,
            _ => {
                let parsed = toml::from_str::<PartialSettings>(&slider.line(value));
                changed = parsed.map_err(|error| refused(error.to_string()))?.or(changed);
            }
        }
        Self::of(changed).map_err(refused)
    }

    /// The settings with a window of another kind, which has its defaults.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] where there is no such kind.
    pub(crate) fn with_kind(&self, name: &str) -> Result<Self, Refusal> {
        let refused = |why: String| Refusal::new("kind", why);
        let parsed = toml::from_str::<PartialSettings>(&format!("[window]\nkind = {name:?}"));
        let chosen = parsed.map_err(|error| refused(error.to_string()))?;
        Self::of(chosen.or(*self.partial())).map_err(refused)
    }
}

impl Slider {
    /// The setting at that value as a file says it.
    fn line(&self, value: u64) -> String {
        let table = if self.in_window { "[window]\n" } else { "" };
        let key = self.key;
        match self.unit {
            Unit::Ms => format!("{table}{key}_ms = {value}"),
            Unit::Ppm => format!("{table}{key} = \"{}.{:04}%\"", value / 10_000, value % 10_000),
            Unit::Permille | Unit::Count => format!("{table}{key} = {value}"),
            Unit::Switch => format!("{table}{key} = {}", value != 0),
        }
    }
}
