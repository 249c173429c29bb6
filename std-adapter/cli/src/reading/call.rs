//! One call as a log tells it.

use nanobreaker::Outcome;

/// A call that once took place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// When it began, in microseconds since the epoch.
    pub(crate) start_us: i64,
    /// When it ended.
    pub(crate) end_us: i64,
    /// Which breaker it belongs to: an index into [`Keys`](crate::reading::Keys).
    pub(crate) key: u32,
    /// How it ended. A log does not know slow calls: the configuration decides.
    pub(crate) outcome: Outcome,
}

impl Call {
    pub(crate) const fn duration_us(&self) -> u64 {
        self.end_us.abs_diff(self.start_us)
    }

    pub(crate) fn failed(&self) -> bool {
        self.outcome == Outcome::Failure
    }
}
