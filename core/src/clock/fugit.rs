//! A clock over fugit's instants.

use crate::clock::Clock;
use crate::clock::rational::ticks_to_ms;
use crate::clock::ticks::Extension;
use crate::sync::const_unless_loom;

/// A function that returns `fugit::Instant`s, such as a timer's `now`, as a [`Clock`].
///
/// Instants of 32 bits are extended beyond their wrap, for which they must be read at least once in
/// 2³¹ ticks: call [`poll`](Self::poll). Those of 64 bits are taken as they are.
///
/// ```
/// use fugit::WrappingInstant;
/// use nanobreaker_core::{Clock, FugitClock};
///
/// let clock = FugitClock::new(|| WrappingInstant::<u32, 1, 1_000_000>::from_ticks(2_500));
/// assert_eq!(clock.now_ms(), 2);
/// ```
#[derive(Debug)]
pub struct FugitClock<F> {
    now: F,
    extension: Extension,
}

impl<F> FugitClock<F> {
    const_unless_loom! {
        /// A clock that calls `now`.
        pub const fn new(now: F) -> Self {
            Self {
                now,
                extension: Extension::new(),
            }
        }
    }

    /// Notices that the counter moved on; call it at least once in 2³¹ ticks.
    pub fn poll(&self)
    where
        Self: Clock,
    {
        self.now_ms();
    }
}

/// The instants that fugit has.
trait Instant {
    fn ms(now: impl Fn() -> Self, extension: &Extension) -> u64;
}

impl<const NOM: u64, const DENOM: u64, K: fugit::kind::Kind> Instant
    for fugit::Instant<u32, NOM, DENOM, K>
{
    fn ms(now: impl Fn() -> Self, extension: &Extension) -> u64 {
        ticks_to_ms(extension.extend(|| now().as_ticks()), NOM, DENOM)
    }
}

impl<const NOM: u64, const DENOM: u64, K: fugit::kind::Kind> Instant
    for fugit::Instant<u64, NOM, DENOM, K>
{
    fn ms(now: impl Fn() -> Self, _: &Extension) -> u64 {
        ticks_to_ms(now().as_ticks(), NOM, DENOM)
    }
}

#[allow(private_bounds, reason = "sealed: fugit has no other instants")]
impl<F, I> Clock for FugitClock<F>
where
    F: Fn() -> I,
    I: Instant,
{
    fn now_ms(&self) -> u64 {
        I::ms(&self.now, &self.extension)
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use fugit::{MonotonicInstant, WrappingInstant};

    use super::*;

    #[test]
    fn a_32_bit_instant_goes_on_beyond_its_wrap() {
        let ticks = Cell::new(u32::MAX);
        let clock =
            FugitClock::new(|| WrappingInstant::<u32, 1, 1_000_000>::from_ticks(ticks.get()));
        assert_eq!(clock.now_ms(), 4_294_967);
        ticks.set(704);
        assert_eq!(clock.now_ms(), 4_294_968);
    }

    #[test]
    fn a_64_bit_instant_is_taken_as_it_is() {
        let clock =
            FugitClock::new(|| MonotonicInstant::<u64, 1, 32_768>::from_ticks(32_768 * 90_000));
        assert_eq!(clock.now_ms(), 90_000_000);
    }
}
