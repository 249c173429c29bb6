//! All logs together, in the order in which calls began.
//!
//! Each log is sorted within a window of lines: that many calls are held, and the earliest are given out.
//! So memory does not grow with the log, and a single line with a time far in the future does no harm. A
//! call that began earlier than one already given out comes too late: it is counted and left out. Several
//! logs (rotated ones, or those of several servers) are merged.
//!
//! Calls come nearly in order, so the new ones are sorted and merged into the end of those held: a stable
//! sort of both does that in one pass, and nobody pays for a heap.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use indicatif::ProgressBar;

use crate::reading::call::Call;
use crate::reading::error::ReadError;
use crate::reading::log::{Log, Parsed};
use crate::reading::notes::Notes;
use crate::reading::record::TimeIs;
use crate::reading::sorting::sort_by_time;
use crate::reading::source::Place;
use crate::reading::spread::Spread;
use crate::reading::understanding::Reading;

/// Calls that are taken in at once, where the window is larger than that.
const AT_ONCE: usize = 1 << 16;

/// One log, sorted within its window.
struct Sorted {
    log: Log,
    number: usize,
    window: usize,
    /// Blocks of calls that are parsed, but not yet sorted in.
    waiting: VecDeque<Vec<Call>>,
    /// Sorted. Those before `next` are gone, those before `ready` may be given out.
    held: Vec<Call>,
    next: usize,
    ready: usize,
    before: Option<Spread>,
    after: Option<Spread>,
    is_at_end: bool,
    /// Sorted and spread over their seconds.
    spread: std::vec::IntoIter<Call>,
}

impl Sorted {
    fn new(log: Log, number: usize, window: usize) -> Self {
        let spread = |side| (log.spreads && log.time_is == side).then(|| Spread::new(side));
        Self {
            number,
            window,
            waiting: VecDeque::new(),
            held: Vec::new(),
            next: 0,
            ready: 0,
            // Ends are in the order of the lines, begins are once they are sorted.
            before: spread(TimeIs::End),
            after: spread(TimeIs::Start),
            is_at_end: false,
            spread: Vec::new().into_iter(),
            log,
        }
    }

    #[inline]
    fn next(&mut self, notes: &mut Notes) -> Result<Option<Call>, ReadError> {
        if self.after.is_none() {
            return self.next_sorted(notes);
        }
        loop {
            if let Some(call) = self.spread.next() {
                return Ok(Some(call));
            }
            // As many as are ready, to be spread together.
            let Some(first) = self.next_sorted(notes)? else {
                let rest = self.after.as_mut().map(Spread::finish).unwrap_or_default();
                self.spread = rest.into_iter();
                return Ok(self.spread.next());
            };
            let mut calls = vec![first];
            calls.extend_from_slice(self.held.get(self.next..self.ready).unwrap_or_default());
            self.next = self.ready;
            if let Some(after) = &mut self.after {
                self.spread = after.pass(calls).into_iter();
            }
        }
    }

    #[inline]
    fn next_sorted(&mut self, notes: &mut Notes) -> Result<Option<Call>, ReadError> {
        while self.next == self.ready {
            if !self.sort_more(notes)? {
                return Ok(None);
            }
        }
        let call = self.held.get(self.next).copied();
        self.next += 1;
        Ok(call)
    }

    /// Sorts the next calls in; `false` at the end.
    fn sort_more(&mut self, notes: &mut Notes) -> Result<bool, ReadError> {
        while self.waiting.is_empty() && !self.is_at_end {
            self.read(notes)?;
        }
        match self.waiting.pop_front() {
            Some(mut new) => {
                // Small windows are to be exact, too.
                let at_once = AT_ONCE.min(self.window.div_ceil(8));
                if new.len() > at_once {
                    self.waiting.push_front(new.split_off(at_once));
                }
                self.sort_in(new);
            }
            None if self.next == self.held.len() => return Ok(false),
            None => {}
        }
        let is_over = self.is_at_end && self.waiting.is_empty();
        let kept = if is_over { 0 } else { self.window - 1 };
        self.ready = self.held.len().saturating_sub(kept).max(self.next);
        Ok(true)
    }

    fn read(&mut self, notes: &mut Notes) -> Result<(), ReadError> {
        let Some(blocks) = self.log.next_blocks()? else {
            self.is_at_end = true;
            let rest = self.before.as_mut().map(Spread::finish).unwrap_or_default();
            self.wait(rest);
            notes.finish(self.number, &self.log);
            return Ok(());
        };
        for block in blocks {
            let calls = self.take_in(block, notes)?;
            let calls = match &mut self.before {
                Some(spread) => spread.pass(calls),
                None => calls,
            };
            self.wait(calls);
        }
        Ok(())
    }

    fn wait(&mut self, calls: Vec<Call>) {
        if !calls.is_empty() {
            self.waiting.push_back(calls);
        }
    }

