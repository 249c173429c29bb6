//! Where a breaker gets the time from.

use core::ops::Deref;

use crate::sync::{Ordering, Unmodelled32};

/// Milliseconds since an arbitrary start.
///
/// A breaker reads its clock on a failure, a rejection, a probe and a transition; a time window and
/// slow-call detection also read it on each call. Never on the healthy path of the failure ring, the
/// consecutive window and the calls window.
///
/// The clock should be monotonic and the same for all threads. Where it isn't, nothing breaks: a
/// clock that jumps, stands still or wraps can lengthen an open time to at most one more from the
/// next reading on, and makes a window forget or keep failures for at most twice its span.
///
/// Where words are 32 bits wide only the low 32 bits are used.
///
/// ```
/// use nanobreaker_core::Clock;
///
/// struct Uptime;
/// impl Clock for Uptime {
///     fn now_ms(&self) -> u64 {
///         # let milliseconds_from_a_timer = || 0;
///         milliseconds_from_a_timer()
///     }
/// }
/// # assert_eq!(Uptime.now_ms(), 0);
/// ```
pub trait Clock {
    /// The time now, in milliseconds.
    fn now_ms(&self) -> u64;
}

/// A clock that several breakers share: by reference, by `Arc`, by any pointer.
impl<P: Deref<Target: Clock>> Clock for P {
    #[inline]
    fn now_ms(&self) -> u64 {
        (**self).now_ms()
    }
}

/// A clock for tests, which goes only when told to. It may also be set back.
///
/// ```
/// use nanobreaker_core::{Clock, ManualClock};
///
/// let clock = ManualClock::new(0);
/// clock.advance(250);
/// assert_eq!(clock.now_ms(), 250);
/// clock.set(10);
/// assert_eq!(clock.now_ms(), 10);
/// ```
#[derive(Debug, Default)]
pub struct ManualClock {
    // Two words of 32 bits, since not every target has an atomic of 64. A reader that comes between
    // the two stores of a setter sees a jump, which is what this clock is for.
    low: Unmodelled32,
    high: Unmodelled32,
}

impl ManualClock {
    /// A clock that shows `ms`.
    pub const fn new(ms: u64) -> Self {
        Self { low: Unmodelled32::new(ms as u32), high: Unmodelled32::new((ms >> 32) as u32) }
    }

    /// Sets the clock to `ms`, forward or back.
    pub fn set(&self, ms: u64) {
        // Relaxed: a test's clock orders nothing.
        self.high.store((ms >> 32) as u32, Ordering::Relaxed);
        self.low.store(ms as u32, Ordering::Relaxed);
    }

    /// Moves the clock forward by `ms`, wrapping.
    pub fn advance(&self, ms: u64) {
        self.set(self.now_ms().wrapping_add(ms));
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> u64 {
        // Relaxed: a test's clock orders nothing.
        let high = u64::from(self.high.load(Ordering::Relaxed));
        (high << 32) | u64::from(self.low.load(Ordering::Relaxed))
    }
}
