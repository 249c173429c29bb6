//! One field of a log line, before anyone knows what it means.

use std::borrow::Cow;

use crate::reading::malformed::Malformed;

/// A field's value. CSV and text logs know only text; JSON tells numbers and booleans apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Text(Cow<'a, str>),
    /// An object or a list, which no field of ours can be.
    Nested,
}

/// A unit of time that a log may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Unit {
    /// Seconds
    S,
    /// Milliseconds
    Ms,
    /// Microseconds
    Us,
    /// Nanoseconds
    Ns,
}

/// A number as precise as its field had it.
#[derive(Clone, Copy, Debug)]
enum Number {
    Integer(i64),
    Float(f64),
}

/// The longest duration that is taken for one: a year. Anything longer is a mistake in the unit.
const LONGEST_US: i64 = 366 * 86_400 * 1_000_000;
/// Times are from the years −9999 to 9999, as in RFC 3339.
const FURTHEST_US: i64 = 253_402_300_800 * 1_000_000;

impl<'a> Value<'a> {
    pub(crate) fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// Whether the field is there but says nothing.
    pub(crate) fn is_blank(&self) -> bool {
        matches!(self, Self::Text(text) if text.trim().is_empty())
    }

    fn shown(&self) -> Cow<'_, str> {
        match self {
            Self::Integer(number) => number.to_string().into(),
            // As Rust writes it in code: the very large with an exponent.
            Self::Float(number) => format!("{number:?}").into(),
            Self::Boolean(value) => value.to_string().into(),
            // A line of a log can be anything: quoted, escaped and cut.
            Self::Text(text) => format!("{:?}", text.chars().take(40).collect::<String>()).into(),
            Self::Nested => "an object or a list".into(),
        }
    }

    fn number(&self) -> Option<Number> {
        match self {
            Self::Integer(number) => Some(Number::Integer(*number)),
            Self::Float(number) => Some(Number::Float(*number)),
            Self::Text(text) => number_in(text.trim()),
            Self::Boolean(_) | Self::Nested => None,
        }
    }

    /// A point in time, in microseconds since the epoch: a number, whose unit is told by its size
    /// unless it is given, or RFC 3339.
    pub(crate) fn time(&self, field: &str, unit: Option<Unit>) -> Result<i64, Malformed> {
        let us = match (self.number(), self) {
            (Some(number), _) => number.micros(unit.unwrap_or_else(|| number.unit_by_size())),
            (None, Self::Text(text)) => text
                .trim()
                .parse::<jiff::Timestamp>()
                .ok()
                .map(|time| time.as_microsecond()),
            (None, _) => None,
        };
        us.filter(|us| (-FURTHEST_US..=FURTHEST_US).contains(us))
            .ok_or_else(|| {
                let allowed = "a number since the epoch or a time as in RFC 3339";
                Malformed::field(field, format!("{} is not {allowed}", self.shown()))
            })
    }

    /// A duration in microseconds.
    pub(crate) fn duration(&self, field: &str, unit: Unit) -> Result<i64, Malformed> {
        self.number()
            .and_then(|number| number.micros(unit))
            .filter(|us| (0..=LONGEST_US).contains(us))
            .ok_or_else(|| {
                let allowed = "a duration from 0 to a year";
                Malformed::field(field, format!("{} is not {allowed}", self.shown()))
            })
    }

    /// An HTTP status; 0 stands for "no answer", as Envoy writes it.
    pub(crate) fn status(&self, field: &str) -> Result<u16, Malformed> {
        match self.number() {
            Some(Number::Integer(status @ 0..=999)) => Ok(status as u16),
            _ => Err(Malformed::field(
                field,
                format!("{} is not a status from 0 to 999", self.shown()),
            )),
        }
    }

    pub(crate) fn boolean(&self, field: &str) -> Result<bool, Malformed> {
        match self {
            Self::Boolean(value) => Ok(*value),
            Self::Integer(0) => Ok(false),
            Self::Integer(1) => Ok(true),
            Self::Text(text) if is_word(text, &["true", "1", "yes"]) => Ok(true),
            Self::Text(text) if is_word(text, &["false", "0", "no"]) => Ok(false),
            _ => Err(Malformed::field(
                field,
                format!("{} is not true or false", self.shown()),
            )),
        }
    }

    /// What the breaker's key is made of.
    pub(crate) fn into_key(self, field: &str) -> Result<Cow<'a, str>, Malformed> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Integer(number) => Ok(number.to_string().into()),
            Self::Boolean(value) => Ok(value.to_string().into()),
            other => Err(Malformed::field(
                field,
                format!("{} is not a name", other.shown()),
            )),
        }
    }
}

