//! Settings that are replaced while more happens than one call: several calls by the new rule before
//! a stalled one by the old, and a reset.
//!
//! Promises 3 to 5, as for [`adjusting`](crate::adjusting).

use nanobreaker_core::window::Adjustable;
use nanobreaker_core::{Outcome, Phase, Recorded};

use crate::adjusting::Any;
use crate::explore::{WIDELY, model};
use crate::rig::{Rig, at, config};
use crate::windows::WITHIN_MS;

type Adjusted = Rig<Adjustable<Any>>;

fn adjust(rig: &Adjusted, window: &Any) {
    let config = config().build().expect("a valid configuration");
    assert!(rig.breaker.adjust(window, config), "nobody else adjusts");
}

fn failures_to_trip(rig: &Adjusted) -> u32 {
    let mut failures = 0;
    while rig.phase() == Phase::Closed {
        failures += 1;
        assert!(failures <= 8, "a lost trip");
        rig.fail();
    }
    failures
}

/// A success in a bucket that has enough of them takes the time window's quick way. By the rule of
/// before it does not raise a count of failures in a row.
#[test]
fn a_quick_success_counts_in_no_other_layout() {
    model(WIDELY, || {
        at(0);
        let window = Any::time(WITHIN_MS, 2, 100, 2).unwrap();
        let rig = Rig::new(Adjustable::new(window), config());
        // One more than there will be failures: an exchange tells by the value, and only by it.
        for _ in 0..3 {
            rig.call(Outcome::Success);
        }
        rig.with_tokens(1)
    })
    .threads([
        |rig| {
            at(0);
            adjust(rig, &Any::consecutive(4).unwrap());
            for _ in 0..2 {
                rig.fail();
            }
            Recorded::Ignored
        },
        |rig: &Adjusted| {
            at(0);
            rig.breaker.record(rig.tokens[0], Outcome::Success)
        },
    ])
    .end(|rig, [_, recorded]| {
        at(0);
        (recorded, failures_to_trip(rig))
    })
    .exactly([
        (Recorded::Counted, 2),
        (Recorded::Counted, 3),
        (Recorded::Counted, 4),
        (Recorded::Stale, 2),
    ]);
}

/// A failure that finds an expired one in its first slot takes the ring's quick way. By the rule of
/// before it does not take a bucket of time for such a slot, which would forget the successes in it.
#[cfg(not(nanobreaker_narrow))]
#[test]
fn a_quick_failure_takes_no_bucket_for_a_slot() {
    /// Here a bucket's lap sets the very bit that marks a slot as taken.
    const AT_MS: u64 = WITHIN_MS << 19;
    model(WIDELY, || {
        at(AT_MS - 2 * WITHIN_MS);
        let window = Any::failures(3, WITHIN_MS).unwrap();
        let rig = Rig::new(Adjustable::new(window), config());
        rig.fail();
        rig.with_tokens(1)
    })
    .threads([
        |rig| {
            at(AT_MS);
            adjust(rig, &Any::time(WITHIN_MS, 2, 60, 1).unwrap());
            for _ in 0..2 {
                rig.call(Outcome::Success);
            }
            Recorded::Ignored
        },
        |rig: &Adjusted| {
            at(AT_MS);
            rig.breaker.record(rig.tokens[0], Outcome::Failure)
        },
    ])
    .end(|rig, [_, recorded]| {
        at(AT_MS);
        (recorded, failures_to_trip(rig))
    })
    .exactly([
        // It came first under the new rule, and tripped at once.
        (Recorded::Counted, 0),
        (Recorded::Counted, 2),
        (Recorded::Counted, 3),
        (Recorded::Stale, 3),
    ]);
}

/// The failure that moves as a threshold falls does not take the place of one that another generation
/// has put there.
#[test]
fn a_falling_threshold_beside_a_reset_forgets_no_failure() {
    const LATER_MS: u64 = 3 * WITHIN_MS / 2 + 2;
    model(WIDELY, || {
        let window = Any::failures(4, WITHIN_MS).unwrap();
        let rig = Rig::new(Adjustable::new(window), config());
        // Two slots are taken, and the first of them expires.
        for ms in [WITHIN_MS / 2, WITHIN_MS] {
            at(ms);
            rig.fail();
        }
        rig
    })
    .threads([
        |rig| {
            at(LATER_MS);
            adjust(rig, &Any::failures(2, WITHIN_MS).unwrap());
            None
        },
        |rig: &Adjusted| {
            at(LATER_MS);
            rig.breaker.reset();
            rig.fail()
        },
    ])
    .end(|rig, [_, recorded]| {
        at(LATER_MS);
        (recorded, failures_to_trip(rig))
    })
    .exactly([(Some(Recorded::Counted), 1)]);
}
