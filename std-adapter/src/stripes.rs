//! A stripe for each thread.

use std::sync::atomic::{AtomicUsize, Ordering};

use nanobreaker_core::window::Stripes;

/// Numbers threads in the order in which they first ask, so that as many threads as there are
/// stripes share none.
///
/// ```
/// use nanobreaker::{Breaker, CoarseClock, Config, ThreadStripes, checked, window::StripedTime};
///
/// // 16 stripes, 10 buckets: half of at least 100 calls within 10 s trip.
/// static SEARCH: Breaker<StripedTime<ThreadStripes, 16, 10>, CoarseClock> = Breaker::new(
///     checked!(StripedTime::new(10_000, 10, 50, 100, ThreadStripes)),
///     Config::DEFAULT,
///     CoarseClock,
/// );
/// # assert!(SEARCH.allow().is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadStripes;

impl Stripes for ThreadStripes {
    #[inline]
    fn stripe(&self) -> usize {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            // Relaxed: the numbers only need to differ.
            static STRIPE: usize = THREADS.fetch_add(1, Ordering::Relaxed);
        }
        // A thread that is ending has no number any more; any stripe is right.
        STRIPE.try_with(|stripe| *stripe).unwrap_or(0)
    }
}
