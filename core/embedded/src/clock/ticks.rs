//! A 32-bit tick counter, extended to a clock that does not wrap.
//!
//! [`Extension`] extends it: one word counts the half turns of the counter that were seen; its lowest bit
//! says in which half the counter should be. A reader that finds the counter in the other half steps the
//! word. No lock, no interrupt; it only must be read at least once in each half turn.
//!
//! [`Scale`] makes milliseconds of ticks with two products and no division.

use nanobreaker_core::Clock;

use crate::sync::{Ordering, Word, const_unless_loom, fence};

/// A counter that wraps at 2³² ticks: a timer's register, SysTick with its overflows, DWT's CYCCNT.
pub trait TickSource {
    /// The counter now. Ticks must be the same for all cores that share the clock.
    fn ticks(&self) -> u32;
}

impl<F: Fn() -> u32> TickSource for F {
    #[inline]
    fn ticks(&self) -> u32 {
        self()
    }
}

/// A [`Clock`] made of a wrapping 32-bit counter of `HZ` ticks a second: a hardware timer, or a 32-bit
/// instant of `fugit` or another time library, of any version.
///
/// It must be read at least once in 2³¹ ticks (30 s at 72 MHz, 18 hours at 32,768 Hz), else it loses whole
/// turns and falls behind. A breaker reads its clock only when something goes wrong, so call
/// [`poll`](Self::poll) from a timer interrupt or a main loop. Any thread or interrupt may read it.
///
/// A read costs two loads, the counter, and two products of 32 bits; there is no division. It is never behind
/// the counter, and ahead of it by less than a tick and, after a million half turns, a microsecond.
///
/// A function without captures is a `fn() -> u32`, the default, so that a `static` can name the type.
///
/// ```
/// use nanobreaker_core::{Breaker, Clock, Config, checked, window::Failures};
/// use nanobreaker_embedded::clock::TickClock;
/// # mod rtc {
/// #     pub fn now() -> fugit_05::WrappingTimerInstantU32<32_768> {
/// #         fugit_05::WrappingTimerInstantU32::from_ticks(32_768 + 16_384)
/// #     }
/// # }
///
/// static UPTIME: TickClock<32_768> = TickClock::new(|| rtc::now().as_ticks());
/// static RADIO: Breaker<Failures<3>, &TickClock<32_768>> =
///     Breaker::new(checked!(Failures::within_ms(10_000)), Config::DEFAULT, &UPTIME);
///
/// assert_eq!(RADIO.clock().now_ms(), 1_500);
/// UPTIME.poll(); // in an interrupt or the main loop, at least every 18 hours
/// ```
///
/// `HZ` is at least 1,000, which the compiler checks. Multiply the ticks of a slower counter: one of 100 Hz
/// is a `TickClock<1_000>` over `ticks.wrapping_mul(10)`.
#[derive(Debug)]
pub struct TickClock<const HZ: u32, S = fn() -> u32> {
    extension: Extension,
    source: S,
}

impl<const HZ: u32, S> TickClock<HZ, S> {
    const SCALE: Scale = Scale::new(HZ);

    const_unless_loom! {
        /// A clock over `source`, which counts `HZ` ticks a second.
        ///
        /// It shows the counter's own value, in milliseconds, until the counter first wraps.
        pub const fn new(source: S) -> Self {
            const {
                assert!(HZ >= SLOWEST_HZ, "HZ must be at least 1000: multiply the ticks of a slower counter");
            }
            Self { extension: Extension::new(), source }
        }
    }

    /// The counter that was given to [`new`](Self::new).
    pub const fn source(&self) -> &S {
        &self.source
    }
}

impl<const HZ: u32, S: TickSource> TickClock<HZ, S> {
    /// Notices that the counter moved on; call it at least once in 2³¹ ticks.
    pub fn poll(&self) {
        self.read();
    }

    /// Ticks since the counter was 0, which never wrap in practice.
    pub fn ticks(&self) -> u64 {
        self.read().ticks()
    }

    fn read(&self) -> Reading {
        self.extension.extend(|| self.source.ticks())
    }
}

impl<const HZ: u32, S: TickSource> Clock for TickClock<HZ, S> {
    fn now_ms(&self) -> u64 {
        Self::SCALE.ms(self.read())
    }
}

/// What was seen of a 32-bit counter's turns.
#[derive(Debug)]
pub(super) struct Extension(Word);

