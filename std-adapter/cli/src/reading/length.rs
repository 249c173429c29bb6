//! Durations with their unit beside them: `71ms`, `1.2s`, `71000µs`, `1m10.5s`, `PT0.3S`.

use crate::reading::number::Number;
use crate::reading::value::Unit;

/// A text that says its own unit, in microseconds; `None` where it says none, or is no duration.
pub(crate) fn micros(text: &str) -> Option<i64> {
    let end = text.bytes().position(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'+' | b'-'))?;
    let (number, unit) = text.split_at(end);
    if let (Some(unit), false) = (unit_named(unit.trim_start()), number.is_empty()) {
        return Number::in_text(number)?.micros(unit);
    }
    // ISO 8601, and several units after one another, as Go writes them.
    let starts_well = text.starts_with(|c: char| c.is_ascii_digit() || "+-Pp".contains(c));
    let is_short = text.len() <= 60;
    let parsed = (starts_well && is_short).then(|| text.parse::<jiff::SignedDuration>().ok());
    i64::try_from(parsed??.as_micros()).ok()
}

fn unit_named(unit: &str) -> Option<Unit> {
    Some(match unit {
        "s" | "sec" | "secs" | "seconds" => Unit::S,
        "ms" | "msec" | "millis" | "milliseconds" => Unit::Ms,
        "us" | "µs" | "μs" | "usec" | "micros" | "microseconds" => Unit::Us,
        "ns" | "nsec" | "nanos" | "nanoseconds" => Unit::Ns,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_one_duration_comes_to_the_same() {
        for text in
            ["71ms", "0.071s", "71000us", "71000µs", "71000μs", "71000000ns", "PT0.071S", "71 ms", "pt0.071s"]
        {
            assert_eq!(micros(text), Some(71_000), "{text}");
        }
        assert_eq!(micros("1m10.5s"), Some(70_500_000));
        assert_eq!(micros("PT1M10.5S"), Some(70_500_000));
        assert_eq!(micros("10.002s"), Some(10_002_000));
    }

    #[test]
    fn a_text_without_a_unit_is_none() {
        for text in ["", "71", "ms", "0.5", "seven ms", "71 parsecs", "-", "192.0.2.7"] {
            assert_eq!(micros(text), None, "{text}");
        }
    }
}
