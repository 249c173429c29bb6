//! The least that can drive a future: poll it until it is ready.
//!
//! The protected call is ready at once, so for most peers this is one poll with a waker that does nothing,
//! which is less than any executor costs. A peer that waits for a lock held by another thread is polled
//! again, as a spinning lock would: it is spared the wake-up.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Polls the future until it is ready.
// Always inline: a future is polled where it was made, as an executor does, and not moved before.
#[inline(always)]
pub fn ready<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        std::hint::spin_loop();
    }
}
