//! Promise 7: never open longer than configured, whatever the clock does.

use nanobreaker_core::Phase;

use crate::clocks::reads;
use crate::explore::{Bound, model};
use crate::rig::{OPEN_MS, Rig, config};
use crate::windows::consecutive;

/// A clock that was set back by half an open time.
const SET_BACK: u64 = 0;
const TRIPPED_AT: u64 = OPEN_MS / 2;

/// One reader after the clock was set back, one before: from the next reading on it is open for at
/// most one open time.
#[test]
fn a_clock_set_back_keeps_it_open_for_one_open_time() {
    model(Bound::Exhaustive, || {
        reads(TRIPPED_AT);
        let rig = Rig::with_own_times(consecutive(1), config());
        rig.fail();
        rig
    })
    .threads([
        |rig| {
            reads(SET_BACK);
            rig.breaker.allow_token().unwrap_err().retry_after_ms()
        },
        |rig| {
            reads(TRIPPED_AT);
            rig.breaker.allow_token().unwrap_err().retry_after_ms()
        },
    ])
    .end(|rig, left| {
        reads(SET_BACK + OPEN_MS - 1);
        assert!(rig.breaker.allow_token().is_err(), "open for too short");
        reads(SET_BACK + OPEN_MS);
        assert!(rig.breaker.allow_token().is_ok(), "open for too long");
        left.map(|ms| ms.expect("an end") as u64)
    })
    .exactly([[OPEN_MS, OPEN_MS], [OPEN_MS, OPEN_MS - TRIPPED_AT]]);
}

/// The clock is set back for two readers, for one of them further: the time is set anew once. By the
/// other's clock it is then over.
#[test]
fn a_clock_that_is_set_back_twice_keeps_it_open_no_longer() {
    const FIRST: u64 = 200;
    model(Bound::Exhaustive, || {
        reads(TRIPPED_AT);
        let rig = Rig::with_own_times(consecutive(1), config());
        rig.fail();
        rig
    })
    .threads([
        |rig| {
            reads(FIRST);
            rig.breaker.allow_token().is_ok()
        },
        |rig| {
            reads(SET_BACK);
            rig.breaker.allow_token().is_ok()
        },
    ])
    .end(|rig, passed| {
        reads(FIRST + OPEN_MS);
        assert!(rig.phase() == Phase::HalfOpen || rig.breaker.allow_token().is_ok());
        passed
    })
    .exactly([[false, false], [false, true]]);
}

/// A reader a little behind the one that trips does not find the open time over.
#[test]
fn a_reader_behind_the_trip_finds_no_fresh_deadline_over() {
    model(Bound::Exhaustive, || Rig::with_own_times(consecutive(1), config()))
        .threads([
            |rig| {
                reads(TRIPPED_AT);
                rig.breaker.trip()
            },
            |rig| {
                reads(TRIPPED_AT - 1);
                rig.breaker.allow_token().is_ok()
            },
        ])
        .end(|rig, [_, passed]| {
            assert_eq!(rig.phase(), Phase::Open, "half-open at once");
            passed
        })
        .exactly([true, false]);
}

/// Somebody asks for a longer open time as the end of the present one is noticed: a probe goes
/// before, or nobody goes until the time that was asked for; then one does.
#[test]
fn an_open_time_asked_for_is_kept_and_ends() {
    const ASKED: u64 = 3 * OPEN_MS;
    model(Bound::Exhaustive, || Rig::open(config().max_open_ms(4 * OPEN_MS)).when_it_is(OPEN_MS))
        .threads([|rig| rig.breaker.trip_for_ms(ASKED), |rig| rig.breaker.allow_token().is_ok()])
        .end(|rig, [asked, probed]| {
            assert!(asked);
            rig.at(OPEN_MS + ASKED - 1);
            assert!(rig.breaker.allow_token().is_err(), "open for too short");
            rig.at(OPEN_MS + ASKED);
            assert!(rig.breaker.allow_token().is_ok(), "open for too long");
            probed
        })
        .exactly([true, false]);
}

/// Two requests at once: the later end stands.
#[test]
fn the_later_of_two_ends_stands() {
    model(Bound::Exhaustive, || Rig::open(config().max_open_ms(4 * OPEN_MS)))
        .threads([|rig| rig.breaker.trip_for_ms(2 * OPEN_MS), |rig| rig.breaker.trip_for_ms(3 * OPEN_MS)])
        .end(|rig, changed| {
            rig.at(3 * OPEN_MS - 1);
            assert!(rig.breaker.allow_token().is_err(), "open for too short");
            rig.at(3 * OPEN_MS);
            assert!(rig.breaker.allow_token().is_ok(), "open for too long");
            changed
        })
        .exactly([[true, true], [false, true]]);
}
