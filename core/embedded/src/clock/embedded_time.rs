//! A clock over embedded-time's `Clock`.
//!
//! Only its raw ticks are read: its `Instant`s compare wrongly half a range apart and panic when
//! added to, and neither must reach a breaker.

use nanobreaker_core::Clock;

use super::ticks::Extension;
use crate::sync::{Ordering, Word, const_unless_loom};

/// An `embedded_time::Clock` as a [`Clock`].
///
/// A 32-bit clock is extended beyond its wrap, for which it must be read at least once in 2³¹ ticks:
/// call [`poll`](Self::poll). A 64-bit clock is taken as it is.
///
/// Where `try_now` fails, a 32-bit clock stands still at the last reading; a 64-bit one shows 0,
/// which a breaker takes for a clock that was set back. Neither keeps it open for longer than one
/// open time once the clock goes again.
#[derive(Debug)]
pub struct EmbeddedTimeClock<C> {
    extension: Extension,
    clock: C,
    /// The last reading, for when there is none.
    last: Word,
}

impl<C> EmbeddedTimeClock<C> {
    const_unless_loom! {
        /// A clock over `clock`.
        pub const fn new(clock: C) -> Self {
            Self { extension: Extension::new(), clock, last: Word::new(0) }
        }
    }
}

impl<C> EmbeddedTimeClock<C>
where
    C: embedded_time::Clock,
    u64: From<C::T>,
{
    /// Notices that the counter moved on; call it at least once in 2³¹ ticks.
    pub fn poll(&self) {
        self.now_ms();
    }

    fn read(&self) -> Option<u64> {
        let now = self.clock.try_now().ok()?;
        Some(u64::from(now.duration_since_epoch().integer()))
    }

    /// The low 32 bits of the clock's ticks.
    fn low_ticks(&self) -> u32 {
        match self.read() {
            Some(ticks) => {
                // Relaxed: any recent reading will do.
                self.last.store(ticks as u32, Ordering::Relaxed);
                ticks as u32
            }
            None => self.last.load(Ordering::Relaxed),
        }
    }
}

impl<C> Clock for EmbeddedTimeClock<C>
where
    C: embedded_time::Clock,
    u64: From<C::T>,
{
    fn now_ms(&self) -> u64 {
        let ticks = if core::mem::size_of::<C::T>() > 4 {
            self.read().unwrap_or(0)
        } else {
            self.extension.extend(|| self.low_ticks()).ticks()
        };
        let tick = C::SCALING_FACTOR;
        ticks_to_ms(ticks, (*tick.numerator()).into(), (*tick.denominator()).into())
    }
}

/// `ticks` of `numerator / denominator` seconds each, in whole milliseconds. Wraps where the
/// product does: for every usual tick that is beyond any uptime.
const fn ticks_to_ms(ticks: u64, numerator: u64, denominator: u64) -> u64 {
    let denominator = if denominator == 0 { 1 } else { denominator };
    let ms_numerator = numerator.wrapping_mul(1_000);
    let (whole, rest) = (ticks / denominator, ticks % denominator);
    whole.wrapping_mul(ms_numerator).wrapping_add(rest.wrapping_mul(ms_numerator) / denominator)
}

#[cfg(all(test, not(nanobreaker_loom)))]
mod tests {
    use core::cell::Cell;

    use embedded_time::Instant;
    use embedded_time::fraction::Fraction;

    use super::*;

    struct Timer<T> {
        ticks: Cell<Option<T>>,
    }

    macro_rules! timer {
        ($int:ty) => {
            impl embedded_time::Clock for Timer<$int> {
                type T = $int;
                const SCALING_FACTOR: Fraction = Fraction::new(1, 1_000_000);

                fn try_now(&self) -> Result<Instant<Self>, embedded_time::clock::Error> {
                    self.ticks.get().map(Instant::new).ok_or(embedded_time::clock::Error::NotRunning)
                }
            }
        };
    }
    timer!(u32);
    timer!(u64);

    fn timer<T>(ticks: T) -> EmbeddedTimeClock<Timer<T>> {
        EmbeddedTimeClock::new(Timer { ticks: Cell::new(Some(ticks)) })
    }

    #[test]
    fn a_32_bit_clock_goes_on_beyond_its_wrap() {
        let clock = timer(u32::MAX);
        assert_eq!(clock.now_ms(), 4_294_967);
        clock.clock.ticks.set(Some(704));
        assert_eq!(clock.now_ms(), 4_294_968);
    }

    #[test]
    fn a_64_bit_clock_is_taken_as_it_is() {
        let clock = timer(5_000_000_000_u64);
        assert_eq!(clock.now_ms(), 5_000_000);
    }

    #[test]
    fn a_clock_that_fails_stands_still() {
        let clock = timer(7_000_u32);
        assert_eq!(clock.now_ms(), 7);
        clock.clock.ticks.set(None);
        assert_eq!(clock.now_ms(), 7);
    }

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
