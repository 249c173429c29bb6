//! When epochs began, so that an entry's epoch tells its age; and what goes next.

use std::collections::VecDeque;
use std::sync::Arc;

use super::entry::Worth;
use super::near::Found;

/// Times are kept this many times in an idle time.
const MARKS: u64 = 8;

/// For how long room is not looked for again where there was none.
const RETRY_MS: u64 = 100;

pub(super) struct Upkeep<K> {
    /// Epochs and when they began, the oldest first.
    marks: VecDeque<(u32, u64)>,
    swept_ms: u64,
    /// When room was looked for in vain.
    no_room_ms: Option<u64>,
    /// How many were made in this epoch.
    pub(super) made: usize,
    /// Those that go where the registry is full, and what they were worth; the next one last.
    pub(super) next_to_go: Vec<(Worth, Arc<Found<K>>)>,
}

impl<K> Upkeep<K> {
    pub(super) fn starting_at(now_ms: u64) -> Self {
        Self {
            marks: VecDeque::from([(0, now_ms)]),
            swept_ms: now_ms,
            no_room_ms: None,
            made: 0,
            next_to_go: Vec::new(),
        }
    }

    /// Whether a look for room may find some: else each new key of a full registry would walk over
    /// all of it.
    pub(super) fn may_find_room(&self, now_ms: u64) -> bool {
        // A clock that jumped back waits no longer either.
        self.no_room_ms.is_none_or(|since| now_ms.wrapping_sub(since) >= RETRY_MS)
    }

    pub(super) fn looked_for_room(&mut self, now_ms: u64, found: bool) {
        self.no_room_ms = (!found).then_some(now_ms);
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
        if self.marks.back().is_none_or(|(_, last_ms)| spaced(*last_ms)) {
            self.marks.push_back((epoch.wrapping_add(1), now_ms));
        }
        idle_before
    }
}
