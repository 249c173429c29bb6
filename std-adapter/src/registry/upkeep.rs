//! When epochs began, so that an entry's epoch tells its age.

use std::collections::VecDeque;

/// Times are kept this many times in an idle time.
const MARKS: u64 = 8;

pub(super) struct Upkeep {
    /// Epochs and when they began, the oldest first.
    marks: VecDeque<(u32, u64)>,
    swept_ms: u64,
}

impl Upkeep {
    pub(super) fn starting_at(now_ms: u64) -> Self {
        Self {
            marks: VecDeque::from([(0, now_ms)]),
            swept_ms: now_ms,
        }
    }

    /// Whether so long has passed since the last sweep that something may be idle.
    pub(super) fn is_due(&self, now_ms: u64, idle_after_ms: u64) -> bool {
        now_ms.saturating_sub(self.swept_ms) >= idle_after_ms / 2
    }

    /// A sweep in `epoch`, which ends with it. Returns the epoch before which whoever was last asked
    /// for is idle.
    pub(super) fn sweep(&mut self, epoch: u32, now_ms: u64, idle_after_ms: u64) -> Option<u32> {
        self.swept_ms = now_ms;
        let is_old = |began_ms: u64| now_ms.saturating_sub(began_ms) >= idle_after_ms;
        let mut idle_before = None;
        while let Some((mark, began_ms)) = self.marks.front().copied()
            && is_old(began_ms)
        {
            idle_before = Some(mark);
            self.marks.pop_front();
        }
        let spaced = |last_ms: u64| now_ms.saturating_sub(last_ms) >= idle_after_ms / MARKS;
        if self
            .marks
            .back()
            .is_none_or(|(_, last_ms)| spaced(*last_ms))
        {
            self.marks.push_back((epoch.wrapping_add(1), now_ms));
        }
        idle_before
    }
}
