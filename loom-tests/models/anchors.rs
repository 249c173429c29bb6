//! Promises 6 and 7 where a time comes round: the state word holds a time's lower bits, and the anchor,
//! stored a step later, holds its upper ones. No reader takes one time for another, whoever stalls or stops
//! between these two steps.
//!
//! Wide words need an anchor for leases only, narrow ones for every time.

use nanobreaker_core::window::Consecutive;
use nanobreaker_core::{Outcome, Phase, Recorded};

use crate::explore::{Bound, model};
use crate::rig::{LEASE_MS, OPEN_MS, Rig, config};

/// Many times the range of an open time's lower bits, and within the first quarter of it, too.
const UPTIME_MS: u64 = 3 << 15;

/// The range of a lease's lower bits: in narrow words 64 units of 32 ms.
const LEASE_RANGE_MS: u64 = if cfg!(nanobreaker_narrow) { 64 * 32 } else { 1 << 24 };

/// The range of an open time's lower bits where words are narrow.
const OPEN_RANGE_MS: u64 = 1 << 15;

/// A multiple of every field's range.
const ALL_RANGES_MS: u64 = 1 << 24;

fn closed() -> Rig<Consecutive> {
    Rig::touchy(config().max_open_ms(2 * OPEN_MS)).when_it_is(UPTIME_MS)
}

/// A reader between a trip and its anchor.
#[test]
fn a_trip_beside_a_reader_and_where_it_stops() {
    model(Bound::Exhaustive, || closed().with_tokens(1))
        .threads([
            |rig| {
                rig.record(0, Outcome::Failure);
                None
            },
            |rig| rig.breaker.allow_token().err().map(|no| no.retry_after_ms()),
        ])
        .end_where_the_first_stops(|rig, [_, read]| {
            let read = read.expect("it goes on");
            if rig.phase() == Phase::Open {
                rig.at(UPTIME_MS + OPEN_MS - 1);
                assert!(rig.breaker.allow_token().is_err(), "open for too short");
                rig.at(UPTIME_MS + OPEN_MS);
                assert!(rig.breaker.allow_token().is_ok(), "open for too long");
            }
            read
        })
        .exactly([None, Some(Some(OPEN_MS as u32))]);
}

/// The lease is renewed by two answers, a whole range of its bits apart. The first thread stalls before it
/// stores its anchor: it does not make the second lease look over.
#[test]
fn a_late_anchor_ends_no_lease() {
    const LATER: u64 = UPTIME_MS + OPEN_MS + LEASE_RANGE_MS;
    // Bound: one stall is enough, and there are a hundred thousand executions.
    model(Bound::Preemptions(3), || {
        let rig = Rig::touchy(config().max_probes(2).probe_successes(4));
        rig.at(UPTIME_MS);
        rig.half_opened(2).in_moving_time()
    })
    .threads([
        |rig| {
            rig.record(0, Outcome::Ignored);
            [true; 2]
        },
        |rig| {
            rig.at(LATER);
            rig.record(1, Outcome::Ignored);
            [(); 2].map(|()| rig.breaker.allow_token().is_ok())
        },
    ])
    .end(|rig, [_, admitted]| {
        assert_eq!(rig.phase(), Phase::HalfOpen, "a fresh lease was found over");
        admitted
    })
    .exactly([[true, true], [true, false]]);
}

/// A caller stalls after it read the clock, until the lease was renewed a whole range later and a grant has made
/// the state what it was. It does not find the young lease over by its old reading. One that reads the clock
/// before the lease is renewed finds it over, as it is.
#[test]
fn a_caller_with_an_old_reading_finds_no_fresh_lease_over() {
    const LATER: u64 = UPTIME_MS + OPEN_MS + LEASE_RANGE_MS;
    // Bound: one stall is enough.
    model(Bound::Preemptions(3), || {
        let rig = Rig::touchy(config().max_probes(2).probe_successes(4));
        rig.at(UPTIME_MS);
        rig.half_opened(2).in_moving_time()
    })
    .threads([
        |rig| (rig.breaker.allow_token().is_ok(), Recorded::Ignored),
        |rig| {
            rig.at(LATER);
            let renewed = rig.record(1, Outcome::Ignored);
            (rig.breaker.allow_token().is_ok(), renewed)
        },
    ])
    .end(|rig, [(first, _), (second, renewed)]| {
        if renewed == Recorded::Ignored && rig.phase() == Phase::Open {
            // Between the two steps of renewing it, see `state::anchor` for that limit.
            let left = rig.breaker.snapshot().time_left_ms;
            assert_eq!(left, Some(OPEN_MS as u32), "by an old reading");
        }
        (first, renewed, second)
    })
    .exactly([
        (false, Recorded::Ignored, true),
        (true, Recorded::Ignored, false),
        (false, Recorded::Ignored, false),
        (false, Recorded::Stale, false),
    ]);
}

