//! Promises 3 to 5 for a window of more calls than one word holds. A call takes effect when the tally is
//! exchanged, and its outcome is written a step later, by itself or by whoever comes next.
//!
//! The window is compared with a plain list of the last calls: whatever happened at once is one of the
//! orders in which it can have happened, and stays so for two laps more, in which an outcome that was lost
//! or written to a wrong place is judged.

use std::collections::VecDeque;

use nanobreaker_core::window::Calls;
use nanobreaker_core::{Outcome, Phase, Rate, Recorded};

use crate::explore::{Bound, model};
use crate::rig::{Rig, config};
use crate::windows::{TALLIED, TALLIED_WORDS};

use Outcome::{Failure, Success};

type Tallied = Rig<Calls<TALLIED_WORDS>>;

const SIZE: usize = TALLIED as usize;

/// Of a full window two failures hold and three trip.
const RATE: Rate = Rate::ppm(2_900_000 / TALLIED).min_calls(TALLIED);

/// The last calls, the oldest first.
#[derive(Clone, Debug)]
struct Last {
    calls: VecDeque<Outcome>,
    tripped: bool,
}

impl Last {
    fn new(calls: impl IntoIterator<Item = Outcome>) -> Self {
        let none = Self { calls: VecDeque::new(), tripped: false };
        none.and(calls)
    }

    fn and(mut self, calls: impl IntoIterator<Item = Outcome>) -> Self {
        for call in calls {
            if self.calls.len() == SIZE {
                self.calls.pop_front();
            }
            self.calls.push_back(call);
            let failures = self.calls.iter().filter(|call| **call == Failure).count();
            self.tripped |= self.calls.len() == SIZE && failures >= 3;
        }
        self
    }
}

/// A full window of successes, with failures where the oldest calls are: `oldest` says so, the oldest first.
fn full_but(oldest: impl IntoIterator<Item = Outcome>) -> Vec<Outcome> {
    let mut calls: Vec<_> = oldest.into_iter().collect();
    calls.resize(SIZE, Success);
    calls
}

fn rig(before: &[Outcome], tokens: usize) -> Tallied {
    let rig = Rig::new(Calls::new(TALLIED, RATE).unwrap(), config());
    for call in before {
        rig.call(*call);
    }
    assert_eq!(rig.phase(), Phase::Closed);
    rig.with_tokens(tokens)
}

/// What came of it is one of these orders; returns which of them still fit after two laps more.
///
/// In these laps each call fails that may: one that does not trip in at least one of the orders. So the
/// window stays full of as many failures as hold, and two orders that differ are told apart.
fn order_of<const N: usize>(rig: &Tallied, orders: [Last; N]) -> Vec<usize> {
    let mut fitting: Vec<_> = orders.into_iter().enumerate().collect();
    for _ in 0..2 * SIZE {
        let tripped = rig.phase() == Phase::Open;
        fitting.retain(|(_, last)| last.tripped == tripped);
        assert!(!fitting.is_empty(), "no order of calls comes to this");
        if tripped {
            break;
        }
        let trips = |(_, last): &(usize, Last)| last.clone().and([Failure]).tripped;
        let call = if fitting.iter().all(trips) { Success } else { Failure };
        rig.call(call);
        for (_, last) in &mut fitting {
            *last = last.clone().and([call]);
        }
    }
    // One failure more than holds: a count that is too low does not trip.
    if rig.phase() == Phase::Closed {
        rig.call(Failure);
        let tripped = rig.phase() == Phase::Open;
        fitting.retain(|(_, last)| last.clone().and([Failure]).tripped == tripped);
        assert!(!fitting.is_empty(), "no order of calls comes to this");
    }
    fitting.into_iter().map(|(n, _)| n).collect()
}

/// These calls, between two steps of the other thread: where its steps fall among them is not explored.
fn go_by(rig: &Tallied, lap: Vec<Outcome>) {
    loom::stop_exploring();
    for call in lap {
        rig.call(call);
    }
    loom::explore();
}

/// Where a failure beside the lap went: it is lost (0), came before the lap (1), or after it (2).
fn order_beside_a_failure(rig: &Tallied, before: Vec<Outcome>, lap: Vec<Outcome>) -> Vec<usize> {
    let before = Last::new(before);
    let first = before.clone().and([Failure]).and(lap.clone());
    let last = before.clone().and(lap.clone()).and([Failure]);
    order_of(rig, [before.and(lap), first, last])
}

fn record(rig: &Tallied, token: usize, outcome: Outcome) {
    assert_eq!(rig.record(token, outcome), Recorded::Counted);
}

