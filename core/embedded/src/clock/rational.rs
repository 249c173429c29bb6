//! Ticks of any rational length, in milliseconds.

/// `ticks` of `numerator / denominator` seconds each, in whole milliseconds. Wraps where the
/// product does: for every usual tick that is beyond any uptime.
pub(crate) const fn ticks_to_ms(ticks: u64, numerator: u64, denominator: u64) -> u64 {
    let denominator = if denominator == 0 { 1 } else { denominator };
    let ms_numerator = numerator.wrapping_mul(1_000);
    let (whole, rest) = (ticks / denominator, ticks % denominator);
    whole.wrapping_mul(ms_numerator).wrapping_add(rest.wrapping_mul(ms_numerator) / denominator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_ticks_are_exact() {
        assert_eq!(ticks_to_ms(1_234, 1, 1_000), 1_234);
        assert_eq!(ticks_to_ms(32_768 + 16_384, 1, 32_768), 1_500);
        assert_eq!(ticks_to_ms(72_000_000 * 3 + 71_999, 1, 72_000_000), 3_000);
        assert_eq!(ticks_to_ms(7, 1, 1), 7_000);
        assert_eq!(ticks_to_ms(u64::MAX, 1, 1_000_000), u64::MAX / 1_000);
    }

    #[test]
    fn a_nonsensical_tick_does_not_divide_by_zero() {
        assert_eq!(ticks_to_ms(5, 1, 0), 5_000);
    }
}
