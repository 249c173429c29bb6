//! The timer that notices an answer, begun, in which nothing more comes.
//!
//! It is tokio's. Without the feature `tokio` there is none.

use std::task::{Context, Poll};
use std::time::Duration;

/// How long nothing came while someone waited.
#[cfg(feature = "tokio")]
pub(crate) struct Silence {
    limit: Option<Duration>,
    /// In a box, so that an answer can be moved; made when it is first needed.
    timer: Option<std::pin::Pin<Box<tokio::time::Sleep>>>,
    running: bool,
}

#[cfg(feature = "tokio")]
impl Silence {
    /// Watches for silence of this length; for none without one.
    pub(crate) const fn new(limit: Option<Duration>) -> Self {
        Self { limit, timer: None, running: false }
    }

    /// Nothing came. Ready when that went on for as long as it may.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(limit) = self.limit else {
            return Poll::Pending;
        };
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        if !self.running {
            // No sum that overflows: so far away, the timer is as good as none.
            if let Some(end) = tokio::time::Instant::now().checked_add(limit) {
                timer.as_mut().reset(end);
            }
            self.running = true;
        }
        timer.as_mut().poll(context)
    }

    /// Something came.
    pub(super) const fn end(&mut self) {
        self.running = false;
    }
}

/// How long nothing came while someone waited.
#[cfg(not(feature = "tokio"))]
pub(crate) struct Silence {}

#[cfg(not(feature = "tokio"))]
impl Silence {
    /// Watches for nothing.
    pub(crate) const fn new(_: Option<Duration>) -> Self {
        Self {}
    }

    /// Never ready.
    pub(super) const fn poll(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }

    /// Something came.
    pub(super) const fn end(&mut self) {}
}
