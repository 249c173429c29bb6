//! What holds for a while: told as a duration, kept by the clock of whoever heard it.

use super::message::Finding;

/// Something that holds until then.
#[derive(Clone, Debug)]
pub(super) struct Lasting<T> {
    pub(super) what: T,
    pub(super) until_ms: u64,
}

impl<T> Lasting<T> {
    pub(super) fn new(left_ms: u32, what: T, now_ms: u64) -> Self {
        Self { what, until_ms: now_ms + u64::from(left_ms) }
    }

    pub(super) fn left_ms(&self, now_ms: u64) -> u32 {
        u32::try_from(self.until_ms.saturating_sub(now_ms)).unwrap_or(u32::MAX)
    }
}

impl Lasting<Finding> {
    /// Whether others still wait for the holder's probe.
    pub(super) fn is_in_force(&self, now_ms: u64) -> bool {
        now_ms < self.until_ms + u64::from(self.what.awaits_ms())
    }
}
