use nanobreaker::{Cause, Outcome, PartialSettings};
use proptest::prelude::*;

use super::*;
use crate::configuration::Configuration;
use crate::reading::Call;

const SECOND: i64 = 1_000_000;
const T: i64 = 1_767_225_600 * SECOND;

fn call(start_ms: i64, duration_ms: i64, outcome: Outcome) -> Call {
    Call { start_us: T + start_ms * 1_000, end_us: T + (start_ms + duration_ms) * 1_000, key: 0, outcome }
}

fn played(toml: &str, calls: &[Call]) -> Played {
    let settings: PartialSettings = toml::from_str(toml).unwrap();
    let mut player = Player::new(Configuration::One(settings));
    player.draw();
    let keys = Keys::new(0);
    let mut schedule = Schedule::default();
    let mut events = Vec::new();
    for some in calls.chunks(100) {
        schedule.take(some, &mut events);
    }
    schedule.finish(&mut events);
    // In two parts, as a long log would come.
    let (first, second) = events.split_at(events.len() / 2);
    player.play(first, &keys).unwrap();
    player.play(second, &keys).unwrap();
    player.finish()
}

const THREE_IN_A_ROW: &str = "open_for = '1s'\nmax_open = '1s'\nprobe_successes = 1\nprobe_lease = '1s'\n[window]\nkind = 'consecutive'\nthreshold = 3";

/// A call every 100 ms that takes 50; those from 1 s to 4 s fail.
fn outage() -> Vec<Call> {
    (0..100)
        .map(|number| {
            let fails = (10..40).contains(&number);
            let outcome = if fails { Outcome::Failure } else { Outcome::Success };
            call(number * 100, 50, outcome)
        })
        .collect()
}

#[test]
fn an_outage_is_told_with_its_trip_its_probes_and_its_recovery() {
    let played = played(THREE_IN_A_ROW, &outage());
    // The third failure began at 1.2 s and ended at 1.25 s: open till 2.25 s. Probes at 2.3 s (fails at
    // 2.35), 3.4 s (fails at 3.45) and 4.5 s (succeeds at 4.55).
    let trip = &played.trips[0];
    assert_eq!(played.trips.len(), 1);
    assert_eq!(trip.at_us, T + 1_250_000);
    assert_eq!(trip.cause, Cause::ThresholdReached);
    assert_eq!(trip.detection_delay_us, Some(250_000));
    assert_eq!(trip.reopenings, 2);
    assert_eq!(trip.recovered_at_us, Some(T + 4_550_000));
    let tally = played.tally;
    // Failed: 30, of which 3 tripped and 2 were probes. Lost: those at 4.0 to 4.4 s.
    assert_eq!((tally.calls, tally.failed), (100, 30));
    assert_eq!((tally.saved, tally.lost), (25, 5));
    assert_eq!(tally.saved_us, 25 * 50_000);
    assert_eq!((tally.trips, tally.reopenings), (1, 2));
    assert_eq!(tally.not_closed_us, 3_300_000);
    assert_eq!((trip.saved, trip.lost), (25, 5));
}

#[test]
fn a_failure_counts_when_it_ends() {
    // Three calls that hang for 5 s, and meanwhile good ones: nothing is known until they end.
    let mut calls: Vec<_> = (0..3).map(|n| call(n * 100, 5_000, Outcome::Failure)).collect();
    calls.extend((3..49).map(|n| call(n * 100, 10, Outcome::Success)));
    let early = played(THREE_IN_A_ROW, &calls);
    assert_eq!(early.trips[0].at_us, T + 5_200_000);
    assert_eq!(early.trips[0].detection_delay_us, Some(5_200_000));
    assert_eq!(early.tally.rejected, 0);
}

#[test]
fn a_call_that_hangs_is_judged_as_soon_as_it_does() {
    let hung: Vec<_> = (0..3).map(|n| call(n * 100, 5_000, Outcome::Failure)).collect();
    let toml = format!("hung_after = '1s'\n{THREE_IN_A_ROW}");
    let played = played(&toml, &hung);
    assert_eq!(played.trips[0].at_us, T + 1_200_000);
    assert_eq!(played.trips[0].detection_delay_us, Some(1_200_000));
}

