//! Stripes for tests: the threads take them in turn.

use std::sync::atomic::{AtomicUsize, Ordering};

use nanobreaker_core::window::Stripes;

pub struct ByThread;

impl Stripes for &ByThread {
    fn stripe(&self) -> usize {
        thread_local!(static STRIPE: usize = {
            static NEXT: AtomicUsize = AtomicUsize::new(0);
            // Relaxed: the numbers only need to differ.
            NEXT.fetch_add(1, Ordering::Relaxed)
        });
        STRIPE.with(|stripe| *stripe)
    }
}
