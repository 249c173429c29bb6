//! A clock over embedded-time's `Clock`.
//!
//! Only its raw ticks are read: its `Instant`s compare wrongly half a range apart and panic when
//! added to, and neither must reach a breaker.

use core::num::NonZeroU32;
use core::sync::atomic::Ordering;

use nanobreaker_core::{Clock, TickClock, TickSource};
use portable_atomic::AtomicU32;

use super::rational::ticks_to_ms;

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
    counter: TickClock<RawTicks<C>>,
}

impl<C> EmbeddedTimeClock<C> {
    /// A clock over `clock`.
    pub const fn new(clock: C) -> Self {
        let source = RawTicks { clock, last: AtomicU32::new(0) };
        Self { counter: TickClock::new(source, NonZeroU32::MIN) }
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
}

/// The low 32 bits of a clock's ticks.
#[derive(Debug)]
struct RawTicks<C> {
    clock: C,
    /// The last reading, for when there is none.
    last: AtomicU32,
}

impl<C> RawTicks<C>
where
    C: embedded_time::Clock,
    u64: From<C::T>,
{
    fn read(&self) -> Option<u64> {
        let now = self.clock.try_now().ok()?;
        Some(u64::from(now.duration_since_epoch().integer()))
    }
}

impl<C> TickSource for RawTicks<C>
where
    C: embedded_time::Clock,
    u64: From<C::T>,
{
    fn ticks(&self) -> u32 {
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
            self.counter.source().read().unwrap_or(0)
        } else {
            self.counter.ticks()
        };
        let tick = C::SCALING_FACTOR;
        ticks_to_ms(ticks, (*tick.numerator()).into(), (*tick.denominator()).into())
    }
}

#[cfg(test)]
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
        clock.counter.source().clock.ticks.set(Some(704));
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
        clock.counter.source().clock.ticks.set(None);
        assert_eq!(clock.now_ms(), 7);
    }
}