/// A success evicts a failure, and stops for ever at any step or not at all. A failure beside it trips
/// neither on one failure too few nor on one too many.
#[test]
fn a_success_that_evicts_a_failure_and_stops() {
    const OLDEST: [Outcome; 3] = [Failure, Success, Failure];
    model(Bound::Exhaustive, || rig(&full_but(OLDEST), 2))
        .threads([|rig| record(rig, 0, Success), |rig| record(rig, 1, Failure)])
        .end_where_the_first_stops(|rig, _| {
            let before = Last::new(full_but(OLDEST));
            let orders = [&[Failure][..], &[Failure, Success], &[Success, Failure]];
            order_of(rig, orders.map(|calls| before.clone().and(calls.to_vec())))
        })
        .exactly([vec![0], vec![1], vec![2]]);
}

/// Which of two calls evicts a failure decides whether there are three.
#[test]
fn calls_evict_in_the_order_in_which_they_count() {
    const OLDEST: [Outcome; 3] = [Success, Failure, Failure];
    model(Bound::Exhaustive, || rig(&full_but(OLDEST), 2))
        .threads([|rig| rig.record(0, Success), |rig| rig.record(1, Failure)])
        .end(|rig, _| {
            let before = Last::new(full_but(OLDEST));
            let orders = [[Success, Failure], [Failure, Success]];
            order_of(rig, orders.map(|calls| before.clone().and(calls)))
        })
        .exactly([vec![0], vec![1]]);
}

/// A failure stalls, or stops for ever, at any step while a whole lap of calls goes by. When it wakes it
/// writes its outcome over none of theirs.
#[test]
fn a_failure_that_stalls_for_a_lap() {
    fn lap() -> Vec<Outcome> {
        full_but([Failure])
    }
    model(Bound::Exhaustive, || rig(&full_but([]), 1))
        .threads([
            |rig| record(rig, 0, Failure),
            |rig| {
                go_by(rig, lap());
            },
        ])
        .end_where_the_first_stops(|rig, _| order_beside_a_failure(rig, full_but([]), lap()))
        .exactly([vec![0, 1], vec![2]]);
}

/// The last call of a lap failed, and its outcome stands in the tally only. Who writes it stalls, or stops for ever,
/// while a whole lap of successes goes by, and one more, which writes the last of them. When it wakes it makes none of
/// them a failure.
#[test]
fn the_last_outcome_of_a_lap_is_not_written_a_lap_later() {
    fn before() -> Vec<Outcome> {
        let mut calls = full_but([]);
        calls[SIZE - 1] = Failure;
        calls
    }
    fn lap() -> Vec<Outcome> {
        vec![Success; SIZE + 1]
    }
    model(Bound::Exhaustive, || rig(&before(), 1))
        .threads([
            |rig| record(rig, 0, Failure),
            |rig| {
                go_by(rig, lap());
            },
        ])
        .end_where_the_first_stops(|rig, _| order_beside_a_failure(rig, before(), lap()))
        .exactly([vec![0, 1], vec![2]]);
}

/// The last call's outcome stands in the tally only. Two calls at once find it there; one of them may stop
/// for ever at any step.
#[test]
fn two_calls_write_the_last_ones_outcome() {
    const OLDEST: [Outcome; 2] = [Failure, Failure];
    model(Bound::Exhaustive, || {
        let mut before = full_but(OLDEST);
        before.push(Failure);
        rig(&before, 2)
    })
    .threads([|rig| record(rig, 0, Success), |rig| record(rig, 1, Success)])
    .end_where_the_first_stops(|rig, _| {
        let before = Last::new(full_but(OLDEST)).and([Failure]);
        let orders = [&[Success][..], &[Success, Success]];
        order_of(rig, orders.map(|calls| before.clone().and(calls.to_vec())))
    })
    .exactly([vec![0], vec![1]]);
}

/// A failure of the last generation beside the first one of the next: its outcome takes no place in the
/// next one's words.
#[test]
fn an_old_outcome_takes_no_bit_of_the_next() {
    model(Bound::Exhaustive, || rig(&[], 1))
        .threads([
            |rig| rig.record(0, Failure),
            |rig| {
                rig.breaker.reset();
                rig.fail().expect("closed after the reset")
            },
        ])
        .end(|rig, [old, _]| {
            assert_eq!(order_of(rig, [Last::new([Failure])]), [0]);
            old
        })
        .exactly([Recorded::Counted, Recorded::Stale]);
}