#[test]
fn workers_that_saved_calls_would_have_held_at_once_are_counted() {
    let mut calls: Vec<_> = (0..3).map(|n| call(n, 1, Outcome::Failure)).collect();
    calls.extend((0..7).map(|n| call(100 + n, 500, Outcome::Failure)));
    calls.push(call(800, 500, Outcome::Failure));
    let tally = played(THREE_IN_A_ROW, &calls).tally;
    assert_eq!((tally.saved, tally.workers_freed_at_once), (8, 7));
    assert_eq!(tally.longest_saved_us, 500_000);
}

#[test]
fn slow_calls_trip_without_any_failure() {
    let toml = "open_for = '10s'\nprobe_successes = 1\nslow_after = '1s'\n[window]\nkind = 'calls'\nsize = 4\nslow_rate_percent = 50";
    let calls: Vec<_> = (0..8).map(|n| call(n * 2_000, 1_500, Outcome::Success)).collect();
    let played = played(toml, &calls);
    assert_eq!(played.trips[0].detection_delay_us, None);
    let tally = played.tally;
    assert_eq!(tally.slow, 8);
    // Whoever is spared a slow call has lost nothing.
    assert_eq!((tally.saved, tally.saved_slow, tally.lost), (4, 4, 0));
}

#[test]
fn a_breaker_that_is_open_at_the_end_of_the_log_has_not_recovered() {
    let calls: Vec<_> = (0..9).map(|n| call(n * 100, 50, Outcome::Failure)).collect();
    let played = played(THREE_IN_A_ROW, &calls);
    assert_eq!(played.trips[0].recovered_at_us, None);
    assert_eq!(played.tally.not_closed_us, 600_000);
}

#[test]
fn each_key_has_its_own_breaker() {
    let mut calls = Vec::new();
    for number in 0..6 {
        calls.push(call(number * 100, 50, Outcome::Failure));
        let other = call(number * 100, 50, Outcome::Success);
        calls.push(Call { key: 1, ..other });
    }
    let tally = played(THREE_IN_A_ROW, &calls).tally;
    assert_eq!((tally.trips, tally.saved, tally.lost), (1, 3, 0));
}

#[test]
fn a_latched_breaker_stays_as_it_is() {
    let played = played(&format!("latch = true\n{THREE_IN_A_ROW}"), &outage());
    assert_eq!(played.tally.saved, 27);
    assert_eq!(played.tally.lost, 60);
    assert_eq!(played.trips[0].recovered_at_us, None);
}

/// What "K failures in a row open it for a while, then one probe decides" means, written down anew
/// for calls that don't overlap.
fn model(calls: &[Call], threshold: u32, open_us: i64) -> (u64, u64) {
    let (mut row, mut open_until, mut saved, mut lost) = (0, None, 0, 0);
    for call in calls {
        let is_probe = match open_until {
            // The breaker's clock shows whole milliseconds.
            Some(until) if call.start_us / 1_000 * 1_000 < until => {
                saved += u64::from(call.failed());
                lost += u64::from(!call.failed());
                continue;
            }
            until => until.is_some(),
        };
        if !call.failed() {
            (row, open_until) = (0, None);
        } else {
            row += 1;
            if is_probe || row >= threshold {
                open_until = Some(call.end_us / 1_000 * 1_000 + open_us);
                row = 0;
            }
        }
    }
    (saved, lost)
}

