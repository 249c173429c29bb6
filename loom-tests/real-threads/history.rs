//! Concurrent histories, and the search for an order in which they could have happened.
//!
//! A history is linearizable if its calls can be put into one order that keeps to real time (a call
//! that returned before another began comes before it) and that the sequential model allows. The
//! search is Wing and Gong's (Testing and Verifying Concurrent Objects, 1993) with Lowe's memory of
//! what was tried (Testing for Linearizability, 2017).

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use nanobreaker_core::{Cause, Recorded, Snapshot};

use crate::model::time::Moment;
use crate::model::{Allowed, Answer, Model, Operation};
use crate::random;

/// One call of a history, with the logical times between which it took effect.
#[derive(Clone, Debug)]
pub struct Call {
    pub thread: usize,
    pub operation: Operation,
    pub answer: Answer,
    pub now: Moment,
    invoked: u64,
    returned: u64,
}

/// Numbers the beginnings and ends of calls.
#[derive(Default)]
pub struct LogicalClock(AtomicU64);

impl LogicalClock {
    /// Makes a call and notes it.
    pub fn time(
        &self,
        thread: usize,
        operation: Operation,
        now: Moment,
        call: impl FnOnce() -> Answer,
    ) -> Call {
        // Sequentially consistent: the order of numbers is an order of real time.
        let invoked = self.0.fetch_add(1, Ordering::SeqCst);
        random::stall();
        let answer = call();
        random::stall();
        let returned = self.0.fetch_add(1, Ordering::SeqCst);
        Call { thread, operation, answer, now, invoked, returned }
    }
}

impl Call {
    /// When it began, in logical time.
    pub fn began(&self) -> u64 {
        self.invoked
    }

    /// Whether neither call returned before the other began.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.invoked < other.returned && other.invoked < self.returned
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "thread {} from {:>2} to {:>2} at {} ms: {:?} -> {:?}",
            self.thread, self.invoked, self.returned, self.now, self.operation, self.answer
        )
    }
}

/// A trip that is due: calls in the window were enough in this generation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Trip {
    generation: u64,
    cause: Cause,
}

/// How far an order has come.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Prefix {
    /// The calls that are over, a bit each.
    done: u64,
    /// The calls that have entered the window, and have yet to trip.
    half: BTreeMap<usize, Trip>,
    model: Model,
}

/// Whether the calls can have happened one after another, ending in `snapshot` at `now`.
///
/// One call may be two: an outcome that trips first enters the window and then changes the state,
/// and other calls may come between. Its own call returns after both. Who adjusts while another one
/// does may be refused.
pub fn is_linearizable(start: &Model, calls: &[Call], snapshot: &Snapshot, now: Moment) -> bool {
    assert!(calls.len() < 64, "a set of calls is one integer");
    let mut tried = HashSet::new();
    let mut open = vec![Prefix { done: 0, half: BTreeMap::new(), model: start.clone() }];
    while let Some(prefix) = open.pop() {
        if prefix.done == (1 << calls.len()) - 1 {
            if prefix.model.permits(snapshot, now) {
                return true;
            }
            continue;
        }
        for next in prefix.longer_by_one(calls) {
            if tried.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    false
}

impl Prefix {
    fn longer_by_one(&self, calls: &[Call]) -> Vec<Self> {
        let pending = || (0..calls.len()).filter(|i| self.done & (1 << i) == 0);
        let first_return = pending().map(|i| calls[i].returned).min();
        let may_be_next = pending().filter(|i| Some(calls[*i].invoked) < first_return);
        may_be_next
            .flat_map(|i| match self.half.get(&i) {
                Some(trip) => self.tripped(i, *trip, &calls[i]),
                None => self.with(i, calls),
            })
            .collect()
    }

    /// With call `i` done.
    fn done(&self, i: usize, model: Model) -> Self {
        let mut half = self.half.clone();
        half.remove(&i);
        Self { done: self.done | 1 << i, half, model }
    }

    /// With call `i` half done.
    fn half(&self, i: usize, trip: Trip, model: Model) -> Self {
        let mut half = self.half.clone();
        half.insert(i, trip);
        Self { done: self.done, half, model }
    }

    fn with(&self, i: usize, calls: &[Call]) -> Vec<Self> {
        let call = &calls[i];
        if call.answer == Answer::Busy {
            let overlaps = beside(i, calls, is_adjusting).next().is_some();
            return overlaps.then(|| self.done(i, self.model.clone())).into_iter().collect();
        }
        let courses = self.model.after(call.operation, call.now).into_iter();
        let agreeing = courses.filter(|course| permits(&course.answer, &call.answer));
        let mut all: Vec<Self> = agreeing.map(|course| self.done(i, course.model)).collect();
        if let (Operation::Record(name, outcome), Answer::Recorded(Recorded::Counted)) =
            (call.operation, call.answer)
        {
            let about = self.model.about_to_trip(name, outcome, call.now);
            all.extend(about.into_iter().map(|about| {
                let (generation, cause) = (about.generation, about.cause);
                self.half(i, Trip { generation, cause }, about.model)
            }));
        }
        all
    }

    fn tripped(&self, i: usize, trip: Trip, call: &Call) -> Vec<Self> {
        let Trip { generation, cause } = trip;
        let ways = self.model.trips_now(generation, cause, call.now);
        ways.into_iter().map(|model| self.done(i, model)).collect()
    }
}

fn is_adjusting(call: &Call) -> bool {
    matches!(call.operation, Operation::Adjust(_))
}

/// The calls of a kind that overlap call `i`.
fn beside(i: usize, calls: &[Call], kind: fn(&Call) -> bool) -> impl Iterator<Item = &Call> {
    let others = calls.iter().enumerate().filter(move |(other, _)| *other != i);
    others.map(|(_, call)| call).filter(move |call| kind(call) && call.overlaps(&calls[i]))
}

fn permits(allowed: &Allowed, answer: &Answer) -> bool {
    // An outcome whose generation ends while it is recorded may have been judged in vain.
    let in_vain = matches!(
        (allowed, answer),
        (Allowed::Recorded(Recorded::Stale), Answer::Recorded(Recorded::Counted))
    );
    in_vain || allowed.permits(answer)
}
