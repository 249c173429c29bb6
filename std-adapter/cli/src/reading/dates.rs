//! Times as logs write them: ISO 8601 and the common log format.
//!
//! A log has many lines of one day. So the day that was met last is kept, and only the time of day is
//! read anew.

/// Reads times, and remembers the last day.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dates {
    /// Filled up with zeros.
    date: [u8; 11],
    day_us: i64,
    /// Whether a time named no zone, so that UTC was taken.
    pub(crate) saw_no_zone: bool,
}

impl Dates {
    /// Microseconds since the epoch; `None` where it is no time in either form.
    pub(crate) fn micros(&mut self, text: &str) -> Option<i64> {
        self.usual(text).or_else(|| {
            // Years beyond 9999 or before 0.
            let time: jiff::Timestamp = text.parse().ok()?;
            Some(time.as_microsecond())
        })
    }

    /// The same of the years from 0 to 9999.
    #[inline]
    pub(crate) fn usual(&mut self, text: &str) -> Option<i64> {
        let bytes = text.as_bytes();
        if bytes.get(4) == Some(&b'-') {
            self.iso(bytes)
        } else if bytes.get(2) == Some(&b'/') {
            self.common(bytes)
        } else {
            None
        }
    }

    /// `2026-03-01T12:00:06.658Z`; a space for the T, a comma for the point, and zones such as `+01:00`.
    fn iso(&mut self, text: &[u8]) -> Option<i64> {
        let (date, rest) = text.split_first_chunk::<10>()?;
        let day_us = self.day(date, iso_date)?;
        let rest = match rest {
            [b'T' | b't' | b' ', rest @ ..] => rest,
            _ => return None,
        };
        self.of_day(day_us, rest)
    }

    /// `01/Mar/2026:12:00:06 +0000`, with a fraction after the seconds where there is one.
    fn common(&mut self, text: &[u8]) -> Option<i64> {
        let (date, rest) = text.split_first_chunk::<11>()?;
        let day_us = self.day(date, common_date)?;
        let (b':', rest) = rest.split_first().map(|(first, rest)| (*first, rest))? else {
            return None;
        };
        self.of_day(day_us, rest)
    }

    fn day<const N: usize>(
        &mut self,
        date: &[u8; N],
        read: impl Fn(&[u8; N]) -> Option<(i16, i8, i8)>,
    ) -> Option<i64> {
        let mut filled = [0; 11];
        filled.get_mut(..N)?.copy_from_slice(date);
        if self.date != filled {
            let (year, month, day) = read(date)?;
            let midnight = jiff::civil::Date::new(year, month, day).ok()?.at(0, 0, 0, 0);
            let midnight = jiff::tz::TimeZone::UTC.to_timestamp(midnight).ok()?;
            self.day_us = midnight.as_microsecond();
            self.date = filled;
        }
        Some(self.day_us)
    }

    /// `12:00:06.658Z` on this day.
    fn of_day(&mut self, day_us: i64, text: &[u8]) -> Option<i64> {
        let (time, rest) = text.split_first_chunk::<8>()?;
        let [h1, h0, b':', m1, m0, b':', s1, s0] = *time else {
            return None;
        };
        let (hour, minute, second) = (two(h1, h0)?, two(m1, m0)?, two(s1, s0)?);
        // A leap second counts as the last one of its minute, as jiff has it.
        if hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let seconds = hour * 3_600 + minute * 60 + second.min(59);
        let (fraction_us, rest) = fraction(rest)?;
        let zone_us = self.zone(rest)? * 1_000_000;
        Some(day_us + seconds * 1_000_000 + fraction_us - zone_us)
    }