    /// A block's calls, with the keys of all logs.
    fn take_in(&self, block: Parsed, notes: &mut Notes) -> Result<Vec<Call>, ReadError> {
        notes.take_in(self.number, &block)?;
        let numbers: Vec<_> = block.keys.iter().map(|name| notes.keys.number(name)).collect();
        let mut calls = block.calls;
        if let Some(numbers) = numbers.iter().copied().collect::<Option<Vec<_>>>() {
            for call in &mut calls {
                call.key = numbers.get(call.key as usize).copied().unwrap_or(call.key);
            }
            return Ok(calls);
        }
        let all = calls.len();
        calls.retain_mut(|call| match numbers.get(call.key as usize) {
            Some(Some(number)) => {
                call.key = *number;
                true
            }
            _ => false,
        });
        notes.skipped.beyond_keys += (all - calls.len()) as u64;
        Ok(calls)
    }

    fn sort_in(&mut self, mut new: Vec<Call>) {
        sort_by_time(&mut new, |call| call.start_us);
        if self.next > self.window {
            // Given out, and as many as are held: to drop them now costs one move of each.
            self.held.drain(..self.next);
            self.next = 0;
        }
        let Some(first) = new.first() else {
            return;
        };
        let held = self.held.get(self.next..).unwrap_or_default();
        let later = held.partition_point(|call| call.start_us <= first.start_us) + self.next;
        let are_in_order = later == self.held.len();
        self.held.append(&mut new);
        // Two sorted runs: the sort finds them and merges.
        if let Some(unsorted) = self.held.get_mut(later..).filter(|_| !are_in_order) {
            unsorted.sort_by_key(|call| call.start_us);
        }
    }
}

/// A log's next call, ordered by its start, then by the log.
struct Head {
    call: Call,
    rank: (i64, usize),
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for Head {}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank.cmp(&other.rank)
    }
}

/// When calls that count began: from the first time on, and before the second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Between {
    pub(crate) from_us: Option<i64>,
    pub(crate) to_us: Option<i64>,
}

impl Between {
    /// Whether no call can be between.
    pub(crate) fn is_empty(self) -> bool {
        matches!((self.from_us, self.to_us), (Some(from_us), Some(to_us)) if from_us >= to_us)
    }

    fn has(self, call: &Call) -> bool {
        self.from_us.is_none_or(|from_us| call.start_us >= from_us)
            && self.to_us.is_none_or(|to_us| call.start_us < to_us)
    }
}

/// The calls of all logs in order.
pub(crate) struct Ordered {
    logs: Vec<Sorted>,
    /// The next call of each of several logs.
    heads: BinaryHeap<Reverse<Head>>,
    between: Between,
    notes: Notes,
    last_us: i64,
}

impl Ordered {
    /// Opens the logs; `window` lines are shared among them.
    pub(crate) fn open(
        places: &[Place],
        window: usize,
        reading: &Reading,
        between: Between,
        mut notes: Notes,
        progress: &ProgressBar,
    ) -> Result<Self, ReadError> {
        let window = (window / places.len().max(1)).max(1);
        let mut logs = Vec::with_capacity(places.len());
        for (number, place) in places.iter().enumerate() {
            let log = Log::open(place, reading, progress)?;
            notes.begin(&log);
            logs.push(Sorted::new(log, number, window));
        }
        let mut ordered = Self { logs, heads: BinaryHeap::new(), between, notes, last_us: i64::MIN };
        if ordered.logs.len() > 1 {
            for index in 0..ordered.logs.len() {
                ordered.refill(index)?;
            }
        }
        Ok(ordered)
    }

    fn refill(&mut self, index: usize) -> Result<(), ReadError> {
        if let Some(log) = self.logs.get_mut(index)
            && let Some(call) = log.next(&mut self.notes)?
        {
            let rank = (call.start_us, index);
            self.heads.push(Reverse(Head { call, rank }));
        }
        Ok(())
    }

    #[inline]
    fn next_of_all(&mut self) -> Result<Option<Call>, ReadError> {
        if let [log] = self.logs.as_mut_slice() {
            return log.next(&mut self.notes);
        }
        let Some(Reverse(head)) = self.heads.pop() else {
            return Ok(None);
        };
        self.refill(head.rank.1)?;
        Ok(Some(head.call))
    }

    /// The next call: none begins earlier than the one before.
    #[inline]
    pub(crate) fn next_call(&mut self) -> Result<Option<Call>, ReadError> {
        while let Some(call) = self.next_of_all()? {
            if call.start_us < self.last_us {
                self.notes.skipped.out_of_order += 1;
                continue;
            }
            self.last_us = call.start_us;
            if self.between.has(&call) {
                self.notes.durations.add(call.duration_us());
                return Ok(Some(call));
            }
            self.notes.skipped.outside += 1;
        }
        Ok(None)
    }

    /// What was collected so far.
    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }
}
