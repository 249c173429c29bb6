//! One field of a log line, before anyone knows what it means.

use std::borrow::Cow;

use nanobreaker_settings::grpc::CODES;

use crate::reading::dates::Dates;
use crate::reading::length;
use crate::reading::malformed::Malformed;
use crate::reading::number::Number;

/// A field's value. CSV and text logs know only text; JSON tells numbers and booleans apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Integer(i64),
    Float(f64),
    /// One with a point, exactly as it is written.
    Decimal(Number),
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

/// How a log tells the unit of its durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// All are in this one.
    In(Unit),
    /// Each has its own beside it, as in `71ms`.
    Written,
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
    #[inline]
    pub(crate) fn is_blank(&self) -> bool {
        matches!(self, Self::Text(text) if text.trim_ascii_start().is_empty())
    }

    pub(crate) fn shown(&self) -> Cow<'_, str> {
        match self {
            Self::Integer(number) => number.to_string().into(),
            // As Rust writes it in code: the very large with an exponent.
            Self::Float(number) => format!("{number:?}").into(),
            Self::Decimal(number) => format!("{:?}", number.approximately()).into(),
            Self::Boolean(value) => value.to_string().into(),
            // A line of a log can be anything: quoted, escaped and cut.
            Self::Text(text) => format!("{:?}", text.chars().take(40).collect::<String>()).into(),
            Self::Nested => "an object or a list".into(),
        }
    }

    #[inline]
    pub(crate) fn number(&self) -> Option<Number> {
        match self {
            Self::Integer(number) => Some(Number::whole(*number)),
            Self::Float(number) => Some(Number::Float(*number)),
            Self::Decimal(number) => Some(*number),
            Self::Text(text) => Number::in_text(text.trim_ascii()),
            Self::Boolean(_) | Self::Nested => None,
        }
    }

    /// A point in time, in microseconds since the epoch: a number, whose unit is told by its size
    /// unless it is given, or a text as in ISO 8601 or the common log format.
    #[inline]
    pub(crate) fn time(&self, field: &str, unit: Option<Unit>, dates: &mut Dates) -> Result<i64, Malformed> {
        self.time_us(unit, dates)
            .ok_or_else(|| self.is_not(field, "a number since the epoch or a time as in RFC 3339"))
    }

    #[inline]
    pub(crate) fn time_us(&self, unit: Option<Unit>, dates: &mut Dates) -> Option<i64> {
        let us = match self {
            Self::Text(text) => {
                let text = text.trim_ascii();
                dates.usual(text).or_else(|| match Number::in_text(text) {
                    Some(number) => since_epoch(number, unit),
                    None => dates.micros(text),
                })
            }
            _ => self.number().and_then(|number| since_epoch(number, unit)),
        };
        us.filter(|us| (-FURTHEST_US..=FURTHEST_US).contains(us))
    }

    /// A duration in microseconds. One that says its own unit is taken at its word.
    #[inline]
    pub(crate) fn duration(&self, field: &str, scale: Scale) -> Result<i64, Malformed> {
        self.duration_us(scale).ok_or_else(|| {
            let allowed = match scale {
                Scale::In(_) => "a duration from 0 to a year",
                Scale::Written => "a duration from 0 to a year with its unit",
            };
            self.is_not(field, allowed)
        })
    }

    #[inline]
    pub(crate) fn duration_us(&self, scale: Scale) -> Option<i64> {
        let us = match (self.number(), scale) {
            (Some(number), Scale::In(unit)) => number.micros(unit),
            // Zero is zero in any unit.
            (Some(number), Scale::Written) => (number.approximately() == 0.0).then_some(0),
            (None, _) => self.written_duration(),
        };
        us.filter(|us| (0..=LONGEST_US).contains(us))
    }

    /// The duration that a text with a unit says, in microseconds.
    pub(crate) fn written_duration(&self) -> Option<i64> {
        match self {
            Self::Text(text) => length::micros(text.trim_ascii()),
            _ => None,
        }
    }

    /// An HTTP status. 0 stands for "no answer" where Envoy writes it.
    #[inline]
    pub(crate) fn status(&self, field: &str) -> Result<u16, Malformed> {
        self.code().ok_or_else(|| self.is_not(field, "a status from 0 to 999"))
    }

    #[inline]
    fn code(&self) -> Option<u16> {
        match self.number().and_then(Number::integer) {
            Some(status @ 0..=999) => Some(status as u16),
            _ => None,
        }
    }

    /// The same, or a status of gRPC by its name.
    #[inline]
    pub(crate) fn status_or_name(&self, field: &str) -> Result<u16, Malformed> {
        self.named_code().map_or_else(|| self.status(field), Ok)
    }

    #[inline]
    pub(crate) fn named_code(&self) -> Option<u16> {
        match self {
            Self::Text(text) if text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                grpc_named(text.trim_ascii_end())
            }
            _ => self.code(),
        }
    }

    pub(crate) fn boolean(&self, field: &str) -> Result<bool, Malformed> {
        self.truth().ok_or_else(|| self.is_not(field, "true or false"))
    }

    pub(crate) fn truth(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            Self::Integer(0) => Some(false),
            Self::Integer(1) => Some(true),
            Self::Text(text) if is_word(text, &["true", "1", "yes"]) => Some(true),
            Self::Text(text) if is_word(text, &["false", "0", "no"]) => Some(false),
            _ => None,
        }
    }

    /// What the breaker's key is made of.
    #[inline]
    pub(crate) fn into_key(self, field: &str) -> Result<Cow<'a, str>, Malformed> {
        self.name().map_err(|value| value.is_not(field, "a name"))
    }

    /// The same; otherwise the value itself.
    #[inline]
    pub(crate) fn name(self) -> Result<Cow<'a, str>, Self> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Integer(number) => Ok(number.to_string().into()),
            Self::Boolean(value) => Ok(value.to_string().into()),
            other => Err(other),
        }
    }

    #[cold]
    fn is_not(&self, field: &str, allowed: &str) -> Malformed {
        Malformed::field(field, format!("{} is not {allowed}", self.shown()))
    }
}