    /// Seconds east of UTC.
    fn zone(&mut self, text: &[u8]) -> Option<i64> {
        let text = text.strip_prefix(b" ").unwrap_or(text);
        let (sign, digits) = match text {
            [] => {
                self.saw_no_zone = true;
                return Some(0);
            }
            b"Z" | b"z" | b"UTC" | b"GMT" => return Some(0),
            [b'+', digits @ ..] => (1, digits),
            [b'-', digits @ ..] => (-1, digits),
            _ => return None,
        };
        let (hours, minutes) = match *digits {
            [h1, h0] => (two(h1, h0)?, 0),
            [h1, h0, m1, m0] | [h1, h0, b':', m1, m0] => (two(h1, h0)?, two(m1, m0)?),
            _ => return None,
        };
        (hours < 26 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
    }
}

fn two(tens: u8, ones: u8) -> Option<i64> {
    (tens.is_ascii_digit() && ones.is_ascii_digit())
        .then(|| i64::from(tens - b'0') * 10 + i64::from(ones - b'0'))
}

/// `.658` in microseconds, and what follows it.
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let [b'.' | b',', digits @ ..] = text else {
        return Some((0, text));
    };
    let length = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    if length == 0 {
        return None;
    }
    let mut us = 0;
    for place in 0..6 {
        let digit = digits.get(place).filter(|_| place < length);
        us = us * 10 + digit.map_or(0, |digit| i64::from(digit - b'0'));
    }
    Some((us, digits.get(length..)?))
}

fn iso_date(date: &[u8; 10]) -> Option<(i16, i8, i8)> {
    let [y3, y2, y1, y0, b'-', m1, m0, b'-', d1, d0] = *date else {
        return None;
    };
    let year = two(y3, y2)? * 100 + two(y1, y0)?;
    Some((year as i16, two(m1, m0)? as i8, two(d1, d0)? as i8))
}

const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

fn common_date(date: &[u8; 11]) -> Option<(i16, i8, i8)> {
    let [d1, d0, b'/', a, b, c, b'/', y3, y2, y1, y0] = *date else {
        return None;
    };
    let month = MONTHS.iter().position(|name| **name == [a, b, c])? + 1;
    let year = two(y3, y2)? * 100 + two(y1, y0)?;
    Some((year as i16, month as i8, two(d1, d0)? as i8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const T: i64 = 1_772_366_406_658_000;

    #[test]
    fn a_time_may_be_written_in_many_ways() {
        let mut dates = Dates::default();
        for text in [
            "2026-03-01T12:00:06.658Z",
            "2026-03-01 12:00:06,658",
            "2026-03-01T13:00:06.658+01:00",
            "2026-03-01T12:00:06.658000999Z",
            "01/Mar/2026:12:00:06.658",
            "01/Mar/2026:10:30:06.658 -0130",
        ] {
            assert_eq!(dates.micros(text), Some(T), "{text}");
        }
        assert!(dates.saw_no_zone);
    }

    #[test]
    fn what_is_no_time_is_none() {
        let mut dates = Dates::default();
        for text in [
            "",
            "-",
            "2026-13-01T00:00:00Z",
            "2026-02-30T00:00:00Z",
            "2026-03-01T24:00:00Z",
            "2026-03-01T12:00:06.Z",
            "2026-03-01",
            "01/Mrz/2026:12:00:06 +0000",
            "31/Feb/2026:12:00:06 +0000",
            "2026-03-01T12:00:06+99:00",
        ] {
            assert_eq!(dates.micros(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_time_is_what_jiff_reads(ms in -60_000_000_000_000i64..200_000_000_000_000, same_day: bool) {
            let time = jiff::Timestamp::from_millisecond(ms).unwrap();
            let mut dates = Dates::default();
            if same_day {
                dates.micros(&time.to_string());
            }
            prop_assert_eq!(dates.micros(&time.to_string()), Some(ms * 1_000));
            let common = time.strftime("%d/%b/%Y:%H:%M:%S +0000").to_string();
            prop_assert_eq!(dates.micros(&common), Some(ms.div_euclid(1_000) * 1_000_000));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}", near in "[0-9TZ:./+ -]{0,32}") {
            let mut dates = Dates::default();
            dates.micros(&text);
            dates.micros(&near);
        }
    }
}