proptest! {
    #[test]
    fn calls_that_do_not_overlap_are_saved_and_lost_as_a_simple_model_says(
        calls in proptest::collection::vec((0..3_000i64, 1..2_000i64, prop::bool::weighted(0.6)), 0..300),
    ) {
        let mut at_ms = 0;
        let calls: Vec<_> = calls
            .into_iter()
            .map(|(pause, duration, failed)| {
                at_ms += pause;
                let outcome = if failed { Outcome::Failure } else { Outcome::Success };
                let call = call(at_ms, duration, outcome);
                at_ms += duration + 1;
                call
            })
            .collect();
        let tally = played(THREE_IN_A_ROW, &calls).tally;
        prop_assert_eq!((tally.saved, tally.lost), model(&calls, 3, SECOND));
    }

    #[test]
    fn every_call_is_counted_once(
        mut calls in proptest::collection::vec((0..20_000i64, 0..4_000i64, 0..4u8, 0..3u32), 0..300),
        kind in prop::sample::select(vec!["failures", "consecutive", "calls", "time"]),
        // Before and after the epoch, and as far from it as a log can say.
        origin_us in prop::sample::select(vec![0, -T - 10 * SECOND, -T, 250_000_000_000_000_000 - T]),
    ) {
        calls.sort_unstable();
        let calls: Vec<_> = calls
            .into_iter()
            .map(|(start, duration, outcome, key)| {
                let outcomes = [Outcome::Success, Outcome::Failure, Outcome::Ignored, Outcome::Cancelled];
                let call = call(start, duration, outcomes[usize::from(outcome)]);
                Call {
                    key,
                    start_us: call.start_us + origin_us,
                    end_us: call.end_us + origin_us,
                    ..call
                }
            })
            .collect();
        let toml = format!("open_for = '500ms'\nhung_after = '3s'\nramp = '1s'\nwindow.kind = '{kind}'");
        let played = played(&toml, &calls);
        let tally = played.tally;
        prop_assert_eq!(tally.calls, calls.len() as u64);
        prop_assert_eq!(tally.failed + tally.succeeded + tally.uncounted, tally.calls);
        prop_assert!(tally.saved <= tally.failed && tally.lost <= tally.succeeded);
        prop_assert!(tally.saved + tally.lost <= tally.rejected);
        let by_key: u64 = played.by_key.iter().flatten().map(|tally| tally.calls).sum();
        prop_assert_eq!(by_key, tally.calls);
        let in_trips: u64 = played.trips.iter().map(|trip| trip.saved).sum();
        prop_assert_eq!(in_trips, tally.saved);
        let bins: u64 = played.histogram.unwrap().bins().iter().map(Bin::total).sum();
        prop_assert_eq!(bins, tally.calls);
    }
}

/// Calls one after another, in turns of these outcomes and lengths.
fn in_turn(kinds: &[(Outcome, i64)]) -> Vec<Call> {
    let kinds = kinds.iter().cycle().take(200);
    (0..).zip(kinds).map(|(number, (outcome, took_ms))| call(number * 5_000, *took_ms, *outcome)).collect()
}

#[test]
fn a_percentile_has_the_limit_of_the_slow_calls_that_it_judges() {
    let calls = in_turn(&[(Outcome::Success, 20), (Outcome::Success, 700)]);
    let window = "[window]\nkind = 'calls'\nsize = 20\nmin_calls = 20\n";
    let percentile = played(&format!("{window}p95 = '500ms'"), &calls);
    let rate = played(&format!("slow_after = '500ms'\n{window}slow_rate = '5.0001%'"), &calls);
    assert_eq!(percentile.trips[0].cause, Cause::SlowThresholdReached);
    assert_eq!(percentile.tally, rate.tally);
}

#[test]
fn a_slow_failure_counts_in_both_rates() {
    // Two in five time out, two are slow: neither rate is a half unless the timeouts are slow, too.
    let (slow, timeout, fine) =
        ((Outcome::Success, 1_200), (Outcome::Failure, 2_000), (Outcome::Success, 20));
    let calls = in_turn(&[slow, timeout, fine, timeout, slow]);
    let toml = "slow_after = '1s'\n[window]\nkind = 'calls'\nsize = 20\nslow_rate = '50%'";
    assert_eq!(played(toml, &calls).trips[0].cause, Cause::SlowThresholdReached);
    let hung = format!("hung_after = '1500ms'\n{toml}");
    assert_eq!(played(&hung, &calls).trips[0].cause, Cause::SlowThresholdReached);
    // A caller that gives up on a slow call says as much.
    let calls = in_turn(&[(Outcome::Cancelled, 1_200)]);
    assert_eq!(played(toml, &calls).trips[0].cause, Cause::SlowThresholdReached);
    assert_eq!(played(toml, &in_turn(&[(Outcome::Cancelled, 900)])).tally.trips, 0);
}
