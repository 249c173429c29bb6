//! Promise 9: the healthy path stores nothing and reads no clock. Promise 8: a rejection writes
//! nothing. loom explores one execution, and no other, where nobody stores what another one reads.

use nanobreaker_core::{Config, Outcome, Recorded, window::Window};

use crate::explore::{Bound, Reached, model};
use crate::rig::{OPEN_MS, Rig, config};
use crate::windows::{self, for_each_window};

/// Two healthy calls at once, after `before` successes.
fn calls_that_succeed<W: Window<Settings = Config> + Send + Sync + 'static>(
    window: fn(u32) -> W,
    before: usize,
) -> Reached<[Option<Recorded>; 2]> {
    model(Bound::Exhaustive, move || {
        let rig = Rig::new(window(2), config());
        for _ in 0..before {
            rig.call(Outcome::Success);
        }
        rig.breaker.clock().forbid();
        rig
    })
    .threads([|rig| rig.call(Outcome::Success), |rig| rig.call(Outcome::Success)])
    .end(|_, recorded| {
        assert_eq!(recorded, [Some(Recorded::Counted); 2]);
        recorded
    })
}

#[test]
fn a_success_stores_nothing_in_the_failure_ring() {
    calls_that_succeed(windows::failures, 0).without_any_store();
}

#[test]
fn a_success_after_a_success_stores_nothing_in_the_row() {
    calls_that_succeed(windows::consecutive, 0).without_any_store();
}

#[test]
fn a_success_stores_nothing_where_there_is_no_evidence() {
    calls_that_succeed(windows::cusum, 0).without_any_store();
}

#[test]
fn a_success_stores_nothing_in_a_history_full_of_them() {
    calls_that_succeed(windows::history, windows::SHORT as usize).without_any_store();
}

#[test]
fn a_success_stores_nothing_in_a_tally_full_of_them() {
    calls_that_succeed(windows::tally, windows::TALLIED as usize).without_any_store();
}

/// The check itself: where a success does store, loom explores more.
#[test]
fn a_success_is_stored_in_a_history_with_room() {
    calls_that_succeed(windows::history, 0).exactly([[Some(Recorded::Counted); 2]]);
}

fn a_rejection_writes_nothing<W: Window<Settings = Config> + Send + Sync + 'static>(window: fn(u32) -> W) {
    model(Bound::Exhaustive, move || Rig::new(window(1), config()).opened().when_it_is(OPEN_MS - 1))
        .threads([|rig| rig.breaker.allow_token().is_err(), |rig| rig.breaker.allow_token().is_err()])
        .end(|_, rejected| {
            assert_eq!(rejected, [true; 2]);
            rejected
        })
        .without_any_store();
}
for_each_window!(a_rejection_writes_nothing);
