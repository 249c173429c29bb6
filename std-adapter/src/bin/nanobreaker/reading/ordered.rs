//! All logs together, in the order in which calls began.
//!
//! Each log is sorted within a window of lines: a heap holds that many calls and gives out the
//! earliest. So memory does not grow with the log, and a single line with a time far in the future
//! does no harm. A call that began earlier than one already given out comes too late: it is counted
//! and left out. Several logs (rotated ones, or those of several servers) are merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use indicatif::ProgressBar;

use crate::reading::call::Call;
use crate::reading::error::ReadError;
use crate::reading::log::{Log, Notes, Reading};

/// A call with what orders it: its start, then its place in the log.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    call: Call,
    rank: (i64, u64),
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank.cmp(&other.rank)
    }
}

/// One log, sorted within its window.
struct Sorted {
    log: Log,
    window: usize,
    heap: BinaryHeap<Reverse<Ranked>>,
    read: u64,
    is_at_end: bool,
}

impl Sorted {
    fn next(&mut self, reading: &Reading, notes: &mut Notes) -> Result<Option<Call>, ReadError> {
        while !self.is_at_end && self.heap.len() < self.window {
            match self.log.next_call(reading, notes)? {
                Some(call) => {
                    self.read += 1;
                    let rank = (call.start_us, self.read);
                    self.heap.push(Reverse(Ranked { call, rank }));
                }
                None => self.is_at_end = true,
            }
        }
        Ok(self.heap.pop().map(|Reverse(ranked)| ranked.call))
    }
}

/// The calls of all logs in order.
pub(crate) struct Ordered {
    logs: Vec<Sorted>,
    /// The next call of each log; its rank ends with the log's index.
    heads: BinaryHeap<Reverse<Ranked>>,
    reading: Reading,
    notes: Notes,
    last_us: i64,
}

impl Ordered {
    /// Opens the logs; `window` lines are shared among them.
    pub(crate) fn open(
        paths: &[String],
        window: usize,
        reading: Reading,
        notes: Notes,
        progress: &ProgressBar,
    ) -> Result<Self, ReadError> {
        let window = (window / paths.len().max(1)).max(1);
        let mut ordered = Self {
            logs: Vec::with_capacity(paths.len()),
            heads: BinaryHeap::new(),
            reading,
            notes,
            last_us: i64::MIN,
        };
        for path in paths {
            ordered.logs.push(Sorted {
                log: Log::open(path, progress)?,
                window,
                heap: BinaryHeap::new(),
                read: 0,
                is_at_end: false,
            });
        }
        for index in 0..ordered.logs.len() {
            ordered.refill(index)?;
        }
        Ok(ordered)
    }

    fn refill(&mut self, index: usize) -> Result<(), ReadError> {
        if let Some(log) = self.logs.get_mut(index)
            && let Some(call) = log.next(&self.reading, &mut self.notes)?
        {
            let rank = (call.start_us, index as u64);
            self.heads.push(Reverse(Ranked { call, rank }));
        }
        Ok(())
    }

    /// The next call: none begins earlier than the one before.
    pub(crate) fn next_call(&mut self) -> Result<Option<Call>, ReadError> {
        while let Some(Reverse(head)) = self.heads.pop() {
            self.refill(head.rank.1 as usize)?;
            if head.call.start_us >= self.last_us {
                self.last_us = head.call.start_us;
                return Ok(Some(head.call));
            }
            self.notes.skipped.out_of_order += 1;
        }
        Ok(None)
    }

    /// What was collected so far.
    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }
}
