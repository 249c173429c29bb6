//! The promises of the breaker of one word: one probe at a time and none after the verdict, no failure lost
//! or counted twice, stale outcomes, and never wedged, also where a thread stops for ever in the middle.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use nanobreaker_core::{Clock, Outcome, Phase, Recorded, Token};
use nanobreaker_embedded::OneWordBreaker;

use crate::explore::{Bound, model};

const OPEN_MS: u32 = 1_000;
/// An open time, and by how much it may be late.
const OVER_MS: u64 = 1_063;
const THRESHOLD: u32 = 2;

/// A clock that stands still while the threads run. Not modelled.
#[derive(Clone, Default)]
struct Time(Arc<AtomicU64>);

impl Clock for Time {
    fn now_ms(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

struct Rig {
    breaker: OneWordBreaker<THRESHOLD, OPEN_MS, Time>,
    time: Time,
    /// Of calls that began before the threads do.
    tokens: Vec<Token>,
}

/// What a call met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Met {
    Call,
    Probe,
    Rejection(Phase),
}
use Met::{Call, Probe, Rejection};

impl Rig {
    /// Closed; so many calls are under way.
    fn closed(calls: usize) -> Self {
        let time = Time::default();
        let mut rig = Self { breaker: OneWordBreaker::new(time.clone()), time, tokens: Vec::new() };
        rig.tokens = (0..calls).map(|_| rig.token()).collect();
        rig
    }

    /// Open, and its time is over. One call from before is under way.
    fn due() -> Self {
        let rig = Self::closed(1);
        for _ in 0..THRESHOLD {
            rig.breaker.record(rig.token(), Outcome::Failure);
        }
        assert_eq!(rig.breaker.phase(), Phase::Open);
        rig.pass(OVER_MS);
        rig
    }

    /// Half-open with one probe under way, beside the call from before.
    fn half_open() -> Self {
        let mut rig = Self::due();
        rig.tokens.push(rig.token());
        rig
    }

    /// The same, but the probe's lease is over.
    fn lost() -> Self {
        let rig = Self::half_open();
        rig.pass(OVER_MS);
        rig
    }

    fn pass(&self, ms: u64) {
        self.time.0.fetch_add(ms, Relaxed);
    }

    fn token(&self) -> Token {
        self.breaker.allow_token().expect("admitted")
    }

    fn allow(&self) -> Met {
        match self.breaker.allow_token() {
            Ok(token) if token.is_probe() => Probe,
            Ok(_) => Call,
            Err(rejected) => Rejection(rejected.phase),
        }
    }

    /// The call with this number ends.
    fn ends(&self, call: usize, outcome: Outcome) -> Recorded {
        self.breaker.record(self.tokens[call], outcome)
    }

    /// Whatever was lost or stopped: a probe is admitted again, and closes it.
    fn is_not_wedged(&self) {
        self.pass(OVER_MS);
        let token = self.token();
        self.breaker.record(token, Outcome::Success);
        assert_eq!(self.breaker.phase(), Phase::Closed);
        assert_eq!(self.failures_to_trip(), THRESHOLD);
    }

