//! Promises 3 and 4 where a stamp or a lap comes round: whoever finds the words a half turn behind empties
//! what is too old, and moves them on. Calls beside that are neither lost nor counted anew.

use nanobreaker_core::window::Window;
use nanobreaker_core::{Config, Measured, Outcome, Phase};

use crate::explore::{Bound, Threads, model};
use crate::rig::{Rig, config};
use crate::windows::{WITHIN_MS, for_each_window};

/// Half a turn of each window at once: of a narrow stamp, and of a lap's number in either width.
const HALF_MS: u64 = 125 * (1 << 22);

/// Two turns after time 0. A millisecond more, see the limit of `window::turn`.
const LATER_MS: u64 = 2 * HALF_MS + 1;

const _: () =
    assert!(HALF_MS % (128 * WITHIN_MS) == 0 && HALF_MS % (1 << 22) == 0, "a multiple of every half turn");

/// Both threads may empty every word, which makes for many steps: of time, the models take as few buckets as
/// show it, and three preemptions. One is enough for a stall.
const BOUND: Bound = Bound::Preemptions(3);

/// Two failures, one on either side of the turn or both behind it, are two within the window.
fn failures_at_the_turn_trip<W: Window<Settings = Config> + Send + Sync + 'static>(window: fn(u32) -> W) {
    model(BOUND, move || {
        Rig::new(window(2), config()).when_it_is(HALF_MS - 1).with_tokens(2).in_moving_time()
    })
    .threads([
        |rig| rig.record(0, Outcome::Failure),
        |rig| {
            rig.at(HALF_MS);
            rig.record(1, Outcome::Failure)
        },
    ])
    .end(|rig, _| {
        assert_eq!(rig.phase(), Phase::Open, "a lost trip");
        rig.told()[0].0
    })
    .exactly([0, 1]);
}
for_each_window!(failures_at_the_turn_trip: failures);

/// What was counted a whole turn ago has the same stamp or lap. Two calls at once find it and empty it; it
/// does not count, and they do.
fn failures_of_the_last_turn_are_gone<W: Window<Settings = Config> + Send + Sync + 'static>(
    window: fn(u32) -> W,
) {
    model(BOUND, move || {
        let rig = Rig::new(window(4), config());
        rig.fail();
        rig.fail();
        rig.with_tokens(2).when_it_is(LATER_MS)
    })
    .threads([
        |rig| {
            rig.record(0, Outcome::Failure);
        },
        |rig| {
            rig.record(1, Outcome::Failure);
        },
    ])
    .end(|rig, _| rig.failures_to_trip())
    .exactly([2]);
}
for_each_window!(failures_of_the_last_turn_are_gone: failures; as shipped one_bucket);

/// The same where the first one to come stops for ever at any step of emptying them.
fn a_turn_that_stops_is_made_by_the_next<W: Window<Settings = Config> + Send + Sync + 'static>(
    window: fn(u32) -> W,
) {
    model(BOUND, move || {
        let rig = Rig::new(window(3), config());
        rig.fail();
        rig.fail();
        rig.with_tokens(2).when_it_is(LATER_MS)
    })
    .threads([
        |rig| {
            rig.record(0, Outcome::Failure);
        },
        |rig| {
            rig.record(1, Outcome::Failure);
        },
    ])
    .end_where_the_first_stops(|rig, _| rig.failures_to_trip())
    // Whether the one that stopped had counted.
    .exactly([1, 2]);
}
for_each_window!(a_turn_that_stops_is_made_by_the_next: failures; as shipped one_bucket);

/// A thread reads the clock at `early_ms` and stalls while the words turn once, and again while they turn once more.
/// The window trips on the K-th failure.
fn stalls_over_two_turns<W: Window<Settings = Config> + Send + Sync + 'static>(
    window: fn(u32) -> W,
    k: u32,
    early_ms: u64,
) -> Threads<impl Fn() -> Rig<W> + Copy + Send + Sync + 'static, Rig<W>, (), 2> {
    model(BOUND, move || Rig::new(window(k), config()).when_it_is(early_ms).with_tokens(1).in_moving_time())
        .threads([
            |rig| {
                rig.record(0, Outcome::Failure);
            },
            |rig| {
                for turn in 1..=2 {
                    // The other one may go on before each turn.
                    rig.at(turn * HALF_MS);
                    // A turn is made whole between two of the other one's steps; the models above explore it.
                    loom::stop_exploring();
                    rig.fail();
                    loom::explore();
                }
            },
        ])
}

/// The failure that stalled counts with the time that it ended up with, or is as old as it was. The newest failure
/// always counts.
fn a_failure_that_stalls_over_two_turns<W: Window<Settings = Config> + Send + Sync + 'static>(
    window: fn(u32) -> W,
) {
    stalls_over_two_turns(window, 2, 0)
        .end(|rig, _| {
            let tripped = rig.phase();
            if tripped == Phase::Closed {
                assert_eq!(rig.failures_to_trip(), 1, "the newest failure counts");
            }
            tripped
        })
        .exactly([Phase::Closed, Phase::Open]);
}
for_each_window!(a_failure_that_stalls_over_two_turns: failures; as shipped time);

/// After two turns the reading that it stalled with would stand for a time that is still to come. Once that has come,
/// neither its failure nor the other ones are young.
fn a_stalled_failure_is_no_younger_than_its_end<W: Window<Settings = Config> + Send + Sync + 'static>(
    window: fn(u32) -> W,
) {
    const EARLY_MS: u64 = 10 * WITHIN_MS;
    stalls_over_two_turns(window, 4, EARLY_MS)
        .end(|rig, _| {
            rig.at(2 * HALF_MS + EARLY_MS);
            rig.failures_to_trip()
        })
        .exactly([4]);
}
for_each_window!(a_stalled_failure_is_no_younger_than_its_end: failures; as shipped time);

/// Who reads the window beside the first call of another turn takes no failure of the last one for a young
/// one.
fn a_reader_finds_the_words_emptied<W: Window<Settings = Config> + Send + Sync + 'static>(
    window: fn(u32) -> W,
) {
    model(BOUND, move || {
        let rig = Rig::new(window(4), config());
        rig.fail();
        rig.fail();
        rig.with_tokens(1).when_it_is(LATER_MS)
    })
    .threads([
        |rig| {
            rig.record(0, Outcome::Failure);
            0
        },
        |rig| match rig.breaker.evidence().failed {
            Some(Measured::Count { bad, .. }) => bad.into(),
            Some(Measured::Rate { bad, .. }) => bad,
            other => panic!("{other:?} is no count"),
        },
    ])
    .end(|_, [_, seen]| seen)
    .exactly([0, 1]);
}
for_each_window!(a_reader_finds_the_words_emptied: failures time);
