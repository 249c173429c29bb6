//! Numbers as logs write them, exact to the last digit: a whole number and a place for its point.

use crate::reading::value::Unit;

/// A number as precise as its field had it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// `mantissa / 10^places`.
    Decimal { mantissa: i64, places: u32 },
    /// What JSON or an exponent made of it.
    Float(f64),
}

impl Number {
    pub(crate) const fn whole(number: i64) -> Self {
        Self::Decimal { mantissa: number, places: 0 }
    }

    /// Reads a text that is nothing but a number.
    pub(crate) fn in_text(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let (is_negative, digits) = match bytes {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        // No more than this many digits fit for certain.
        if digits.len() > 18 {
            return long_in(text);
        }
        let (mut mantissa, mut places, mut point, mut any) = (0_i64, 0, 0, false);
        for byte in digits {
            match byte {
                b'0'..=b'9' => {
                    mantissa = mantissa * 10 + i64::from(byte - b'0');
                    places += point;
                    any = true;
                }
                b'.' if point == 0 => point = 1,
                _ => return float_in(text),
            }
        }
        let mantissa = if is_negative { -mantissa } else { mantissa };
        any.then_some(Self::Decimal { mantissa, places })
    }

    /// In microseconds, rounded to the nearest one.
    #[inline]
    pub(crate) fn micros(self, unit: Unit) -> Option<i64> {
        match self {
            Self::Decimal { mantissa, places } => shifted(mantissa, unit.power() - places as i32),
            Self::Float(number) => {
                let us = number * 10_f64.powi(unit.power());
                // Beyond this a float has no whole microseconds any more.
                (us.abs() < 1e18).then_some(us.round() as i64)
            }
        }
    }

    /// Seconds until the year 5138, milliseconds until then, and so on: real logs leave no doubt.
    #[inline]
    pub(crate) fn unit_by_size(self) -> Unit {
        let size = match self {
            Self::Decimal { mantissa, places: 0 } => mantissa.unsigned_abs(),
            _ => self.approximately().abs() as u64,
        };
        if size < 100_000_000_000 {
            Unit::S
        } else if size < 100_000_000_000_000 {
            Unit::Ms
        } else if size < 100_000_000_000_000_000 {
            Unit::Us
        } else {
            Unit::Ns
        }
    }

    pub(crate) fn approximately(self) -> f64 {
        match self {
            Self::Decimal { mantissa, places } => mantissa as f64 / 10_f64.powi(places.min(400) as i32),
            Self::Float(number) => number,
        }
    }

    /// As a whole number, if it is one.
    pub(crate) fn integer(self) -> Option<i64> {
        match self {
            Self::Decimal { mantissa, places: 0 } => Some(mantissa),
            _ => None,
        }
    }
}

/// The powers of ten that there are in 64 bits.
const POWERS: [i64; 19] = {
    let mut powers = [1; 19];
    let mut power = 1;
    while power < powers.len() {
        powers[power] = powers[power - 1] * 10;
        power += 1;
    }
    powers
};

/// `mantissa * 10^power`, rounded half away from zero; `None` where that is out of range.
#[inline]
fn shifted(mantissa: i64, power: i32) -> Option<i64> {
    let factor = POWERS.get(power.unsigned_abs() as usize);
    if power >= 0 {
        return mantissa.checked_mul(*factor?);
    }
    let Some(divisor) = factor else {
        return Some(0);
    };
    let (whole, rest) = (mantissa / divisor, mantissa % divisor);
    let away = i64::from(rest.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2));
    Some(whole + away * mantissa.signum())
}

/// A number of many digits: whole, or rounded.
#[cold]
fn long_in(text: &str) -> Option<Number> {
    text.parse().map_or_else(|_| float_in(text), |whole| Some(Number::whole(whole)))
}

/// "inf" and "nan" are numbers to the standard library, but in no log.
fn float_in(text: &str) -> Option<Number> {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && text.ends_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.len() < 400;
    is_number.then(|| text.parse().ok().map(Number::Float)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_decimal_is_exact_in_every_unit() {
        let micros = |text, unit| Number::in_text(text).and_then(|number| number.micros(unit));
        assert_eq!(micros("0.071", Unit::S), Some(71_000));
        assert_eq!(micros("1772366406.123456", Unit::S), Some(1_772_366_406_123_456));
        assert_eq!(micros("1.5", Unit::Ms), Some(1_500));
        assert_eq!(micros("1772366406123456789", Unit::Ns), Some(1_772_366_406_123_457));
        assert_eq!(micros("-0.0000005", Unit::S), Some(-1));
        assert_eq!(micros("1e3", Unit::Ms), Some(1_000_000));
        assert_eq!(micros("99999999999999999999", Unit::S), None);
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["", "-", ".", "1.2.3", "inf", "nan", "0x10", "1_000", "12ms"] {
            assert_eq!(Number::in_text(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_decimal_is_what_the_standard_library_reads(whole in 0..1_000_000u32, part in 0..1_000_000u32) {
            let text = format!("{whole}.{part:06}");
            let us = Number::in_text(&text).unwrap().micros(Unit::S).unwrap();
            prop_assert_eq!(us as f64 / 1e6, text.parse::<f64>().unwrap());
        }
    }
}
