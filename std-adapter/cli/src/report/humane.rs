//! Numbers, durations and times as people read them.

use std::time::Duration;

/// With separators between thousands.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many of what the noun names.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

/// To three or so digits, in the two largest units.
pub(crate) fn duration(us: u64) -> String {
    let rounded = match us {
        0 => return "0s".to_owned(),
        1..1_000 => return format!("{us}us"),
        1_000..10_000_000 => us.next_multiple_of(1_000),
        10_000_000..3_600_000_000 => us / 1_000_000 * 1_000_000,
        3_600_000_000..86_400_000_000 => us / 60_000_000 * 60_000_000,
        // Not in months and years, which are no fixed times.
        _ => {
            let hours = us / 3_600_000_000;
            return format!("{}d {}h", count(hours / 24), hours % 24);
        }
    };
    humantime::format_duration(Duration::from_micros(rounded)).to_string()
}

/// As in RFC 3339, to the millisecond.
pub(crate) fn time(us: i64) -> String {
    match jiff::Timestamp::from_millisecond(us.div_euclid(1_000)) {
        Ok(time) => format!("{time:.3}"),
        Err(_) => format!("{us} us since the epoch"),
    }
}

/// A part of a whole, in per cent.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0 %".to_owned();
    }
    let percent = part as f64 * 100.0 / whole as f64;
    let digits = if percent == 0.0 || percent >= 99.95 {
        0
    } else if percent < 0.1 {
        3
    } else {
        1
    };
    format!("{percent:.digits$} %")
}

/// In seconds, for JSON.
pub(crate) fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let shown = [0, 999, 1_000, 1_234_567].map(count);
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!(counted(1, "call"), "1 call");
        assert_eq!(counted(2_000, "call"), "2,000 calls");
    }

    #[test]
    fn durations_have_no_more_digits_than_anyone_reads() {
        let shown = [0, 12, 2_300_000, 61_234_567, 3_723_000_000].map(duration);
        assert_eq!(shown, ["0s", "12us", "2s 300ms", "1m 1s", "1h 2m"]);
        assert_eq!(duration(90_061_000_000), "1d 1h");
        assert_eq!(duration(100_000_000_000_000), "1,157d 9h");
    }

    #[test]
    fn times_are_rfc_3339() {
        assert_eq!(time(1_767_225_600_250_000), "2026-01-01T00:00:00.250Z");
        assert!(time(i64::MAX).contains("since the epoch"));
    }
}
