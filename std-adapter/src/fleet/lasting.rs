//! What holds for a while: told as a duration, kept by the clock of whoever heard it.

use std::time::Duration;

use tokio::time::Instant;

/// So much later than now.
pub(super) fn after(ms: impl Into<u64>) -> Instant {
    Instant::now() + Duration::from_millis(ms.into())
}

/// About so much later than now: 20 % more or less, so that instances do not move in step.
pub(super) fn about(ms: u64) -> Instant {
    after(fastrand::u64(ms * 4 / 5..=ms * 6 / 5))
}

pub(super) fn is_over(until: &Instant) -> bool {
    *until <= Instant::now()
}

/// Something that holds until then.
#[derive(Clone, Debug)]
pub(super) struct Lasting<T> {
    pub(super) what: T,
    pub(super) until: Instant,
}

impl<T> Lasting<T> {
    pub(super) fn new(left_ms: u32, what: T) -> Self {
        Self { what, until: after(left_ms) }
    }

    /// For how much longer; 0 once it is over.
    pub(super) fn left_ms(&self) -> u32 {
        u32::try_from(self.until.duration_since(Instant::now()).as_millis()).unwrap_or(u32::MAX)
    }
}
