//! Settings that are replaced while calls go on: `Breaker::adjust`.
//!
//! An adjustment takes effect in one exchange. So beside every other move of the breaker there are two
//! courses only: the adjustment first, or the move first. What is compared is everything that a user sees: answers, phase, generation, streak, time left, probes,
//! transitions told, settings in force, and how many failures it then takes to trip.
//!
//! * Promise 3, no lost trip, and promise 4, no early trip: by the rule that is in force.
//! * Promise 5: an outcome that was under way is stale, and counts in no window.
//! * Promise 8: nobody waits for anybody. Of two who adjust at once one may be refused.

use nanobreaker_core::{Cause, Outcome, Phase, Rate, Recorded, Rejected, Settings, Snapshot, WindowSettings};

use crate::explore::{Actor, Bound, model};
use crate::orders::one_after_the_other;
use crate::rig::{Adjusted, LEASE_MS, OPEN_MS, RAMP_MS, config, in_a_row};
use crate::windows::{SHORT, TALLIED};

/// What another thread's move answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Answer {
    Adjusted(bool),
    Recorded(Recorded),
    /// Whether it is a probe, or how long to wait.
    Admitted(Result<bool, Option<u32>>),
    Changed(bool),
    Seen(Phase, u16),
    Limits([u32; 2]),
    Open(u32),
    Done,
}

fn admitted(permit: Result<nanobreaker_core::Token, Rejected>) -> Answer {
    Answer::Admitted(match permit {
        Ok(token) => Ok(token.is_probe()),
        Err(rejected) => Err(rejected.retry_after_ms()),
    })
}

/// Shorter than what is left of an open time.
const SHORTER_MS: u64 = 50;

/// The settings that take the place of the old ones.
fn new() -> Settings {
    Settings {
        slow_after_ms: Some(7),
        hung_after_ms: Some(9),
        ..in_a_row(3, config().open_for_ms(SHORTER_MS).ramp_ms(RAMP_MS))
    }
}

/// The settings that are in force at first: one failure trips.
fn old() -> Settings {
    Settings { slow_after_ms: Some(3), hung_after_ms: Some(5), ..in_a_row(1, config().ramp_ms(2 * RAMP_MS)) }
}

fn adjust(rig: &Adjusted) -> Answer {
    Answer::Adjusted(rig.adjust(&new()))
}

/// All that can be seen afterwards.
type Outlook = ([Answer; 2], Snapshot, Vec<Cause>, [u32; 2], u32);

fn outlook(rig: &Adjusted, answers: [Answer; 2]) -> Outlook {
    let (snapshot, causes) = (rig.breaker.snapshot(), rig.causes());
    let limits = rig.breaker.limits_ms();
    rig.breaker.shadow(false);
    if snapshot.phase == Phase::Isolated {
        rig.breaker.reset();
    }
    let failures = rig.failures_to_trip();
    rig.is_not_wedged();
    (answers, snapshot, causes, limits, failures)
}

/// `moves` beside an adjustment: one after the other in either order, and nothing else.
fn beside(setup: fn() -> Adjusted, moves: Actor<Adjusted, Answer>) {
    one_after_the_other(setup, [adjust, moves], outlook, []);
}

fn closed() -> Adjusted {
    Adjusted::adjustable(&old()).with_tokens(1)
}

/// Open since time 0, and it is a little before the old open time ends.
fn open() -> Adjusted {
    Adjusted::adjustable(&old()).opened().when_it_is(OPEN_MS - 100)
}

fn due() -> Adjusted {
    open().when_it_is(OPEN_MS)
}

fn probing() -> Adjusted {
    Adjusted::adjustable(&old()).half_opened(1)
}

fn recovering() -> Adjusted {
    Adjusted::adjustable(&old()).recovering()
}

fn fail(rig: &Adjusted) -> Answer {
    Answer::Recorded(rig.record(0, Outcome::Failure))
}

fn call(rig: &Adjusted) -> Answer {
    admitted(rig.breaker.allow_token())
}

#[test]
fn a_trip() {
    // A trip is two steps, the verdict and the move. An adjustment in between makes the second one
    // stale, as any end of the generation does; the answer says that the outcome was judged.
    one_after_the_other(
        closed,
        [adjust, fail],
        outlook,
        [|first, _| {
            let mut between = first.clone();
            between.0[1] = Answer::Recorded(Recorded::Counted);
            between
        }],
    );
}

