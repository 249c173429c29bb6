//! Division by a number that stays.
//!
//! A time window divides at each call, and on a server 64 bits take 10 to 20 cycles: there the divisor
//! comes with its reciprocal. Small chips divide 32 bits faster than they multiply to 64.

use core::num::NonZero;

use crate::sync::{Raw, WIDE};

/// A divisor; where words are wide, beside its reciprocal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Divisor {
    by: NonZero<Raw>,
    reciprocal: [Raw; WIDE as usize],
}

impl Divisor {
    /// Divides by `by`; by 1 where that is 0.
    #[inline]
    pub(super) const fn new(by: u32) -> Self {
        let by = match NonZero::new(by as Raw) {
            Some(by) => by,
            None => NonZero::<Raw>::MIN,
        };
        Self { by, reciprocal: [Raw::MAX / by.get(); WIDE as usize] }
    }

    /// What it divides by.
    #[inline]
    pub(super) const fn by(self) -> u32 {
        self.by.get() as u32
    }

    /// `value` divided, rounded down.
    #[inline]
    pub(super) fn quotient(self, value: Raw) -> Raw {
        let [reciprocal] = self.reciprocal[..] else { return value / self.by };
        // The high half of the product with the reciprocal, rounded down, is the quotient or one
        // less (Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994,
        // prove more than this simple case needs); what is left over tells which.
        let quotient = ((u128::from(value) * u128::from(reciprocal)) >> Raw::BITS) as Raw;
        let rest = value.wrapping_sub(quotient.wrapping_mul(self.by.get()));
        quotient + Raw::from(rest >= self.by.get())
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
