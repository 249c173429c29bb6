//! Promise 7: never open longer than configured, whatever the clock does.

use nanobreaker_core::Phase;

use crate::explore::{Bound, model};
use crate::rig::{OPEN_MS, Rig, at, config};

/// A clock that was set back by half an open time.
const SET_BACK: u64 = 0;
const TRIPPED_AT: u64 = OPEN_MS / 2;

/// One reader after the clock was set back, one before: from the next reading on it is open for at
/// most one open time.
#[test]
fn a_clock_set_back_keeps_it_open_for_one_open_time() {
    model(Bound::Exhaustive, || {
        let rig = Rig::touchy(config());
        at(TRIPPED_AT);
        rig.fail();
        rig
    })
    .threads([
        |rig| {
            at(SET_BACK);
            rig.breaker.allow_token().unwrap_err().retry_after_ms()
        },
        |rig| {
            at(TRIPPED_AT);
            rig.breaker.allow_token().unwrap_err().retry_after_ms()
        },
    ])
    .end(|rig, left| {
        at(SET_BACK + OPEN_MS - 1);
        assert!(rig.breaker.allow_token().is_err(), "open for too short");
        at(SET_BACK + OPEN_MS);
        assert!(rig.breaker.allow_token().is_ok(), "open for too long");
        left.map(|ms| ms.expect("an end") as u64)
    })
    .exactly([[OPEN_MS, OPEN_MS], [OPEN_MS, OPEN_MS - TRIPPED_AT]]);
}

/// A reader a little behind the one that trips does not find the open time over.
#[test]
fn a_reader_behind_the_trip_finds_no_fresh_deadline_over() {
    model(Bound::Exhaustive, || Rig::touchy(config()).with_tokens(1))
        .threads([
            |rig| {
                at(TRIPPED_AT);
                rig.breaker.trip()
            },
            |rig| {
                at(TRIPPED_AT - 1);
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
    model(Bound::Exhaustive, || {
        Rig::open(config().max_open_ms(4 * OPEN_MS))
    })
    .threads([
        |rig| {
            at(OPEN_MS);
            rig.breaker.trip_for_ms(ASKED)
        },
        |rig| {
            at(OPEN_MS);
            rig.breaker.allow_token().is_ok()
        },
    ])
    .end(|rig, [asked, probed]| {
        assert!(asked);
        at(OPEN_MS + ASKED - ASKED / 64 - 1);
        assert!(rig.breaker.allow_token().is_err(), "open for too short");
        at(OPEN_MS + ASKED);
        assert!(rig.breaker.allow_token().is_ok(), "open for too long");
        probed
    })
    .exactly([true, false]);
}

/// Two requests at once: the later end stands.
#[test]
fn the_later_of_two_ends_stands() {
    model(Bound::Exhaustive, || {
        Rig::open(config().max_open_ms(4 * OPEN_MS))
    })
    .threads([
        |rig| rig.breaker.trip_for_ms(2 * OPEN_MS),
        |rig| rig.breaker.trip_for_ms(3 * OPEN_MS),
    ])
    .end(|rig, changed| {
        at(2 * OPEN_MS);
        assert!(rig.breaker.allow_token().is_err(), "open for too short");
        at(3 * OPEN_MS);
        assert!(rig.breaker.allow_token().is_ok(), "open for too long");
        changed
    })
    .exactly([[true, true], [false, true]]);
}
