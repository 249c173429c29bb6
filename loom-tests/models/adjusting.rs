//! Settings that are replaced while calls go on: [`Adjustable`] and `Breaker::adjust`.
//!
//! * Promise 3, no lost trip: once as many failures have been recorded as the larger of both
//!   thresholds, it is open. (A failure that is recorded while the threshold falls may be judged by
//!   the old one; the next one then trips.)
//! * Promise 4, no early trip: fewer failures than the smaller of both thresholds never trip it.
//! * Where calls have to move, because the words are laid out anew, each outcome that is recorded in
//!   that moment counts once or not at all; never as several, or as one of the other kind.
//! * Promise 8: nobody waits for anybody. Of two who adjust at once one may be refused, and the rule
//!   and the configuration that stay are those of the same one.

use nanobreaker_core::window::{Adjustable, AnyWindow};
use nanobreaker_core::{Outcome, Phase, Recorded};

use crate::explore::{Reached, WIDELY, model};
use crate::rig::{Rig, at, config};
use crate::windows::{SHORT, TALLIED, WITHIN_MS};

pub(crate) type Any = AnyWindow<4>;
type Adjusted = Rig<Adjustable<Any>>;

/// Late enough that no window's word looks like another kind's by chance.
const START_MS: u64 = 5 * WITHIN_MS;

/// A breaker, and the window whose rule it is about to take over.
struct Setup {
    rig: Adjusted,
    new: fn() -> Any,
}

impl Setup {
    /// Closed, with one failure in its window and a permit.
    fn new(old: fn() -> Any, new: fn() -> Any) -> Self {
        at(START_MS);
        let rig = Rig::new(Adjustable::new(old()), config());
        rig.fail();
        Self {
            rig: rig.with_tokens(1),
            new,
        }
    }

    fn adjust(&self) -> bool {
        at(START_MS);
        let config = config().build().expect("a valid configuration");
        self.rig.breaker.adjust(&(self.new)(), config)
    }

    fn record(&self, outcome: Outcome) -> Recorded {
        at(START_MS);
        self.rig.breaker.record(self.rig.tokens[0], outcome)
    }

    /// How many more failures it takes.
    fn failures_to_trip(&self) -> u32 {
        at(START_MS);
        let mut failures = 0;
        while self.rig.phase() == Phase::Closed {
            failures += 1;
            assert!(failures <= SHORT, "a lost trip");
            self.rig.fail();
        }
        assert_eq!(self.rig.causes().len(), 1, "one trip is one transition");
        failures
    }
}

/// A failure, or a success, while the rule is replaced; and how many more failures trip.
fn beside(old: fn() -> Any, new: fn() -> Any, outcome: Outcome) -> Reached<(Recorded, u32)> {
    let act: fn(&Setup) -> Recorded = match outcome {
        Outcome::Success => |setup| setup.record(Outcome::Success),
        _ => |setup| setup.record(Outcome::Failure),
    };
    model(WIDELY, move || Setup::new(old, new))
        .threads([
            |setup: &Setup| {
                assert!(setup.adjust(), "nobody else adjusts");
                Recorded::Ignored
            },
            act,
        ])
        .end(|setup, [_, recorded]| (recorded, setup.failures_to_trip()))
}

fn failures(threshold: u32) -> Any {
    Any::failures(threshold, WITHIN_MS).unwrap()
}

fn consecutive(threshold: u32) -> Any {
    Any::consecutive(threshold).unwrap()
}

fn history(threshold: u32) -> Any {
    Any::calls(SHORT, 100, threshold).unwrap()
}

fn tally(threshold: u32) -> Any {
    Any::calls(TALLIED, 100, threshold).unwrap()
}

fn time(threshold: u32) -> Any {
    Any::time(WITHIN_MS, 2, 100, threshold).unwrap()
}

fn longer_time(threshold: u32) -> Any {
    Any::time(2 * WITHIN_MS, 2, 100, threshold).unwrap()
}