#[test]
fn the_grant_of_a_probe() {
    beside(due, call);
}

#[test]
fn a_rejection_decided_by_the_open_time() {
    beside(open, call);
}

#[test]
fn a_verdict_of_a_round() {
    beside(probing, |rig| Answer::Recorded(rig.leave(rig.tokens[0], Outcome::Success)));
}

#[test]
fn a_probe_that_fails() {
    beside(probing, fail);
}

#[test]
fn a_probe_that_is_given_up() {
    beside(probing, |rig| Answer::Recorded(rig.record(0, Outcome::Cancelled)));
}

#[test]
fn the_end_of_a_lease() {
    // Two steps: the round has failed, and then the call is rejected. In between the open time is cut.
    one_after_the_other(
        || probing().when_it_is(OPEN_MS + LEASE_MS),
        [adjust, call],
        outlook,
        [|_, last| {
            let mut between = last.clone();
            between.0[1] = Answer::Admitted(Err(Some(SHORTER_MS as u32)));
            between
        }],
    );
}

#[test]
fn the_end_of_a_ramp() {
    beside(|| recovering().when_it_is(OPEN_MS + 2 * RAMP_MS), call);
}

#[test]
fn a_reset() {
    beside(open, |rig| {
        rig.breaker.reset();
        Answer::Done
    });
}

#[test]
fn an_isolation() {
    beside(closed, |rig| Answer::Changed(rig.breaker.isolate()));
}

#[test]
fn a_shadow_switch() {
    beside(closed, |rig| {
        rig.breaker.shadow(true);
        Answer::Done
    });
}

#[test]
fn advice() {
    beside(closed, |rig| Answer::Changed(rig.breaker.advise_ms(1_600)));
}

#[test]
fn an_open_time_that_is_asked_for() {
    beside(open, |rig| Answer::Changed(rig.breaker.trip_for_ms(1_600)));
}

#[test]
fn a_recovery() {
    beside(open, |rig| Answer::Changed(rig.breaker.recover()));
}

#[test]
fn a_snapshot() {
    beside(open, |rig| {
        let snapshot = rig.breaker.snapshot();
        Answer::Seen(snapshot.phase, snapshot.generation)
    });
}

#[test]
fn the_limits_of_calls() {
    beside(closed, |rig| Answer::Limits(rig.breaker.limits_ms()));
}

#[test]
fn the_configuration() {
    beside(closed, |rig| {
        let config = rig.breaker.config();
        let [old, new] = [old(), new()].map(|settings| settings.opening.build().unwrap());
        assert!(config == old || config == new, "torn: {config:?}");
        Answer::Open(config.open_for_ms())
    });
}

/// A reader that stalls while both cells are written anew reads neither of them half. As shipped only: what it
/// reads are plain loads in every build.
#[cfg(not(any(nanobreaker_first_read_writes, nanobreaker_weak_fails)))]
#[test]
fn a_configuration_is_read_whole_beside_two_adjustments() {
    let open_times = [1, 2, 3].map(|n| n * OPEN_MS);
    // Every number differs.
    fn nth(n: u32) -> Settings {
        let long = u64::from(n) * OPEN_MS;
        let opening = nanobreaker_core::Config::builder()
            .open_for_ms(long)
            .max_open_ms(long + 1)
            .relapse_within_ms(long + 2)
            .probe_lease_ms(long + 3)
            .ramp_ms(long + 4)
            .jitter_permille(n)
            .max_probes(n);
        in_a_row(n, opening)
    }
    // Bound: an adjustment makes twenty steps, and here are two.
    model(Bound::Preemptions(3), || Adjusted::adjustable(&nth(1)))
        .threads([
            |rig| {
                assert!(rig.adjust(&nth(2)));
                assert!(rig.adjust(&nth(3)));
                None
            },
            |rig: &Adjusted| Some(rig.breaker.config()),
        ])
        .end(|_, [_, config]| {
            let config = config.expect("one thread reads");
            let n = config.max_probes().into();
            assert_eq!(config, nth(n).opening.build().unwrap(), "torn");
            u64::from(config.open_for_ms())
        })
        .exactly(open_times);
}

