//! A clock made of a function that tells milliseconds.

use core::fmt;

use nanobreaker_core::Clock;

/// A [`Clock`] made of a function that returns milliseconds.
///
/// Any time type of any version works so: the function converts it. A function without captures is
/// a `fn() -> u64`, the default, so that a `static` can name the type.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, checked, window::Failures};
/// use nanobreaker_embedded::clock::ClockFn;
/// # mod embassy_time {
/// #     pub struct Instant;
/// #     impl Instant {
/// #         pub fn now() -> Self { Self }
/// #         pub fn as_millis(&self) -> u64 { 7 }
/// #     }
/// # }
///
/// static RADIO: Breaker<Failures<3>, ClockFn> = Breaker::new(
///     checked!(Failures::within_ms(10_000)),
///     Config::DEFAULT,
///     ClockFn::new(|| embassy_time::Instant::now().as_millis()),
/// );
/// # RADIO.allow()?.success();
/// # Ok::<(), nanobreaker_core::Rejected>(())
/// ```
///
/// The milliseconds must not wrap at 2³² ticks of some counter: a 32-bit instant goes through
/// [`TickClock`](super::TickClock).
#[derive(Clone, Copy)]
pub struct ClockFn<F = fn() -> u64>(F);

impl<F> ClockFn<F> {
    /// A clock that calls `now`, which returns milliseconds since an arbitrary start.
    pub const fn new(now: F) -> Self {
        Self(now)
    }
}

impl<F: Fn() -> u64> Clock for ClockFn<F> {
    #[inline]
    fn now_ms(&self) -> u64 {
        (self.0)()
    }
}

impl<F> fmt::Debug for ClockFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClockFn").finish_non_exhaustive()
    }
}
