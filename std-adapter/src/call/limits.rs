//! When a call takes too long, and the timer that notices one that does not return.
//!
//! The timer is tokio's. Without the feature `tokio` there is none, but a type for it, so that whoever
//! polls a call need not know.

use std::pin::Pin;
use std::task::{Context, Poll};
#[cfg(feature = "tokio")]
use std::time::Duration;

/// The time limits of calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(super) slow_after_ms: Option<u64>,
    #[cfg(feature = "tokio")]
    pub(super) hung_after: Option<Duration>,
}

impl Limits {
    pub(super) const NONE: Self = Self {
        slow_after_ms: None,
        #[cfg(feature = "tokio")]
        hung_after: None,
    };
}

/// Runs until a call counts as hung.
#[cfg(feature = "tokio")]
pub(crate) type Hung = Option<tokio::time::Sleep>;
/// Nothing, and to be pinned like the timer: features add, they don't take `Unpin` away.
#[cfg(not(feature = "tokio"))]
pub(crate) type Hung = std::marker::PhantomPinned;

#[cfg(feature = "tokio")]
impl Limits {
    /// A timer that starts now, if there is a limit.
    pub(crate) fn hung(&self) -> Hung {
        self.hung_after.map(tokio::time::sleep)
    }
}

#[cfg(not(feature = "tokio"))]
impl Limits {
    /// No timer.
    pub(crate) const fn hung(&self) -> Hung {
        std::marker::PhantomPinned
    }
}

/// Ready once, when the limit is over.
#[cfg(feature = "tokio")]
pub(super) fn poll_hung(mut hung: Pin<&mut Hung>, context: &mut Context<'_>) -> Poll<()> {
    let Some(limit) = hung.as_mut().as_pin_mut() else {
        return Poll::Pending;
    };
    std::task::ready!(limit.poll(context));
    hung.set(None);
    Poll::Ready(())
}

/// Never ready.
#[cfg(not(feature = "tokio"))]
pub(super) fn poll_hung(_: Pin<&mut Hung>, _: &mut Context<'_>) -> Poll<()> {
    Poll::Pending
}