/// The same for an open time that is asked for twice.
#[test]
fn a_late_anchor_ends_no_open_time() {
    model(Bound::Exhaustive, || {
        let rig = closed();
        rig.breaker.trip_for_ms(OPEN_MS);
        rig.in_moving_time()
    })
    .threads([
        |rig| rig.breaker.trip_for_ms(2 * OPEN_MS),
        |rig| {
            rig.at(UPTIME_MS + OPEN_RANGE_MS);
            let changed = rig.breaker.trip_for_ms(2 * OPEN_MS);
            let rejected = rig.breaker.allow_token().expect_err("it was asked for");
            assert_eq!(rejected.retry_after_ms(), Some(2 * OPEN_MS as u32));
            changed
        },
    ])
    .end(|_, changed| changed)
    .exactly([[true, true], [true, false], [false, true]]);
}

/// Two requests at once; the later end stands, whoever's anchor came last.
#[test]
fn of_two_postponements_the_later_one_is_anchored() {
    model(Bound::Exhaustive, || {
        let rig = closed();
        rig.breaker.trip_for_ms(1);
        rig
    })
    .threads([|rig| rig.breaker.trip_for_ms(OPEN_MS), |rig| rig.breaker.trip_for_ms(2 * OPEN_MS)])
    .end(|rig, changed| {
        rig.at(UPTIME_MS + 2 * OPEN_MS - 1);
        assert!(rig.breaker.allow_token().is_err(), "open for too short");
        rig.at(UPTIME_MS + 2 * OPEN_MS + OPEN_RANGE_MS);
        assert!(rig.breaker.allow_token().is_ok(), "open for too long");
        changed
    })
    .exactly([[true, true], [false, true]]);
}

/// A lease is renewed by a grant into a round that was idle for exactly a range. Another caller finds the
/// place taken, and the probe has its whole lease.
#[test]
fn a_grant_into_a_round_that_was_idle_is_not_lost() {
    model(Bound::Exhaustive, || {
        let rig = Rig::touchy(config().probe_successes(2));
        rig.at(UPTIME_MS);
        let rig = rig.half_opened(1);
        rig.leave(rig.tokens[0], Outcome::Success);
        // Not in the quarter of the range that the last lease was in, see `state::anchor` for that limit.
        rig.at(UPTIME_MS + OPEN_MS + LEASE_RANGE_MS / 2);
        rig
    })
    .threads([|rig| rig.enter(1).is_some(), |rig| rig.enter(1).is_some()])
    .end(|rig, entered| {
        assert_eq!(rig.phase(), Phase::HalfOpen, "a fresh lease was found over");
        entered
    })
    .exactly([[true, false], [false, true]]);
}

/// Whoever set the lease stopped before its anchor. Callers who come in steps of a whole range wait for
/// one step more: the first of them stores the anchor.
#[test]
fn a_lease_without_an_anchor_ends() {
    model(Bound::Exhaustive, || closed().opened().when_it_is(UPTIME_MS + OPEN_MS))
        .threads([
            |rig| {
                assert!(rig.breaker.allow_token().is_ok());
                Phase::HalfOpen
            },
            |rig| rig.phase(),
        ])
        .end_where_the_first_stops(|rig, [_, seen]| {
            let mut steps = 0;
            while rig.phase() == Phase::HalfOpen {
                assert!(steps < 2, "wedged");
                steps += 1;
                rig.at(UPTIME_MS + OPEN_MS + steps * ALL_RANGES_MS);
                let _ = rig.breaker.allow_token();
            }
            rig.is_not_wedged_where_callers_come_every(ALL_RANGES_MS);
            (seen, steps)
        })
        .exactly([
            // It stopped before it admitted the probe.
            (Some(Phase::Open), 0),
            (Some(Phase::Open), 1),
            (Some(Phase::HalfOpen), 1),
            (Some(Phase::Open), 2),
            (Some(Phase::HalfOpen), 2),
        ]);
}

/// The lease itself is in the second word's bits, too, however long the clock has run.
#[test]
fn a_lease_of_a_late_uptime_holds() {
    const LATE_MS: u64 = (1 << 31) + 5 * LEASE_MS;
    model(Bound::Exhaustive, || {
        Rig::touchy(config()).when_it_is(LATE_MS).opened().when_it_is(LATE_MS + OPEN_MS)
    })
    .threads([|rig| rig.enter(1).is_some(), |rig| rig.enter(1).is_some()])
    .end(|rig, entered| {
        assert_eq!(rig.phase(), Phase::HalfOpen, "a fresh lease was found over");
        entered
    })
    .exactly([[true, false], [false, true]]);
}