fn is_word(text: &str, words: &[&str]) -> bool {
    let text = text.trim_ascii();
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

#[inline]
fn since_epoch(number: Number, unit: Option<Unit>) -> Option<i64> {
    number.micros(unit.unwrap_or_else(|| number.unit_by_size()))
}

/// The number of a gRPC status by its name, as C (`DEADLINE_EXCEEDED`) or Go (`DeadlineExceeded`) have it.
fn grpc_named(name: &str) -> Option<u16> {
    let is_same = |known: &str| {
        let letters = known.bytes().filter(|byte| *byte != b'_');
        let given = name.bytes().filter(|byte| *byte != b'_');
        letters.eq(given.map(|byte| byte.to_ascii_uppercase()))
    };
    // Go spells it with one l.
    if is_same("CANCELED") {
        return Some(1);
    }
    (0..).zip(CODES).find(|(_, known)| is_same(known)).map(|(number, _)| number)
}

impl Unit {
    /// A unit is ten to this power of a microsecond.
    pub(crate) const fn power(self) -> i32 {
        match self {
            Self::S => 6,
            Self::Ms => 3,
            Self::Us => 0,
            Self::Ns => -3,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::S => "s",
            Self::Ms => "ms",
            Self::Us => "us",
            Self::Ns => "ns",
        }
    }

    /// The unit that a column's name ends with, as in `duration_ms` or `durationMs`.
    pub(crate) fn in_name(name: &str) -> Option<Self> {
        let last = name.rsplit(['_', '.', '-']).next()?;
        let hump = last.rfind(|c: char| c.is_ascii_uppercase());
        let words = [Some(last), hump.and_then(|at| last.get(at..))];
        words.into_iter().flatten().find_map(|word| {
            Some(match &*word.to_ascii_lowercase() {
                "s" | "sec" | "secs" | "seconds" => Self::S,
                "ms" | "msec" | "millis" | "milliseconds" => Self::Ms,
                "us" | "usec" | "micros" | "microseconds" => Self::Us,
                "ns" | "nsec" | "nanos" | "nanoseconds" => Self::Ns,
                _ => return None,
            })
        })
    }
}

impl Scale {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::In(unit) => unit.name(),
            Self::Written => "text",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const T: i64 = 1_767_225_600_000_000;

    fn time(text: &str) -> Option<i64> {
        Value::text(text).time("ts", None, &mut Dates::default()).ok()
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
        for text in ["", "-", "nan", "inf", "yesterday", "1e400", "2026-13-01T00:00:00Z"] {
            let refused = Value::text(text).time("ts", None, &mut Dates::default()).unwrap_err().to_string();
            assert!(refused.contains("`ts`"), "{refused}");
        }
    }

    #[test]
    fn a_duration_is_neither_negative_nor_longer_than_a_year() {
        let duration = |text| Value::text(text).duration("d", Scale::In(Unit::Ms)).ok();
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
                    let _ = value.time("ts", unit, &mut Dates::default());
                    let _ = value.duration("d", unit.map_or(Scale::Written, Scale::In));
                }
                let _ = value.status("status");
                let _ = value.boolean("ok");
                let _ = value.into_key("key");
            }
        }
    }
}
