//! Binary logarithms in fixed point, for constants.

/// Bits behind the point.
const FRACTION: u32 = 48;

/// log₂ of `value` in units of 2⁻⁴⁸; rounded down, by at most two units. That of 0 counts as 1's, so that
/// no input panics.
///
/// Bit by bit: squaring a number doubles its logarithm, so whether the square reaches 2 is the next
/// bit (Knuth, The Art of Computer Programming 1, 1.2.2, exercise 25).
pub(super) const fn log2(value: u64) -> u64 {
    let value = value | (value == 0) as u64;
    let whole = value.ilog2();
    // From 1 to 2, in units of 2⁻⁶³.
    let mut rest = value << (u64::BITS - 1 - whole);
    let mut log = whole as u64;
    let mut bit = 0;
    while bit < FRACTION {
        let square = rest as u128 * rest as u128;
        let reaches_two = square >> 127 != 0;
        rest = if reaches_two { square >> 64 } else { square >> 63 } as u64;
        log = log << 1 | reaches_two as u64;
        bit += 1;
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_exact() {
        for power in 0..64 {
            assert_eq!(log2(1 << power), power << FRACTION);
        }
    }

    #[test]
    fn zero_does_not_panic() {
        assert_eq!(log2(0), 0);
    }

    #[test]
    fn all_rates_and_many_calls_agree_with_the_floating_point_logarithm() {
        let unit = f64::from(FRACTION).exp2();
        let calls =
            (0..50).flat_map(|power| [1 << power, (1 << power) + 1, 3 << power, 1_000_003 << power >> 10]);
        for value in (1..=1_000_000_u64).chain(calls.filter(|value| *value > 0)) {
            let expected = (value as f64).log2() * unit;
            // A logarithm below 64 has 47 bits behind the point in an f64.
            assert!((log2(value) as f64 - expected).abs() <= 16.0, "{value}");
        }
    }
}
