//! Division by a number that stays, without dividing.
//!
//! A time window divides at each call, and a division is the dearest instruction there is: 10 to 20
//! cycles on a server for 64 bits, a routine of some hundred instructions on a Cortex-M0.

use crate::sync::{Raw, WIDE};

/// A divisor beside its reciprocal.
///
/// The high half of a product with the reciprocal, rounded down, is the quotient or one less
/// (Granlund and Montgomery, *Division by Invariant Integers using Multiplication*, 1994, prove more
/// than this simple case needs); what is left over tells which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Divisor {
    by: u32,
    reciprocal: Raw,
}

impl Divisor {
    /// Divides by `by`, at most 2³¹, so that twice a remainder fits; by 1 where that is 0.
    #[inline]
    pub(super) const fn new(by: u32) -> Self {
        let by = if by == 0 { 1 } else { by };
        Self {
            by,
            reciprocal: Raw::MAX / by as Raw,
        }
    }

    /// What it divides by.
    #[inline]
    pub(super) const fn by(self) -> u32 {
        self.by
    }

    /// `value` divided, rounded down.
    #[inline]
    pub(super) const fn quotient(self, value: Raw) -> Raw {
        let by = self.by as Raw;
        let quotient = high_half(value, self.reciprocal);
        let rest = value.wrapping_sub(quotient.wrapping_mul(by));
        quotient + (rest >= by) as Raw
    }
}

/// The high half of a product.
#[inline]
const fn high_half(a: Raw, b: Raw) -> Raw {
    if WIDE {
        ((a as u128 * b as u128) >> Raw::BITS) as Raw
    } else {
        ((a as u64 * b as u64) >> (Raw::BITS % u64::BITS)) as Raw
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_divides_as_division_does() {
        let divisors = (1..=100).chain([1_000, 6_710_886, 1 << 26, 1 << 31]);
        for by in divisors {
            let edges = (0..=3).flat_map(|k: Raw| {
                let by = Raw::from(by);
                let last = Raw::MAX / by * by;
                [
                    k.wrapping_mul(by),
                    k.wrapping_mul(by).wrapping_sub(1),
                    last,
                    last - 1,
                    last - by,
                    Raw::MAX - k,
                ]
            });
            let spread = (0..1_000).map(|k: Raw| k.wrapping_mul((Raw::MAX / 997).wrapping_add(k)));
            for value in edges.chain(spread) {
                let expected = value / Raw::from(by);
                assert_eq!(Divisor::new(by).quotient(value), expected, "{value} / {by}");
            }
        }
    }

    #[test]
    fn it_never_divides_by_zero() {
        assert_eq!(Divisor::new(0), Divisor::new(1));
    }
}
