//! Concurrent histories, and the search for an order in which they could have happened.
//!
//! A history is linearizable if its calls can be put into one order that keeps to real time (a call
//! that returned before another began comes before it) and that the sequential model allows. The
//! search is Wing and Gong's (Testing and Verifying Concurrent Objects, 1993) with Lowe's memory of
//! what was tried (Testing for Linearizability, 2017).

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use nanobreaker_core::{Phase, Recorded, Snapshot};

use crate::model::settings::Settings;
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
        Call {
            thread,
            operation,
            answer,
            now,
            invoked,
            returned,
        }
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

/// What is left of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Half {
    /// Calls in the window were enough to trip in this generation; it does so now.
    Trip(u64),
    /// The configuration was replaced; the rule is now.
    Rule,
}

/// How far an order has come.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Prefix {
    /// The calls that are over, a bit each.
    done: u64,
    /// The calls of several steps that have yet to take the last one.
    half: BTreeMap<usize, Half>,
    model: Model,
}

/// Whether the calls can have happened one after another, ending in `snapshot` at `now`.
///
/// One call may be two: an outcome that trips first enters the window and then changes the state,
/// and other calls may come between. Its own call returns after both.
///
/// Adjusting is three: the configuration, the rule, and a trip where the rule says so. Three things are
/// allowed beside it, to calls that overlap it, and nowhere else:
///
/// * who adjusts while another one does may be refused;
/// * an outcome may be judged by the old rule alone: the adjusting has judged without it;
/// * a call may be rejected for want of a place where it saw the state of before and the number of
///   probes of after.
pub fn is_linearizable(start: &Model, calls: &[Call], snapshot: &Snapshot, now: Moment) -> bool {
    assert!(calls.len() < 64, "a set of calls is one integer");
    let mut tried = HashSet::new();
    let mut open = vec![Prefix {
        done: 0,
        half: BTreeMap::new(),
        model: start.clone(),
    }];
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
            .flat_map(|i| match (self.half.get(&i), calls[i].operation) {
                (Some(Half::Trip(generation)), _) => self.tripped(i, *generation, &calls[i]),
                (Some(Half::Rule), Operation::Adjust(settings)) => self.ruled(i, &settings, calls),
                (_, Operation::Adjust(settings)) => self.configured(i, &settings, calls),
                _ => self.with(i, calls),
            })
            .collect()
    }

    /// With call `i` done.
    fn done(&self, i: usize, model: Model) -> Self {
        let mut half = self.half.clone();
        half.remove(&i);
        Self {
            done: self.done | 1 << i,
            half,
            model,
        }
    }

    /// With call `i` half done.
    fn half(&self, i: usize, left: Half, model: Model) -> Self {
        let mut half = self.half.clone();
        half.insert(i, left);
        Self {
            done: self.done,
            half,
            model,
        }
    }

    fn configured(&self, i: usize, settings: &Settings, calls: &[Call]) -> Vec<Self> {
        if calls[i].answer == Answer::Changed(false) {
            let overlaps = beside(i, calls, is_adjusting).next().is_some();
            return overlaps
                .then(|| self.done(i, self.model.clone()))
                .into_iter()
                .collect();
        }
        let ways = self.model.configured(settings, calls[i].now).into_iter();
        ways.map(|model| self.half(i, Half::Rule, model)).collect()
    }

    fn ruled(&self, i: usize, settings: &Settings, calls: &[Call]) -> Vec<Self> {
        let (model, holds, trips) = self.model.ruled(settings, calls[i].now);
        let records = |call: &Call| matches!(call.operation, Operation::Record(..));
        let missed_one = beside(i, calls, records).next().is_some();
        let trips = trips.map(|generation| self.half(i, Half::Trip(generation), model.clone()));
        let holds = (holds || missed_one).then(|| self.done(i, model.clone()));
        trips.into_iter().chain(holds).collect()
    }

    fn with(&self, i: usize, calls: &[Call]) -> Vec<Self> {
        let call = &calls[i];
        let courses = self.model.after(call.operation, call.now).into_iter();
        let agreeing = courses.filter(|course| permits(&course.answer, &call.answer));
        let mut all: Vec<Self> = agreeing.map(|course| self.done(i, course.model)).collect();
        if let (Operation::Record(name, outcome), Answer::Recorded(Recorded::Counted)) =
            (call.operation, call.answer)
        {
            let half = self.model.about_to_trip(name, outcome, call.now);
            all.extend(half.map(|half| self.half(i, Half::Trip(half.generation), half.model)));
        }
        if all.is_empty() && self.is_full_by_another_number(i, calls) {
            all.push(self.done(i, self.model.clone()));
        }
        all
    }

    /// Whether call `i` was rejected by a number of probes that took its place meanwhile.
    fn is_full_by_another_number(&self, i: usize, calls: &[Call]) -> bool {
        let Call {
            operation,
            answer:
                answer @ Answer::Rejected {
                    phase: Phase::HalfOpen,
                    ..
                },
            now,
            ..
        } = &calls[i]
        else {
            return false;
        };
        beside(i, calls, is_adjusting).any(|adjusting| {
            let Operation::Adjust(settings) = adjusting.operation else {
                return false;
            };
            let courses = self
                .model
                .with_probes(settings.probes)
                .after(*operation, *now);
            courses.iter().any(|course| permits(&course.answer, answer))
        })
    }

    fn tripped(&self, i: usize, generation: u64, call: &Call) -> Vec<Self> {
        let ways = self.model.trips_now(generation, call.now).into_iter();
        ways.map(|model| self.done(i, model)).collect()
    }
}

fn is_adjusting(call: &Call) -> bool {
    matches!(call.operation, Operation::Adjust(_))
}

/// The calls of a kind that overlap call `i`.
fn beside(i: usize, calls: &[Call], kind: fn(&Call) -> bool) -> impl Iterator<Item = &Call> {
    let others = calls
        .iter()
        .enumerate()
        .filter(move |(other, _)| *other != i);
    others
        .map(|(_, call)| call)
        .filter(move |call| kind(call) && call.overlaps(&calls[i]))
}

fn permits(allowed: &Allowed, answer: &Answer) -> bool {
    // An outcome whose generation ends while it is recorded may have been judged in vain.
    let in_vain = matches!(
        (allowed, answer),
        (
            Allowed::Recorded(Recorded::Stale),
            Answer::Recorded(Recorded::Counted)
        )
    );
    in_vain || allowed.permits(answer)
}