/// A test for each kind of window.
macro_rules! for_each_kind {
    ($model:ident: $($kind:ident)+) => {
        mod $model {
            $(#[test]
            fn $kind() {
                super::$model(|| super::$kind(2), || super::$kind(3));
            })+
        }
    };
}

/// From three to two. One failure is there, and one comes: whichever rule judges it, the next trips.
fn a_threshold_falls(two: fn() -> Any, three: fn() -> Any) {
    beside(three, two, Outcome::Failure).exactly([(Recorded::Counted, 0), (Recorded::Counted, 1)]);
}
for_each_kind!(a_threshold_falls: failures consecutive history tally time);

/// From two to three. One failure is there, and one comes: it trips, or the one after it.
fn a_threshold_rises(two: fn() -> Any, three: fn() -> Any) {
    beside(two, three, Outcome::Failure).exactly([(Recorded::Counted, 0), (Recorded::Counted, 1)]);
}
for_each_kind!(a_threshold_rises: failures consecutive history tally time);

/// Counted, or not: by how many failures more it then trips.
type Counts = [(Recorded, u32); 3];

/// The failure that was there moved along.
const MOVED: Counts = [
    (Recorded::Counted, 1),
    (Recorded::Counted, 2),
    (Recorded::Stale, 2),
];
/// A window of another kind started empty.
const EMPTY: Counts = [
    (Recorded::Counted, 2),
    (Recorded::Counted, 3),
    (Recorded::Stale, 3),
];

/// The words are laid out anew while a failure is recorded.
macro_rules! for_each_layout {
    ($($name:ident: $old:ident to $new:ident, $expected:expr;)+) => {
        mod words_are_laid_out_anew {
            use super::*;

            $(#[test]
            fn $name() {
                beside(|| $old(3), || $new(3), Outcome::Failure).exactly($expected);
            })+
        }
    };
}

for_each_layout! {
    for_failures_after_consecutive: consecutive to failures, EMPTY;
    for_consecutive_after_failures: failures to consecutive, EMPTY;
    for_consecutive_after_calls: history to consecutive, EMPTY;
    for_calls_after_failures: failures to history, EMPTY;
    for_calls_after_time: time to history, EMPTY;
    for_time_after_calls: history to time, EMPTY;
    for_more_calls: history to tally, MOVED;
    for_a_longer_time: time to longer_time, MOVED;
    for_a_shorter_time: longer_time to time, MOVED;
}

/// A tally is entered in steps: a call that has its place but not yet its outcome moves as a success,
/// and one whose outcome moved may be answered `Stale`. The window of more than fifty calls becomes
/// one of eight here, where such a success weighs most: it takes eight failures to push it out.
#[test]
fn a_call_that_is_half_in_a_tally_moves_as_a_success() {
    let recorded = [Recorded::Counted, Recorded::Stale];
    let [counted, stale] = recorded.map(|recorded| [1, 2, SHORT].map(|more| (recorded, more)));
    beside(|| tally(3), || history(3), Outcome::Failure).exactly([
        counted[0], counted[1], counted[2], stale[0], stale[1], stale[2],
    ]);
}

/// Where calls were counted in time a success has a word of its own, which then counts failures.
#[test]
fn a_success_is_no_failure_by_another_rule() {
    beside(|| time(3), || consecutive(3), Outcome::Success)
        .exactly([(Recorded::Counted, 3), (Recorded::Stale, 3)]);
}

/// A success by the rule of before does not end a row among words that are no longer counts: the
/// failure that came after the adjusting stays.
#[test]
fn a_stalled_success_wipes_nothing() {
    model(WIDELY, || Setup::new(|| consecutive(3), || failures(3)))
        .threads([
            |setup: &Setup| {
                assert!(setup.adjust(), "nobody else adjusts");
                setup.rig.fail()
            },
            |setup| Some(setup.record(Outcome::Success)),
        ])
        .end(|setup, recorded| (recorded, setup.failures_to_trip()))
        .exactly([([Some(Recorded::Counted); 2], 2)]);
}
