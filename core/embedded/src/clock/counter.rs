//! A clock made of a function that reads a wrapping 32-bit counter.

use core::num::NonZeroU32;

use nanobreaker_core::{Clock, TickClock};

use super::rational::ticks_to_ms;

/// A [`Clock`] made of a function that reads a 32-bit counter of any frequency: a hardware timer,
/// or a 32-bit instant of `fugit` or another time library, of any version.
///
/// It must be read at least once in 2³¹ ticks, else it loses whole turns and falls behind (18 hours
/// at 32,768 Hz, 35 minutes at 1 MHz). A breaker reads its clock only when something goes wrong, so
/// call [`poll`](Self::poll) from a timer interrupt or a main loop. Any thread or interrupt may.
///
/// Where the frequency is a whole number of kHz, the core's [`TickClock`] does the same with one
/// division less.
///
/// ```
/// use core::num::NonZeroU32;
/// use nanobreaker_core::{Breaker, Clock, Config, checked, window::Failures};
/// use nanobreaker_embedded::clock::CounterFn;
/// # mod rtc {
/// #     pub fn now() -> fugit_05::WrappingTimerInstantU32<32_768> {
/// #         fugit_05::WrappingTimerInstantU32::from_ticks(32_768 + 16_384)
/// #     }
/// # }
///
/// const HZ: NonZeroU32 = NonZeroU32::new(32_768).unwrap();
///
/// static UPTIME: CounterFn = CounterFn::new(|| rtc::now().as_ticks(), HZ);
/// static RADIO: Breaker<Failures<3>, &CounterFn> =
///     Breaker::new(checked!(Failures::within_ms(10_000)), Config::DEFAULT, &UPTIME);
///
/// assert_eq!(RADIO.clock().now_ms(), 1_500);
/// UPTIME.poll(); // in an interrupt or the main loop, at least every 18 hours
/// ```
#[derive(Debug)]
pub struct CounterFn<F = fn() -> u32> {
    counter: TickClock<F>,
    hertz: NonZeroU32,
}

impl<F> CounterFn<F> {
    /// A clock over the counter that `read` reads, which counts at `hertz`.
    ///
    /// It shows the counter's own value, in milliseconds, until the counter first wraps.
    pub const fn new(read: F, hertz: NonZeroU32) -> Self {
        Self { counter: TickClock::new(read, NonZeroU32::MIN), hertz }
    }
}

impl<F: Fn() -> u32> CounterFn<F> {
    /// Notices that the counter moved on; call it at least once in 2³¹ ticks.
    pub fn poll(&self) {
        self.counter.poll();
    }
}

impl<F: Fn() -> u32> Clock for CounterFn<F> {
    fn now_ms(&self) -> u64 {
        ticks_to_ms(self.counter.ticks(), 1, self.hertz.get().into())
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    const MHZ: NonZeroU32 = NonZeroU32::new(1_000_000).unwrap();

    #[test]
    fn a_counter_goes_on_beyond_its_wrap() {
        let ticks = Cell::new(u32::MAX);
        let clock = CounterFn::new(|| ticks.get(), MHZ);
        assert_eq!(clock.now_ms(), 4_294_967);
        ticks.set(704);
        assert_eq!(clock.now_ms(), 4_294_968);
    }

    #[test]
    fn polling_in_each_half_turn_loses_no_turn() {
        let ticks = Cell::new(0);
        let clock = CounterFn::new(|| ticks.get(), MHZ);
        for half in 1..=40_u64 {
            ticks.set((half << 31) as u32);
            clock.poll();
        }
        assert_eq!(clock.now_ms(), (40 << 31) / 1_000);
    }

    #[test]
    fn instants_of_several_versions_of_one_library_work() {
        let third = CounterFn::new(
            || fugit_03::TimerInstantU32::<32_768>::from_ticks(16_384).ticks(),
            NonZeroU32::new(32_768).unwrap(),
        );
        let fifth = CounterFn::new(
            || fugit_05::WrappingTimerInstantU32::<1_000_000>::from_ticks(500_000).as_ticks(),
            MHZ,
        );
        assert_eq!((third.now_ms(), fifth.now_ms()), (500, 500));
    }
}