impl Extension {
    const_unless_loom! {
        pub(super) const fn new() -> Self {
            Self(Word::new(0))
        }
    }

    /// The counter that `read` reads, with its turns.
    pub(super) fn extend(&self, read: impl Fn() -> u32) -> Reading {
        loop {
            // Acquire: the counter is read after this load.
            let half_turns = self.0.first_load(Ordering::Acquire);
            let counter = read();
            // Acquire: the counter is read before what follows.
            fence(Ordering::Acquire);
            if half_turns & 1 == counter >> 31 {
                // The same half turn before and after: the counter was read within it.
                // Relaxed: ordered by the fence.
                if self.0.load(Ordering::Relaxed) == half_turns {
                    return Reading { half_turns, counter };
                }
            } else {
                // Release: whoever sees the step also sees the counter in that half turn or later. Where
                // somebody else counted it before, or it is refused without cause, the loop looks again.
                let _ = self.0.exchange(half_turns, half_turns.wrapping_add(1), Ordering::Release);
            }
        }
    }
}

/// A counter and its half turns, whose lowest bit is the counter's highest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    half_turns: u32,
    counter: u32,
}

impl Reading {
    pub(super) const fn ticks(self) -> u64 {
        ((self.half_turns >> 1) as u64) << 32 | self.counter as u64
    }
}

/// The slowest counter, whose half turn takes 2³¹ ms.
const SLOWEST_HZ: u32 = 1_000;

/// Milliseconds of ticks, as factors that a compiler works out.
///
/// Both are rounded up, by so little that the sum is less than a tick too large at the end of a half turn.
/// So it never goes back at the next one.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// Whole milliseconds of a half turn.
    half_turn_ms: u32,
    /// What is left over, in units of 2⁻³² ms.
    half_turn_rest: u64,
    /// A tick in units of 2 to the power of −32 − `shift` ms: at most 2³², more than half of that.
    tick: u64,
    shift: u32,
}

impl Scale {
    const fn new(hz: u32) -> Self {
        let hz = if hz < SLOWEST_HZ { SLOWEST_HZ } else { hz } as u128;
        let half_turn = (1_000_u128 << 63).div_ceil(hz);
        let mut shift = 0;
        while (1_000_u128 << (33 + shift)).div_ceil(hz) <= 1 << 32 {
            shift += 1;
        }
        Self {
            half_turn_ms: (half_turn >> 32) as u32,
            half_turn_rest: (half_turn & u32::MAX as u128) as u64,
            tick: (1_000_u128 << (32 + shift)).div_ceil(hz) as u64,
            shift,
        }
    }

    #[inline]
    const fn ms(self, reading: Reading) -> u64 {
        let half_turns = reading.half_turns as u64;
        let within = ((reading.counter & (u32::MAX >> 1)) as u64 * self.tick) >> self.shift;
        let rest = half_turns.wrapping_mul(self.half_turn_rest).wrapping_add(within);
        half_turns.wrapping_mul(self.half_turn_ms as u64).wrapping_add(rest >> 32)
    }
}

#[cfg(all(test, not(nanobreaker_loom)))]
mod tests {
    extern crate std;

    use core::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    fn clock<const HZ: u32>(counter: &Cell<u32>) -> TickClock<HZ, impl TickSource> {
        TickClock::new(|| counter.get())
    }

    #[test]
    fn a_counter_that_wraps_makes_a_clock_that_does_not() {
        let counter = Cell::new(0);
        let clock = clock::<1_000>(&counter);
        let mut expected = 0_u64;
        for _ in 0..1_000 {
            expected += u64::from(u32::MAX / 3);
            counter.set(expected as u32);
            assert_eq!(clock.now_ms(), expected);
            assert_eq!(clock.ticks(), expected);
        }
    }

    #[test]
    fn a_counter_may_start_in_its_second_half() {
        let counter = Cell::new(u32::MAX);
        let clock = clock::<1_000>(&counter);
        assert_eq!(clock.now_ms(), u64::from(u32::MAX));
        counter.set(0);
        assert_eq!(clock.now_ms(), 1 << 32);
    }

    #[test]
    fn a_counter_of_a_megahertz_goes_on_beyond_its_wrap() {
        let counter = Cell::new(u32::MAX);
        let clock = clock::<1_000_000>(&counter);
        assert_eq!(clock.now_ms(), 4_294_967);
        counter.set(704);
        assert_eq!(clock.now_ms(), 4_294_968);
    }

