//! A 32-bit tick counter, extended to a clock that does not wrap.
//!
//! [`Extension`] does it: one word counts the half turns of the counter that were seen; its lowest bit says in which half
//! the counter should be. A reader that finds the counter in the other half steps the word. No lock,
//! no interrupt; it only must be read at least once in each half turn.

use core::num::NonZeroU32;

use crate::Clock;
use crate::sync::{HalfTurns, Ordering, const_unless_loom, fence};

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

/// A [`Clock`] made of a wrapping 32-bit tick counter.
///
/// It must be read at least once in 2³¹ ticks (30 s at 72 MHz, 24 days at 1 kHz), else it loses whole
/// turns and falls behind; a breaker reads its clock only when something goes wrong, so call
/// [`poll`](Self::poll) from a timer interrupt or a main loop. Any thread or interrupt may read it.
///
/// A read costs one load, the counter, another load, and a 64-bit division unless a tick is a
/// millisecond.
///
/// ```
/// use core::num::NonZeroU32;
/// use nanobreaker_core::{Clock, TickClock};
///
/// # use core::sync::atomic::{AtomicU32, Ordering};
/// # static TIMER: AtomicU32 = AtomicU32::new(0);
/// const TICKS_PER_MS: NonZeroU32 = NonZeroU32::new(1_000).unwrap();
/// let clock = TickClock::new(|| TIMER.load(Ordering::Relaxed), TICKS_PER_MS);
/// TIMER.store(u32::MAX, Ordering::Relaxed);
/// assert_eq!(clock.now_ms(), 4_294_967);
/// TIMER.store(704, Ordering::Relaxed); // it wrapped
/// assert_eq!(clock.now_ms(), 4_294_968);
/// ```
#[derive(Debug)]
pub struct TickClock<S> {
    extension: Extension,
    ticks_per_ms: NonZeroU32,
    source: S,
}

impl<S> TickClock<S> {
    const_unless_loom! {
        /// A clock over `source`, which counts `ticks_per_ms` ticks a millisecond.
        ///
        /// It shows the counter's own value, in milliseconds, until the counter first wraps.
        pub const fn new(source: S, ticks_per_ms: NonZeroU32) -> Self {
            Self {
                extension: Extension::new(),
                ticks_per_ms,
                source,
            }
        }
    }
}

impl<S> TickClock<S> {
    /// The counter that was given to [`new`](Self::new).
    pub const fn source(&self) -> &S {
        &self.source
    }
}

impl<S: TickSource> TickClock<S> {
    /// Notices that the counter moved on; call it at least once in 2³¹ ticks.
    pub fn poll(&self) {
        self.ticks();
    }

    /// Ticks since the counter was 0, which never wrap in practice.
    pub fn ticks(&self) -> u64 {
        self.extension.extend(|| self.source.ticks())
    }
}

/// What was seen of a 32-bit counter's turns.
#[derive(Debug)]
pub(crate) struct Extension(HalfTurns);

impl Extension {
    const_unless_loom! {
        pub(crate) const fn new() -> Self {
            Self(HalfTurns::new())
        }
    }

    /// The counter that `read` reads, with its turns above it.
    pub(crate) fn extend(&self, read: impl Fn() -> u32) -> u64 {
        loop {
            // Acquire: the counter is read after this load.
            let seen = self.0.load(Ordering::Acquire);
            let ticks = read();
            // Acquire: the counter is read before what follows.
            fence(Ordering::Acquire);
            if seen & 1 == ticks >> 31 {
                // The same half turn before and after: the counter was read within it.
                // Relaxed: ordered by the fence.
                if self.0.load(Ordering::Relaxed) == seen {
                    return u64::from(seen >> 1) << 32 | u64::from(ticks);
                }
            } else {
                // Release: whoever sees the step also sees the counter in that half turn or later.
                self.0.step_from(seen, Ordering::Release);
            }
        }
    }
}

impl<S: TickSource> Clock for TickClock<S> {
    fn now_ms(&self) -> u64 {
        match self.ticks_per_ms.get() {
            1 => self.ticks(),
            n => self.ticks() / u64::from(n),
        }
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    fn clock(counter: &Cell<u32>) -> TickClock<impl TickSource> {
        TickClock::new(|| counter.get(), NonZeroU32::MIN)
    }

    #[test]
    fn a_counter_that_wraps_makes_a_clock_that_does_not() {
        let counter = Cell::new(0);
        let clock = clock(&counter);
        let mut expected = 0_u64;
        for _ in 0..1_000 {
            expected += u64::from(u32::MAX / 3);
            counter.set(expected as u32);
            assert_eq!(clock.now_ms(), expected);
        }
    }

    #[test]
    fn a_counter_may_start_in_its_second_half() {
        let counter = Cell::new(u32::MAX);
        let clock = clock(&counter);
        assert_eq!(clock.now_ms(), u64::from(u32::MAX));
        counter.set(0);
        assert_eq!(clock.now_ms(), 1 << 32);
    }
}
