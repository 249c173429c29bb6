//! Where a breaker gets the time from.

mod manual;

pub use manual::ManualClock;

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

impl<C: Clock + ?Sized> Clock for &C {
    #[inline]
    fn now_ms(&self) -> u64 {
        (**self).now_ms()
    }
}

/// A clock that several breakers share.
#[cfg(feature = "alloc")]
impl<C: Clock + ?Sized> Clock for alloc::sync::Arc<C> {
    #[inline]
    fn now_ms(&self) -> u64 {
        (**self).now_ms()
    }
}