    #[test]
    fn polling_in_each_half_turn_loses_no_turn() {
        let counter = Cell::new(0);
        let clock = clock::<1_000_000>(&counter);
        for half in 1..=40_u64 {
            counter.set((half << 31) as u32);
            clock.poll();
        }
        assert_eq!(clock.now_ms(), (40 << 31) / 1_000);
    }

    #[test]
    fn instants_of_several_versions_of_one_library_work() {
        let third =
            TickClock::<32_768, _>::new(|| fugit_03::TimerInstantU32::<32_768>::from_ticks(16_384).ticks());
        let fifth = TickClock::<1_000_000, _>::new(|| {
            fugit_05::WrappingTimerInstantU32::<1_000_000>::from_ticks(500_000).as_ticks()
        });
        assert_eq!((third.now_ms(), fifth.now_ms()), (500, 500));
    }

    /// The milliseconds of so many ticks, and those of a tick and a microsecond more.
    fn exact(ticks: u128, hz: u32) -> [u64; 2] {
        let hz = u128::from(hz);
        [ticks * 1_000, (ticks + 1) * 1_000 + hz / 1_000].map(|thousands| (thousands / hz) as u64)
    }

    #[test]
    fn milliseconds_are_exact_to_a_tick_and_a_microsecond_and_never_go_back() {
        let frequencies = [
            1_000,
            1_001,
            1_024,
            1_999,
            2_000,
            8_000,
            12_345,
            32_768,
            44_100,
            999_999,
            1_000_000,
            7_372_800,
            12_500_000,
            16_000_000,
            72_000_000,
            133_333_333,
            u32::MAX,
        ];
        for hz in frequencies {
            let scale = Scale::new(hz);
            let mut last = 0;
            for half_turns in (0..50_u32).chain((10..21).flat_map(|bits| [1 << bits, (1 << bits) + 1])) {
                let steps = (0..100_u32).map(|step| step * 21_474_836);
                for within in steps.chain([1, 15_999, 16_000, (1 << 31) - 2, (1 << 31) - 1]) {
                    let counter = within | half_turns << 31;
                    let reading = Reading { half_turns, counter };
                    let ms = scale.ms(reading);
                    let [least, most] = exact(reading.ticks().into(), hz);
                    assert!((least..=most).contains(&ms), "{ms} at {reading:?} of {hz} Hz, not {least}");
                    if within == (1 << 31) - 1 {
                        last = ms;
                    } else if within == 0 {
                        assert!(ms >= last, "{ms} after {last} at {reading:?} of {hz} Hz");
                    }
                }
            }
        }
    }

    #[test]
    fn whole_milliseconds_of_usual_counters_begin_on_their_tick() {
        for (hz, per_ms) in [(1_000, 1), (32_000, 32), (1_000_000, 1_000), (16_000_000, 16_000)] {
            let scale = Scale::new(hz);
            for ms in (0..5_000_000_u64).step_by(4_999) {
                let ticks = ms * per_ms;
                let half_turns = (ticks >> 31) as u32;
                assert_eq!(scale.ms(Reading { half_turns, counter: ticks as u32 }), ms, "{hz} Hz");
            }
        }
    }

    #[test]
    fn an_abandoned_reading_of_a_tick_counter_loses_no_turn() {
        for place in 0..20 {
            let left = Cell::new(None);
            let counter = Cell::new(u32::MAX - 5);
            let clock = TickClock::<1_000, _>::new(|| {
                if left.get() == Some(0) {
                    left.set(None);
                    panic!("abandoned here");
                }
                left.set(left.get().map(|left: u32| left - 1));
                counter.get()
            });
            assert_eq!(clock.now_ms(), u64::from(u32::MAX - 5));
            left.set(Some(place));
            let mut expected = u64::from(u32::MAX - 5);
            for _ in 0..10 {
                // Each third of a turn somebody reads, and one reading is abandoned.
                expected += u64::from(u32::MAX / 3);
                counter.set(expected as u32);
                if catch_unwind(AssertUnwindSafe(|| clock.now_ms())).is_err() {
                    assert_eq!(clock.now_ms(), expected, "abandoned at {place}");
                }
            }
            left.set(None);
            assert_eq!(clock.now_ms(), expected, "abandoned at {place}");
        }
    }
}