fn is_word(text: &str, words: &[&str]) -> bool {
    let text = text.trim();
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn number_in(text: &str) -> Option<Number> {
    // "inf" and "nan" are numbers to the standard library, but in no log.
    if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        || !text.ends_with(|c: char| c.is_ascii_digit() || c == '.')
    {
        return None;
    }
    match text.parse() {
        Ok(number) => Some(Number::Integer(number)),
        Err(_) => text.parse().ok().map(Number::Float),
    }
}

impl Number {
    fn micros(self, unit: Unit) -> Option<i64> {
        match (self, unit) {
            (Self::Integer(number), Unit::S) => number.checked_mul(1_000_000),
            (Self::Integer(number), Unit::Ms) => number.checked_mul(1_000),
            (Self::Integer(number), Unit::Us) => Some(number),
            (Self::Integer(number), Unit::Ns) => Some(number.div_euclid(1_000)),
            (Self::Float(number), unit) => {
                let us = number * unit.in_micros();
                // Beyond this a float has no whole microseconds any more.
                (us.abs() < 1e18).then_some(us.round() as i64)
            }
        }
    }

    /// Seconds until the year 5138, milliseconds until then, and so on: real logs leave no doubt.
    fn unit_by_size(self) -> Unit {
        let size = match self {
            Self::Integer(number) => number.unsigned_abs() as f64,
            Self::Float(number) => number.abs(),
        };
        if size < 1e11 {
            Unit::S
        } else if size < 1e14 {
            Unit::Ms
        } else if size < 1e17 {
            Unit::Us
        } else {
            Unit::Ns
        }
    }
}

impl Unit {
    fn in_micros(self) -> f64 {
        match self {
            Self::S => 1e6,
            Self::Ms => 1e3,
            Self::Us => 1.0,
            Self::Ns => 1e-3,
        }
    }

    /// The unit that a column's name ends with, as in `duration_ms`.
    pub(crate) fn in_name(name: &str) -> Option<Self> {
        match name.rsplit(['_', '.', '-']).next()? {
            "s" | "sec" | "secs" | "seconds" => Some(Self::S),
            "ms" | "millis" | "milliseconds" => Some(Self::Ms),
            "us" | "micros" | "microseconds" => Some(Self::Us),
            "ns" | "nanos" | "nanoseconds" => Some(Self::Ns),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const T: i64 = 1_767_225_600_000_000;

    fn time(text: &str) -> Option<i64> {
        Value::text(text).time("ts", None).ok()
    }

    #[test]
    fn a_time_is_seconds_milliseconds_or_rfc_3339() {
        for text in [
            "1767225600",
            "1767225600.0",
            "1767225600000",
            "1767225600000000",
            "2026-01-01T00:00:00Z",
            "2026-01-01T01:00:00+01:00",
            "2026-01-01 00:00:00.000Z",
        ] {
            assert_eq!(time(text), Some(T), "{text}");
        }
        assert_eq!(time("1767225600.25"), Some(T + 250_000));
    }

    #[test]
    fn what_is_no_time_is_refused_by_field_and_value() {
        for text in [
            "",
            "-",
            "nan",
            "inf",
            "yesterday",
            "1e400",
            "2026-13-01T00:00:00Z",
        ] {
            let refused = Value::text(text).time("ts", None).unwrap_err().to_string();
            assert!(refused.contains("`ts`"), "{refused}");
        }
    }

    #[test]
    fn a_duration_is_neither_negative_nor_longer_than_a_year() {
        let duration = |text| Value::text(text).duration("d", Unit::Ms).ok();
        assert_eq!(duration("1.5"), Some(1_500));
        assert_eq!(duration("-1"), None);
        assert_eq!(duration("1e3"), Some(1_000_000));
        assert_eq!(duration("99999999999999999999"), None);
    }

    proptest! {
        #[test]
        fn no_value_panics(text in ".*", float: f64, integer: i64) {
            for value in [Value::text(&text), Value::Float(float), Value::Integer(integer)] {
                for unit in [None, Some(Unit::S), Some(Unit::Ns)] {
                    let _ = value.time("ts", unit);
                    let _ = value.duration("d", unit.unwrap_or(Unit::Ms));
                }
                let _ = value.status("status");
                let _ = value.boolean("ok");
                let _ = value.into_key("key");
            }
        }
    }
}
