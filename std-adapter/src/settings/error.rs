//! A setting that can't be: which, what it was, what is allowed.

use std::fmt;
use std::time::Duration;

use nanobreaker_core::ConfigError;

/// The settings of windows, which stand in a table of their own.
const WINDOW_FIELDS: [&str; 8] = [
    "threshold",
    "within_ms",
    "size",
    "span_ms",
    "buckets",
    "failure_rate_percent",
    "slow_rate_percent",
    "min_calls",
];

/// A setting that can't be: names its key, its value and what is allowed.
///
/// ```
/// use nanobreaker::Settings;
///
/// let settings: Settings = toml::from_str("probes = 100")?;
/// let error = settings.check().unwrap_err();
/// assert_eq!(error.to_string(), "probes is 100, but must be from 1 to 63");
///
/// let settings: Settings = toml::from_str("open_for = '2 days'")?;
/// let error = settings.check().unwrap_err();
/// assert_eq!(error.key(), "open_for");
/// assert_eq!(
///     error.to_string(),
///     "open_for is 2days, but must be from 1ms to 18h 38m 28s 864ms",
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
    OutOfRange {
        value: u64,
        minimum: u64,
        maximum: u64,
        is_duration: bool,
    },
    GivenTwice {
        other: String,
    },
    NotOfKind {
        kind: &'static str,
        allowed: &'static str,
    },
    Misplaced {
        belongs: &'static str,
    },
    Missing {
        needed_by: &'static str,
    },
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

    pub(super) fn out_of_range(key: &str, value: Duration, minimum: u64, maximum: u64) -> Self {
        Self {
            key: key.to_owned(),
            problem: Problem::OutOfRange {
                value: u64::try_from(value.as_millis()).unwrap_or(u64::MAX),
                minimum,
                maximum,
                is_duration: true,
            },
        }
    }

    pub(super) fn both(key: &str, other: &str) -> Self {
        Self {
            key: key.to_owned(),
            problem: Problem::GivenTwice {
                other: other.to_owned(),
            },
        }
    }

    pub(super) fn not_of_kind(key: &str, kind: &'static str, allowed: &'static str) -> Self {
        Self {
            key: key.to_owned(),
            problem: Problem::NotOfKind { kind, allowed },
        }
    }

    pub(super) fn misplaced(key: &str, belongs: &'static str) -> Self {
        Self {
            key: key.to_owned(),
            problem: Problem::Misplaced { belongs },
        }
    }

    pub(super) fn missing(key: &str, needed_by: &'static str) -> Self {
        Self {
            key: key.to_owned(),
            problem: Problem::Missing { needed_by },
        }
    }
}

/// Names the setting as it is written in a file.
impl From<ConfigError> for SettingsError {
    fn from(error: ConfigError) -> Self {
        let field = error.field();
        let table = if WINDOW_FIELDS.contains(&field) {
            "window."
        } else {
            ""
        };
        Self {
            key: format!("{table}{}", field.trim_end_matches("_ms")),
            problem: Problem::OutOfRange {
                value: error.value(),
                minimum: error.minimum(),
                maximum: error.maximum(),
                is_duration: field.ends_with("_ms"),
            },
        }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match &self.problem {
            Problem::OutOfRange {
                value,
                minimum,
                maximum,
                is_duration: false,
            } => write!(
                f,
                "{key} is {value}, but must be from {minimum} to {maximum}"
            ),
            Problem::OutOfRange {
                value,
                minimum,
                maximum,
                is_duration: true,
            } => write!(
                f,
                "{key} is {}, but must be from {} to {}",
                humane(*value),
                humane(*minimum),
                humane(*maximum)
            ),
            Problem::GivenTwice { other } => {
                write!(f, "{key} is set twice, as {key} and as {other}: keep one")
            }
            Problem::NotOfKind { kind, allowed } => {
                write!(
                    f,
                    "{key} is no setting of kind = \"{kind}\", which has {allowed}"
                )
            }
            Problem::Misplaced { belongs } => write!(f, "{key} belongs into {belongs} only"),
            Problem::Missing { needed_by } => write!(f, "{key} is missing: {needed_by} needs it"),
        }
    }
}

impl std::error::Error for SettingsError {}

fn humane(ms: u64) -> impl fmt::Display {
    humantime::format_duration(Duration::from_millis(ms))
}