    /// How many more failures it takes; trips it.
    fn failures_to_trip(&self) -> u32 {
        let mut failures = 0;
        while self.breaker.phase() == Phase::Closed {
            self.breaker.record(self.token(), Outcome::Failure);
            failures += 1;
        }
        failures
    }
}

#[test]
fn of_callers_at_the_end_of_the_open_time_one_gets_the_probe() {
    model(Bound::Exhaustive, Rig::due)
        .threads([Rig::allow, Rig::allow, Rig::allow])
        .end(|rig, met| {
            assert_eq!(rig.breaker.phase(), Phase::HalfOpen);
            rig.is_not_wedged();
            met
        })
        .exactly((0..3).map(|first| {
            let mut met = [Rejection(Phase::HalfOpen); 3];
            met[first] = Probe;
            met
        }));
}

#[test]
fn a_probe_that_is_lost_is_followed_by_one() {
    model(Bound::Exhaustive, Rig::lost)
        .threads([Rig::allow, Rig::allow])
        .end(|rig, met| {
            rig.is_not_wedged();
            met
        })
        .exactly([[Probe, Rejection(Phase::HalfOpen)], [Rejection(Phase::HalfOpen), Probe]]);
}

#[test]
fn no_probe_goes_after_a_verdict() {
    model(Bound::Exhaustive, Rig::half_open)
        .threads([
            |rig: &Rig| {
                assert_eq!(rig.ends(1, Outcome::Failure), Recorded::Counted);
                rig.allow()
            },
            Rig::allow,
        ])
        .end(|rig, met| {
            assert_eq!(rig.breaker.phase(), Phase::Open);
            rig.is_not_wedged();
            met
        })
        .exactly([Phase::Open, Phase::HalfOpen].map(|seen| [Rejection(Phase::Open), Rejection(seen)]));
}

#[test]
fn a_probe_that_succeeds_lets_all_through() {
    model(Bound::Exhaustive, Rig::half_open)
        .threads([
            |rig: &Rig| {
                assert_eq!(rig.ends(1, Outcome::Success), Recorded::Counted);
                rig.allow()
            },
            Rig::allow,
        ])
        .end(|rig, met| {
            assert_eq!(rig.failures_to_trip(), THRESHOLD);
            met
        })
        .exactly([[Call, Call], [Call, Rejection(Phase::HalfOpen)]]);
}

/// The answer of a probe that was given up for lost, and the probe after it: one of them decides.
#[test]
fn a_late_answer_counts_only_before_the_next_probe() {
    model(Bound::Exhaustive, Rig::lost)
        .threads([
            |rig: &Rig| (rig.ends(1, Outcome::Success), None),
            |rig| (Recorded::Ignored, Some(rig.allow())),
        ])
        .end(|rig, [(late, _), (_, met)]| (late, met, rig.breaker.phase()))
        .exactly([
            (Recorded::Counted, Some(Call), Phase::Closed),
            (Recorded::Stale, Some(Probe), Phase::HalfOpen),
        ]);
}

#[test]
fn no_failure_is_lost() {
    model(Bound::Exhaustive, || Rig::closed(2))
        .threads([|rig: &Rig| rig.ends(0, Outcome::Failure), |rig| rig.ends(1, Outcome::Failure)])
        .end(|rig, recorded| {
            assert_eq!(rig.breaker.phase(), Phase::Open);
            rig.is_not_wedged();
            recorded
        })
        .exactly([[Recorded::Counted; 2]]);
}

#[test]
fn more_failures_than_it_takes_trip_once() {
    model(Bound::Exhaustive, || Rig::closed(3))
        .threads([
            |rig: &Rig| rig.ends(0, Outcome::Failure),
            |rig| rig.ends(1, Outcome::Failure),
            |rig| rig.ends(2, Outcome::Failure),
        ])
        .end(|rig, recorded| {
            assert_eq!(rig.breaker.phase(), Phase::Open);
            recorded
        })
        .exactly((0..3).map(|last| {
            let mut recorded = [Recorded::Counted; 3];
            recorded[last] = Recorded::Stale;
            recorded
        }));
}

/// A failure and a success after one failure: it trips if the failure comes first. If not, one failure is
/// left.
#[test]
fn a_success_between_failures_counts_as_if_one_came_after_the_other() {
    model(Bound::Exhaustive, || {
        let rig = Rig::closed(3);
        rig.ends(2, Outcome::Failure);
        rig
    })
    .threads([|rig: &Rig| rig.ends(0, Outcome::Success), |rig| rig.ends(1, Outcome::Failure)])
    .end(|rig, recorded| (recorded, rig.failures_to_trip()))
    .exactly([([Recorded::Stale, Recorded::Counted], 0), ([Recorded::Counted; 2], 1)]);
}

#[test]
fn an_outcome_from_before_the_trip_changes_nothing_whenever_it_comes() {
    model(Bound::Exhaustive, Rig::half_open)
        .threads([|rig: &Rig| rig.ends(0, Outcome::Failure), |rig| rig.ends(1, Outcome::Success)])
        .end(|rig, recorded| (recorded, rig.failures_to_trip()))
        .exactly([([Recorded::Stale, Recorded::Counted], THRESHOLD)]);
}

/// Between a thread's look and its exchange the breaker goes through a whole round.
#[test]
fn a_thread_that_sleeps_through_a_round_changes_nothing_of_the_next() {
    model(Bound::Exhaustive, || Rig::closed(3))
        .threads([
            |rig: &Rig| rig.ends(0, Outcome::Failure),
            |rig| {
                let recorded = rig.ends(1, Outcome::Failure);
                rig.ends(2, Outcome::Failure);
                rig.pass(OVER_MS);
                rig.breaker.record(rig.token(), Outcome::Success);
                recorded
            },
        ])
        .end(|rig, recorded| (recorded, rig.failures_to_trip()))
        .exactly([
            ([Recorded::Counted, Recorded::Counted], THRESHOLD),
            ([Recorded::Stale, Recorded::Counted], THRESHOLD),
        ]);
}

#[test]
fn whoever_stops_in_the_middle_holds_nobody_up() {
    let due: fn(&Rig) = |rig| {
        rig.allow();
    };
    let answer: fn(&Rig) = |rig| {
        rig.ends(1, Outcome::Failure);
    };
    let given_back: fn(&Rig) = |rig| {
        rig.ends(1, Outcome::Ignored);
    };
    stops(Rig::due, due, [Probe, Rejection(Phase::HalfOpen)]);
    stops(Rig::half_open, answer, [Rejection(Phase::HalfOpen), Rejection(Phase::Open)]);
    stops(Rig::half_open, given_back, [Rejection(Phase::HalfOpen), Probe]);
}

/// `victim` stops before its write, or does not; another thread makes a call.
fn stops(setup: fn() -> Rig, victim: fn(&Rig), expected: [Met; 2]) {
    model(Bound::Exhaustive, move || (setup(), victim))
        .threads([
            |(rig, victim): &(Rig, fn(&Rig))| {
                victim(rig);
                None
            },
            |(rig, _)| Some(rig.allow()),
        ])
        .end_where_the_first_stops(|(rig, _), [_, met]| {
            rig.is_not_wedged();
            met.flatten()
        })
        .exactly(expected.map(Some));
}

#[cfg(not(nanobreaker_first_read_writes))]
#[test]
fn a_healthy_call_stores_nothing() {
    let call: fn(&Rig) = |rig| {
        rig.breaker.record(rig.token(), Outcome::Success);
    };
    model(Bound::Exhaustive, || Rig::closed(0)).threads([call, call]).end(|_, _| ()).without_any_store();
}
