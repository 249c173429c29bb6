//! When a call takes too long, and the timer that notices one that does not return.
//!
//! The timer is tokio's. Without the feature `tokio` there is none, but a type for it, so that whoever
//! polls a call need not know.

use std::task::{Context, Poll};
use std::time::Duration;

/// The time limits of calls: one word, so that one comparison tells that there are none.
///
/// | bits | content |
/// | ---- | ------- |
/// | 0..32 | after how many milliseconds a call is slow, and 1; 0 is never |
/// | 32..64 | after how many it has failed, and 1; 0 is never |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits(u64);

const HUNG: u32 = 32;

/// A limit as the word has it. What is longer than 49 days is as good as that.
fn number(ms: u128) -> u64 {
    u32::try_from(ms).unwrap_or(u32::MAX).saturating_add(1).into()
}

impl Limits {
    pub(crate) const NONE: Self = Self(0);

    /// From what a breaker keeps: slow after and hung after, in milliseconds; 0 is never.
    #[inline]
    pub(crate) fn new([slow_after_ms, hung_after_ms]: [u32; 2]) -> Self {
        // At most 2²⁶ ms each.
        let number = |ms: u32| u64::from(ms.wrapping_add(u32::from(ms > 0)));
        Self(number(slow_after_ms) | number(hung_after_ms) << HUNG)
    }

    pub(super) fn slow_after(self, limit: Duration) -> Self {
        Self(self.0 >> HUNG << HUNG | number(limit.as_millis()))
    }

    #[cfg(feature = "tokio")]
    pub(super) fn hung_after(self, limit: Duration) -> Self {
        let ms = limit.as_nanos().div_ceil(1_000_000);
        Self(u64::from(self.0 as u32) | number(ms) << HUNG)
    }

    #[inline]
    pub(super) const fn are_none(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(super) const fn measure(self) -> bool {
        self.0 as u32 != 0
    }

    /// Whether a call that started then has taken too long. A clock that was set back since has
    /// measured nothing.
    pub(super) fn are_exceeded(self, started_ms: u32, now_ms: impl FnOnce() -> u64) -> bool {
        let Some(slow_after_ms) = (self.0 as u32).checked_sub(1) else {
            return false;
        };
        let took_ms = (now_ms() as u32).wrapping_sub(started_ms);
        took_ms > slow_after_ms && took_ms <= u32::MAX / 2
    }

    #[cfg(feature = "tokio")]
    pub(super) fn hangs_after(self) -> Option<Duration> {
        let ms = (self.0 >> HUNG).checked_sub(1)?;
        Some(Duration::from_millis(ms))
    }
}

/// Runs until a call counts as hung: in a box, since most calls need none, made when the call is first
/// found pending.
#[cfg(feature = "tokio")]
#[derive(Default)]
pub(crate) struct Hung(std::mem::ManuallyDrop<Option<std::pin::Pin<Box<tokio::time::Sleep>>>>);

/// By hand: the compiler may drop even what is not there by a call.
#[cfg(feature = "tokio")]
impl Drop for Hung {
    #[inline]
    fn drop(&mut self) {
        if self.0.is_some() {
            self.end();
        }
    }
}
/// Nothing.
#[cfg(not(feature = "tokio"))]
#[derive(Default)]
pub(crate) struct Hung {}

impl Hung {
    #[cfg(feature = "tokio")]
    #[cold]
    fn end(&mut self) {
        drop(self.0.take());
    }

    /// Ready when the limit is over.
    #[cfg(feature = "tokio")]
    #[cold]
    pub(super) fn poll(&mut self, limits: Limits, context: &mut Context<'_>) -> Poll<()> {
        let Some(limit) = limits.hangs_after() else {
            return Poll::Pending;
        };
        let timer = self.0.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        timer.as_mut().poll(context)
    }

    /// Never ready.
    #[cfg(not(feature = "tokio"))]
    pub(super) fn poll(&mut self, _: Limits, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}
