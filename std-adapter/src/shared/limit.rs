//! Durations as a shared breaker takes them: in whole milliseconds.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Whole milliseconds, rounded up, so that nothing but zero becomes zero.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// A limit for calls, in milliseconds, that can be replaced while they go on.
pub(super) struct Limit(AtomicU32);

impl Limit {
    const NONE: u32 = u32::MAX;

    pub(super) fn new(limit: Option<Duration>) -> Self {
        Self(AtomicU32::new(Self::number(limit)))
    }

    fn number(limit: Option<Duration>) -> u32 {
        let longest = Self::NONE - 1;
        limit.map_or(Self::NONE, |limit| {
            u32::try_from(millis(limit)).unwrap_or(longest).min(longest)
        })
    }

    #[inline]
    pub(super) fn get(&self) -> Option<Duration> {
        // Relaxed: each call goes by the limit that it finds.
        match self.0.load(Ordering::Relaxed) {
            Self::NONE => None,
            ms => Some(Duration::from_millis(ms.into())),
        }
    }

    pub(super) fn set(&self, limit: Option<Duration>) {
        // Relaxed: as above.
        self.0.store(Self::number(limit), Ordering::Relaxed);
    }
}
