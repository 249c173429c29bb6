//! A stripe for each thread.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};
use std::thread;

use nanobreaker_core::window::{Lane, Lanes, Stripes};
use nanobreaker_core::{Settings, WindowSettings};

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

/// How many stripes give each thread that can run at once its own, on up to 64 cores.
pub(crate) fn enough() -> usize {
    // Asked once: it takes many times as long as all else that a breaker is made of.
    static CORES: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));
    CORES.next_power_of_two().min(64)
}

/// A lane for each thread that can run at once, made when a time window first needs them.
///
/// A lane takes half a kilobyte. Breakers with other windows have none.
#[derive(Debug, Default)]
pub struct ThreadLanes(OnceLock<Box<[Lane]>>);

impl ThreadLanes {
    pub(crate) fn for_settings(settings: &Settings) -> Self {
        let lanes = Self::default();
        lanes.provide_for(settings);
        lanes
    }

    /// Makes the lanes, where `settings` ask for a window that counts in them.
    pub(crate) fn provide_for(&self, settings: &Settings) {
        let is_of_time = |window: &WindowSettings| matches!(window, WindowSettings::Time { .. });
        if [Some(settings.window), settings.slow_window].iter().flatten().any(is_of_time) {
            self.0.get_or_init(|| (0..enough()).map(|_| Lane::new()).collect());
        }
    }
}

impl Lanes for ThreadLanes {
    #[inline]
    fn own(&self) -> Option<&Lane> {
        let lanes = self.0.get()?;
        lanes.get(ThreadStripes.stripe() % lanes.len().max(1))
    }

    #[inline]
    fn all(&self) -> &[Lane] {
        self.0.get().map_or(&[], |lanes| lanes)
    }
}