/// Two adjust at once: one after the other, or one of them not at all. The settings that stay are all of
/// the same one.
#[test]
fn one_adjusts_at_a_time() {
    model(Bound::Exhaustive, || Adjusted::adjustable(&in_a_row(4, config())))
        .threads([|rig: &Adjusted| rig.adjust(&new()), |rig| rig.adjust(&old())])
        .end(|rig, adjusted| {
            let is_old = rig.breaker.config().open_for_ms() == 1_000;
            let expected = if is_old { old() } else { new() };
            assert_eq!(rig.breaker.config(), expected.opening.build().unwrap());
            assert_eq!(rig.failures_to_trip(), if is_old { 1 } else { 3 });
            let generations = rig.breaker.snapshot().generation;
            let adjustments: u16 = adjusted.map(u16::from).iter().sum();
            assert_eq!(generations, adjustments + 1, "each and the trip is a step");
            (adjusted, is_old)
        })
        .exactly([
            ([true, false], false),
            ([false, true], true),
            ([true, true], false),
            ([true, true], true),
        ]);
}

/// Who puts settings in force that are in force already changes nothing, whoever else adjusts.
#[test]
fn the_same_settings_change_nothing() {
    model(Bound::Exhaustive, closed)
        .threads([|rig: &Adjusted| rig.adjust(&new()), |rig| rig.adjust(&new())])
        .end(|rig, adjusted| {
            assert_eq!(rig.breaker.snapshot().generation, 1, "one adjustment");
            assert_eq!(rig.failures_to_trip(), 3);
            adjusted
        })
        .exactly([[true, true], [true, false], [false, true]]);
}

/// A call of the generation that begins counts by the rule that is in force in it: it is neither lost nor
/// judged by what the cell held before. Here every success counts, since of three calls two must fail.
#[test]
fn a_call_of_the_new_generation_counts_by_the_new_rule() {
    fn of_three() -> Settings {
        let rate = Rate::percent(60).min_calls(3);
        let window = WindowSettings::Calls { size: SHORT, rate };
        Settings { window, ..Settings::DEFAULT }
    }
    model(Bound::Exhaustive, || {
        let window = WindowSettings::Failures { threshold: 4, within_ms: 1_000 };
        Adjusted::adjustable(&Settings { window, ..Settings::DEFAULT })
    })
    .threads([
        |rig: &Adjusted| {
            assert!(rig.adjust(&of_three()));
            (0, Recorded::Ignored)
        },
        |rig| {
            let token = rig.token();
            let recorded = rig.breaker.record(token, Outcome::Success);
            (token.generation(), recorded)
        },
    ])
    .end(|rig, [_, call]| (call, rig.failures_to_trip()))
    .exactly([((0, Recorded::Counted), 3), ((0, Recorded::Stale), 3), ((1, Recorded::Counted), 2)]);
}

/// Every kind of window takes the place of every other while a failure is recorded by the old one: in the
/// new one there is nothing of it.
macro_rules! for_each_pair {
    ($($name:ident: $old:expr => $new:expr;)+) => {
        mod the_next_window_starts_empty {
            use super::*;

            $(#[test]
            fn $name() {
                starts_empty(|| with_window($old), || with_window($new));
            })+
        }
    };
}

fn with_window(window: WindowSettings) -> Settings {
    Settings { window, ..Settings::DEFAULT }
}

/// Three failures, and nothing but failures, within a second.
fn failures() -> WindowSettings {
    WindowSettings::Failures { threshold: 3, within_ms: 1_000 }
}

fn consecutive() -> WindowSettings {
    WindowSettings::Consecutive { threshold: 3 }
}

fn all_of(size: u32) -> WindowSettings {
    WindowSettings::Calls { size, rate: Rate::percent(100).min_calls(3) }
}

fn time() -> WindowSettings {
    WindowSettings::Time { span_ms: 1_000, buckets: 2, rate: Rate::percent(100).min_calls(3) }
}

fn cusum() -> WindowSettings {
    WindowSettings::Cusum(crate::windows::cusum_settings(3))
}

for_each_pair! {
    consecutive_after_failures: failures() => consecutive();
    failures_after_time: time() => failures();
    time_after_a_tally: all_of(TALLIED) => time();
    a_tally_after_consecutive: consecutive() => all_of(TALLIED);
    a_history_after_a_tally: all_of(TALLIED) => all_of(SHORT);
    cusum_after_a_history: all_of(SHORT) => cusum();
    failures_after_cusum: cusum() => failures();
}

