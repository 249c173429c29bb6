//! Every operation of the breaker, abandoned before each of its writes by a thread that stops there for
//! ever. For everyone else all promises hold: nobody is held up, no failure of theirs is lost or counted
//! twice, and a probe is admitted again, also where callers come in steps of exactly the range of each
//! field.
//!
//! Operations that belong to one part only stop in that part's models: an adjustment in `adjusting`, a turn
//! in `turns`, a tally in `tally`, a sweep in `sweeps`.

use nanobreaker_core::window::{Consecutive, Window};
use nanobreaker_core::{Config, ConfigBuilder, Outcome, Phase};

use crate::explore::{Bound, model};
use crate::rig::{LEASE_MS, OPEN_MS, RAMP_MS, Rig, config};
use crate::windows::for_each_window;

type Touchy = Rig<Consecutive>;

/// Long after the clock began.
const UPTIME_MS: u64 = 3 << 15;
/// A multiple of the range of every field that holds a time, in both widths.
const ALL_RANGES_MS: u64 = 1 << 24;

/// What another thread's call met: a permit, and of which kind, or a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Met {
    Call,
    Probe,
    Rejection(Phase),
}

use Met::{Call, Probe, Rejection};

fn call(rig: &Touchy) -> Met {
    match rig.breaker.allow_token() {
        Ok(token) => {
            rig.breaker.record(token, Outcome::Success);
            if token.is_probe() { Probe } else { Call }
        }
        Err(rejected) => Rejection(rejected.phase),
    }
}

/// `victim` stops; another thread makes a call at once; then all goes on.
fn stops(setup: fn() -> Touchy, victim: fn(&Touchy), expected: impl IntoIterator<Item = Met>) {
    struct Setup(Touchy, fn(&Touchy));
    model(Bound::Exhaustive, move || Setup(setup(), victim))
        .threads([
            |Setup(rig, victim): &Setup| {
                victim(rig);
                None
            },
            |Setup(rig, _)| Some(call(rig)),
        ])
        .end_where_the_first_stops(|Setup(rig, _), [_, met]| {
            if matches!(rig.phase(), Phase::Isolated | Phase::Disabled) {
                rig.breaker.reset();
            }
            rig.is_not_wedged_where_callers_come_every(ALL_RANGES_MS);
            assert_eq!(rig.failures_to_trip(), 1, "a lost trip");
            rig.is_not_wedged_where_callers_come_every(ALL_RANGES_MS);
            met.flatten().expect("it goes on")
        })
        .exactly(expected);
}

fn opening() -> ConfigBuilder {
    config().max_open_ms(2 * OPEN_MS)
}

fn closed() -> Touchy {
    Rig::touchy(opening()).when_it_is(UPTIME_MS).with_tokens(1)
}

fn open() -> Touchy {
    closed().opened()
}

fn due() -> Touchy {
    open().when_it_is(UPTIME_MS + OPEN_MS)
}

fn probing(opening: ConfigBuilder) -> Touchy {
    Rig::touchy(opening).when_it_is(UPTIME_MS).half_opened(1)
}

#[test]
fn a_trip() {
    stops(
        closed,
        |rig| {
            rig.record(0, Outcome::Failure);
        },
        [Call, Rejection(Phase::Open)],
    );
}

#[test]
fn a_trip_that_is_asked_for() {
    stops(
        closed,
        |rig| {
            rig.breaker.trip_for_ms(2 * OPEN_MS);
        },
        [Call, Rejection(Phase::Open)],
    );
}

#[test]
fn advice() {
    stops(
        closed,
        |rig| {
            rig.breaker.advise_ms(3 * OPEN_MS);
        },
        [Call, Rejection(Phase::Open)],
    );
}

#[test]
fn a_longer_open_time() {
    stops(
        open,
        |rig| {
            rig.breaker.trip_for_ms(2 * OPEN_MS);
        },
        [Rejection(Phase::Open)],
    );
}

#[test]
fn a_recovery() {
    stops(
        open,
        |rig| {
            rig.breaker.recover();
        },
        [Rejection(Phase::Open), Probe],
    );
}

#[test]
fn the_grant_of_a_probe() {
    stops(
        due,
        |rig| {
            let _ = rig.breaker.allow_token();
        },
        [Probe, Rejection(Phase::HalfOpen)],
    );
}

#[test]
fn a_permit_that_is_dropped() {
    stops(due, |rig| drop(rig.breaker.allow()), [Probe, Rejection(Phase::HalfOpen)]);
}

#[test]
fn a_success_that_closes() {
    stops(
        || probing(opening()),
        |rig| {
            rig.record(0, Outcome::Success);
        },
        [Rejection(Phase::HalfOpen), Call],
    );
}

#[test]
fn a_success_that_begins_a_ramp() {
    stops(
        || probing(opening().ramp_ms(RAMP_MS)),
        |rig| {
            rig.record(0, Outcome::Success);
        },
        [Rejection(Phase::HalfOpen), Rejection(Phase::Recovering)],
    );
}

#[test]
fn a_success_that_renews_the_lease() {
    stops(
        || probing(opening().probe_successes(2)),
        |rig| {
            rig.record(0, Outcome::Success);
        },
        [Rejection(Phase::HalfOpen), Probe],
    );
}

#[test]
fn a_failure_that_opens_again() {
    stops(
        || probing(opening()),
        |rig| {
            rig.record(0, Outcome::Failure);
        },
        [Rejection(Phase::HalfOpen), Rejection(Phase::Open)],
    );
}

#[test]
fn the_end_of_a_lease() {
    stops(
        || probing(opening()).when_it_is(UPTIME_MS + OPEN_MS + LEASE_MS),
        |rig| {
            let _ = rig.breaker.allow_token();
        },
        [Rejection(Phase::Open)],
    );
}

#[test]
fn the_end_of_a_ramp() {
    stops(
        || {
            Rig::touchy(opening().ramp_ms(RAMP_MS))
                .when_it_is(UPTIME_MS)
                .recovering()
                .when_it_is(UPTIME_MS + OPEN_MS + RAMP_MS)
        },
        |rig| {
            let _ = rig.breaker.allow_token();
        },
        [Call],
    );
}

#[test]
fn a_reset() {
    stops(open, |rig| rig.breaker.reset(), [Rejection(Phase::Open), Call]);
}

#[test]
fn an_isolation() {
    stops(
        closed,
        |rig| {
            rig.breaker.isolate();
        },
        [Call, Rejection(Phase::Isolated)],
    );
}

#[test]
fn a_saved_state_that_is_restored() {
    stops(
        closed,
        |rig| {
            let other = Rig::open(opening());
            rig.breaker.restore(other.breaker.save(), 0).unwrap();
        },
        [Call, Rejection(Phase::Open)],
    );
}

/// A failure stops at any step of entering its window: it counts or not, and those of all others count.
fn a_failure<W: Window<Settings = Config> + Send + Sync + 'static>(window: fn(u32) -> W) {
    model(Bound::Exhaustive, move || {
        let rig = Rig::new(window(4), config()).when_it_is(UPTIME_MS);
        rig.fail();
        rig.with_tokens(2)
    })
    .threads([|rig| rig.record(0, Outcome::Failure), |rig| rig.record(1, Outcome::Failure)])
    .end_where_the_first_stops(|rig, [ended, _]| {
        let failures = rig.failures_to_trip();
        assert!(ended.is_none() || failures == 1, "who got to its end has counted");
        failures
    })
    .exactly([1, 2]);
}
for_each_window!(a_failure: failures consecutive cusum history tally time; as shipped striped);
