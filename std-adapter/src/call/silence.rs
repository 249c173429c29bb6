//! The timer that notices an answer, begun, in which nothing more comes.
//!
//! It is tokio's. Without the feature `tokio` there is none.

use std::task::{Context, Poll};

use crate::call::limits::Limits;

/// How long nothing came while someone waited.
#[cfg(feature = "tokio")]
#[derive(Default)]
pub(crate) struct Silence {
    /// In a box, so that an answer can be moved; made when it is first needed.
    timer: Option<std::pin::Pin<Box<tokio::time::Sleep>>>,
    running: bool,
}

#[cfg(feature = "tokio")]
impl Silence {
    /// Nothing came. Ready when that went on for as long as calls may hang.
    pub(super) fn poll(&mut self, limits: Limits, context: &mut Context<'_>) -> Poll<()> {
        let Some(limit) = limits.hung_after else {
            return Poll::Pending;
        };
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
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
#[derive(Default)]
pub(crate) struct Silence {}

#[cfg(not(feature = "tokio"))]
impl Silence {
    /// Never ready.
    pub(super) const fn poll(&mut self, _: Limits, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }

    /// Something came.
    pub(super) const fn end(&mut self) {}
}