fn starts_empty(before: fn() -> Settings, after: fn() -> Settings) {
    struct Setup(Adjusted, fn() -> Settings);
    model(Bound::Exhaustive, move || {
        let rig = Adjusted::adjustable(&before());
        rig.fail();
        Setup(rig.with_tokens(1), after)
    })
    .threads([
        |Setup(rig, after): &Setup| {
            assert!(rig.adjust(&after()));
            rig.fail()
        },
        |Setup(rig, _)| Some(rig.record(0, Outcome::Failure)),
    ])
    .end(|Setup(rig, _), [young, late]| {
        assert_eq!(young, Some(Recorded::Counted));
        assert_eq!(rig.failures_to_trip(), 2, "one failure is there");
        late
    })
    .exactly([Some(Recorded::Counted), Some(Recorded::Stale)]);
}

/// An adjuster that stops for ever at any step: everyone else goes on by the settings that are in force,
/// which are the old ones or the new ones. Who adjusts next is told that it is busy, for ever.
#[test]
fn an_adjuster_that_stops_harms_no_one_but_the_next_adjuster() {
    model(Bound::Exhaustive, closed)
        .threads([adjust, fail])
        .end_where_the_first_stops(|rig, [adjusted, failed]| {
            let failed = failed.expect("it goes on");
            let in_force = rig.breaker.config();
            let is_new = in_force == new().opening.build().unwrap();
            assert!(is_new || in_force == old().opening.build().unwrap(), "torn");
            let limits = if is_new { [7, 9] } else { [3, 5] };
            assert_eq!(rig.breaker.limits_ms(), limits);
            let tripped = rig.phase() == Phase::Open;
            let failures = rig.failures_to_trip();
            if !tripped {
                assert_eq!(failures, if is_new { 3 } else { 1 });
            }
            rig.is_not_wedged();
            let next = rig.adjust(&in_a_row(2, config().open_for_ms(3 * OPEN_MS)));
            let again = rig.adjust(&in_a_row(2, config().open_for_ms(3 * OPEN_MS)));
            assert_eq!(next, again, "who is refused gives nobody's turn back");
            if next {
                assert_eq!(rig.failures_to_trip(), 2);
            }
            (adjusted.is_some(), is_new, failed, tripped, next)
        })
        .exactly(stopped_adjuster());
}

/// Whether it came to its end, whether the new settings are in force, what became of the failure, whether
/// that tripped, whether the next one could adjust.
fn stopped_adjuster() -> Vec<(bool, bool, Answer, bool, bool)> {
    let [counted, stale] = [Recorded::Counted, Recorded::Stale].map(Answer::Recorded);
    let mut reached = Vec::new();
    // Before it took its turn it harms nobody.
    reached.push((false, false, counted, true, true));
    // With the turn, before the flip.
    reached.push((false, false, counted, true, false));
    for (ended, next) in [(false, false), (true, true)] {
        // After the flip, and after the turn was given back. The failure came before, between its verdict
        // and its move, or after.
        reached.push((ended, true, counted, true, next));
        reached.push((ended, true, counted, false, next));
        reached.push((ended, true, stale, false, next));
    }
    reached
}

/// What is left of the open time is carried over in milliseconds also where a reader comes between the
/// flip and the anchor of its time, and where the units differ.
#[test]
fn an_open_time_in_other_units_ends_when_it_did() {
    const UPTIME_MS: u64 = 100_000;
    model(Bound::Exhaustive, || {
        let rig = Adjusted::adjustable(&in_a_row(1, config()));
        rig.at(UPTIME_MS);
        rig.opened()
    })
    .threads([
        |rig: &Adjusted| {
            assert!(rig.adjust(&in_a_row(1, config().open_for_ms(60_000))));
            None
        },
        |rig| {
            let rejected = rig.breaker.allow_token().unwrap_err();
            rejected.retry_after_ms()
        },
    ])
    .end(|rig, [_, waits]| {
        // Up to a unit of the new open time late where words are narrow, and never early.
        let unit = if cfg!(nanobreaker_narrow) { 16 } else { 1 };
        let waits = waits.expect("it is told how long");
        assert!((1_000..1_000 + unit).contains(&waits), "{waits}");
        rig.at(UPTIME_MS + OPEN_MS - 1);
        assert!(rig.breaker.allow_token().is_err(), "open for too short");
        rig.at(UPTIME_MS + OPEN_MS + u64::from(unit) - 1);
        assert!(rig.breaker.allow_token().is_ok(), "open for too long");
    })
    .exactly([()]);
}
