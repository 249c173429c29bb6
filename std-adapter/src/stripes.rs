//! A stripe for each thread.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use nanobreaker_core::window::Stripes;

/// Gives each living thread a number that no other has, the smallest that is free: as many threads as
/// there are stripes share none.
///
/// ```
/// use nanobreaker::{Breaker, CoarseClock, Config, Rate, ThreadStripes, checked, window::StripedTime};
///
/// // 16 stripes, 10 buckets: half of at least 100 calls within 10 s trip.
/// static SEARCH: Breaker<StripedTime<ThreadStripes, 16, 10>, CoarseClock> = Breaker::new(
///     checked!(StripedTime::new(10_000, 10, Rate::percent(50).min_calls(100), ThreadStripes)),
///     Config::DEFAULT,
///     CoarseClock,
/// );
/// # assert!(SEARCH.allow().is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadStripes;

/// Numbers that were given out before and that no living thread has, the smallest last.
static FREE: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// A thread's number: no other living thread has it.
struct Number(usize);

impl Number {
    #[cold]
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        // Relaxed: the numbers only need to differ.
        Self(free.unwrap_or_else(|| NEXT.fetch_add(1, Ordering::Relaxed)))
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let place = free.partition_point(|number| *number > self.0);
        free.insert(place, self.0);
    }
}

/// The present thread's number, which it alone has; none while it ends.
#[inline]
pub(crate) fn own_number() -> Option<usize> {
    thread_local! {
        static NUMBER: Number = Number::new();
    }
    NUMBER.try_with(|number| number.0).ok()
}

impl Stripes for ThreadStripes {
    #[inline]
    fn stripe(&self) -> usize {
        // A thread that is ending has no number any more; any stripe is right.
        own_number().unwrap_or(0)
    }
}
