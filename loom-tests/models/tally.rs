//! Promises 3 to 5 for the outcomes beside a tally: a bit of the last generation that came into a word
//! of the next one, or took one's place, would be noticed a whole window later.

use nanobreaker_core::window::Calls;
use nanobreaker_core::{Outcome, Phase, Recorded};

use crate::explore::{WIDELY, model};
use crate::rig::{Rig, config};
use crate::windows::{TALLIED, TALLIED_WORDS};

/// Of a full window one failure holds and two trip.
fn one_holds_and_two_trip() -> Calls<TALLIED_WORDS> {
    Calls::new(TALLIED, 190 / TALLIED, TALLIED).unwrap()
}

/// A failure of the last generation beside the first one of the next: when that leaves the window, the
/// tally knows.
#[test]
fn an_old_outcome_takes_no_bit_of_the_next() {
    model(WIDELY, || {
        Rig::new(one_holds_and_two_trip(), config()).with_tokens(1)
    })
    .threads([
        |rig| rig.breaker.record(rig.tokens[0], Outcome::Failure),
        |rig| {
            rig.breaker.reset();
            rig.fail().expect("closed after the reset")
        },
    ])
    .end(|rig, [old, _]| {
        // The window fills, and then the failure leaves it.
        for _ in 0..TALLIED {
            rig.call(Outcome::Success);
        }
        rig.fail();
        assert_eq!(rig.phase(), Phase::Closed, "an early trip");
        rig.fail();
        assert_eq!(rig.phase(), Phase::Open, "a lost trip");
        old
    })
    .exactly([Recorded::Counted, Recorded::Stale]);
}
