//! A setting that can't be: which, what it was, what is allowed.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::fmt;

use nanobreaker_core::ConfigError;

use crate::keys::Key;
use crate::table::PartialWindow;
use crate::value::{humane, percent};
use crate::window::WindowKind;

/// A setting that can't be: names its key, its value and what is allowed.
///
/// ```
/// use nanobreaker_settings::PartialSettings;
///
/// let settings: PartialSettings = toml::from_str("max_probes = 100")?;
/// let error = settings.complete().unwrap_err();
/// assert_eq!(error.to_string(), "max_probes is 100, but must be from 1 to 63");
///
/// let settings: PartialSettings = toml::from_str("open_for = '2 days'")?;
/// let error = settings.complete().unwrap_err();
/// assert_eq!(error.key(), "open_for");
/// assert_eq!(
///     error.to_string(),
///     "open_for is 48h, but must be from 1ms to 18h 38m 28s 864ms",
/// );
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    key: String,
    problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    OutOfRange { value: u64, minimum: u64, maximum: u64, unit: Unit },
    GivenTwice { other: String },
    Conflict { other: &'static str },
    NotOfKind { kind: WindowKind },
    Unknown { nearest: Option<String>, known: String },
    Renamed { now: &'static str },
    Misplaced { belongs: &'static str },
    Missing { needed_by: &'static str },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    None,
    Milliseconds,
    PartsPerMillion,
}

impl Unit {
    fn show(self, value: u64) -> String {
        match self {
            Self::None => format!("{value}"),
            Self::Milliseconds => humane(value),
            Self::PartsPerMillion => percent(value),
        }
    }
}

impl SettingsError {
    /// The setting's key, with the tables that it stands in: `window.threshold`,
    /// `breakers.payments.open_for`.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The same problem in settings that stand under `table`.
    #[must_use]
    pub fn under(mut self, table: &str) -> Self {
        self.key = format!("{table}.{}", self.key);
        self
    }

    fn new(key: impl Into<String>, problem: Problem) -> Self {
        let key = key.into();
        Self { key, problem }
    }

    /// The same for a window of slow calls, whose rate has a key of its own.
    pub(crate) fn of_slow_window(error: ConfigError) -> Self {
        let mut error = Self::from(error);
        error.key = error.key.replace("failure_rate", "slow_rate");
        error
    }

    pub(crate) fn both(key: &str, other: &str) -> Self {
        let other = other.to_owned();
        Self::new(key, Problem::GivenTwice { other })
    }

    /// Two settings that each say all of the same.
    pub(crate) fn conflict(key: &str, other: &'static str) -> Self {
        Self::new(key, Problem::Conflict { other })
    }

    /// The same problem in the table of the window of slow calls.
    pub(crate) fn in_slow_window(mut self) -> Self {
        self.key = self.key.replacen("window.", "slow_window.", 1);
        self
    }

    pub(crate) fn not_of_kind(key: &str, kind: WindowKind) -> Self {
        Self::new(format!("window.{key}"), Problem::NotOfKind { kind })
    }

    pub(crate) fn unknown(key: &str, nearest: Option<String>, known: String) -> Self {
        Self::new(key, Problem::Unknown { nearest, known })
    }

    pub(crate) fn renamed(key: &str, now: &'static str) -> Self {
        Self::new(key, Problem::Renamed { now })
    }

    pub(crate) fn misplaced(key: &str, belongs: &'static str) -> Self {
        Self::new(key, Problem::Misplaced { belongs })
    }

    pub(crate) fn missing(key: &str, needed_by: &'static str) -> Self {
        Self::new(key, Problem::Missing { needed_by })
    }
}

/// Names the setting as it is written in a file.
impl From<ConfigError> for SettingsError {
    fn from(error: ConfigError) -> Self {
        let field = error.field();
        let (name, unit, scale) = if let Some(name) = field.strip_suffix("_ms") {
            (name, Unit::Milliseconds, 1)
        } else if let Some(name) = field.strip_suffix("_permille") {
            (name, Unit::PartsPerMillion, 1_000)
        } else if let Some(name) = field.strip_suffix("_ppm") {
            (name, Unit::PartsPerMillion, 1)
        } else if matches!(field, "normal" | "broken") {
            (field, Unit::PartsPerMillion, 1)
        } else {
            (field, Unit::None, 1)
        };
        // Jitter is no rate of calls, and written in thousandths.
        let (name, unit, scale) = match field {
            "jitter_permille" => (field, Unit::None, 1),
            _ => (name, unit, scale),
        };
        let stem = name.trim_end_matches("_percent");
        let is_windows = PartialWindow::KEYS.iter().any(|key: &Key| key.name == stem);
        let table = if is_windows { "window." } else { "" };
        Self::new(
            format!("{table}{name}"),
            Problem::OutOfRange {
                value: error.value().saturating_mul(scale),
                minimum: error.minimum().saturating_mul(scale),
                maximum: error.maximum().saturating_mul(scale),
                unit,
            },
        )
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match &self.problem {
            Problem::OutOfRange { value, minimum, maximum, unit } => {
                let [value, minimum, maximum] = [value, minimum, maximum].map(|number| unit.show(*number));
                write!(f, "{key} is {value}, but must be from {minimum} to {maximum}")
            }
            Problem::GivenTwice { other } if other == key => {
                write!(f, "{key} is set twice: keep one")
            }
            Problem::GivenTwice { other } => {
                write!(f, "{key} is set twice, as {key} and as {other}: keep one")
            }
            Problem::Conflict { other } => write!(f, "{key} can't stand beside {other}: keep one"),
            Problem::NotOfKind { kind } => write!(
                f,
                "{key} is no setting of kind = \"{}\", which has {}",
                kind.name(),
                PartialWindow::keys_of(*kind)
            ),
            Problem::Unknown { nearest: Some(nearest), .. } => {
                write!(f, "{key} is no setting: did you mean {nearest}?")
            }
            Problem::Unknown { nearest: None, known } => {
                write!(f, "{key} is no setting, which are {known}")
            }
            Problem::Renamed { now } => write!(f, "{key} is called {now} now: rename it"),
            Problem::Misplaced { belongs } => write!(f, "{key} belongs in {belongs} only"),
            Problem::Missing { needed_by } => write!(f, "{key} is missing: {needed_by} needs it"),
        }
    }
}

impl core::error::Error for SettingsError {}
