//! Stories of a breaker's life, told with a clock that goes only when told to.
//!
//! Open times are short, so that they are exact to the millisecond where words are 32 bits wide.

use crate::settings::{CusumSettings, Rate, WindowSettings};
use crate::window::{AnyWindow, Calls, Consecutive, Cusum, Failures, Time, Window, WithSlow, calls_words};
use crate::{Breaker, Clock, Config, ConfigBuilder, ManualClock, Observer, Outcome, Phase, Recorded};

type Tested<W> = Breaker<W, ManualClock>;

fn with<W: Window<Settings = Config>>(window: W, config: ConfigBuilder) -> Tested<W> {
    Breaker::new(window, config.build().unwrap(), ManualClock::new(0))
}

/// Open for 100 ms, with leases of 50 ms.
fn config() -> ConfigBuilder {
    Config::builder().open_for_ms(100).probe_lease_ms(50)
}

/// Trips on its first failure.
fn fragile(config: ConfigBuilder) -> Tested<Consecutive> {
    with(Consecutive::new(1).unwrap(), config)
}

/// Four failures in a row trip.
const CUSUM: CusumSettings = CusumSettings {
    normal_ppm: 2_000,
    broken_ppm: 200_000,
    calls_per_false_trip: 10_000_000,
    sustained_for_ms: 0,
};

fn fail<W: Window, C: Clock, O: Observer>(breaker: &Breaker<W, C, O>) {
    breaker.allow().unwrap().failure();
}

fn succeed<W: Window, C: Clock, O: Observer>(breaker: &Breaker<W, C, O>) {
    breaker.allow().unwrap().success();
}

fn phase<W: Window, C: Clock, O: Observer>(breaker: &Breaker<W, C, O>) -> Phase {
    breaker.snapshot().phase
}

fn retry_after(breaker: &Tested<Consecutive>) -> Option<u32> {
    breaker.allow().unwrap_err().retry_after_ms()
}

/// A breaker that has tripped and waited: the next call is a probe.
fn ready_to_probe(config: ConfigBuilder) -> Tested<Consecutive> {
    let breaker = fragile(config);
    fail(&breaker);
    breaker.clock().advance(100);
    breaker
}

mod open {
    use super::*;

    #[test]
    fn rejects_until_the_last_millisecond_and_says_how_long() {
        let breaker = fragile(config());
        fail(&breaker);
        assert_eq!(retry_after(&breaker), Some(100));
        breaker.clock().advance(99);
        assert_eq!(retry_after(&breaker), Some(1));
        breaker.clock().advance(1);
        assert!(breaker.allow().unwrap().is_probe());
    }

    #[test]
    fn is_still_over_after_a_month_without_a_call() {
        let breaker = fragile(config());
        fail(&breaker);
        breaker.clock().advance(30 * 24 * 3_600_000 + 17);
        assert!(breaker.snapshot().ready_to_probe());
        assert!(breaker.allow().unwrap().is_probe());
    }

    #[test]
    fn lasts_at_most_one_open_time_more_after_the_clock_was_set_back() {
        for back in [1, 50, 100, 150, 500, 5_000] {
            let breaker = fragile(config());
            breaker.clock().set(10_000);
            fail(&breaker);
            breaker.clock().set(10_000 - back);
            if let Err(rejected) = breaker.allow() {
                assert!(rejected.retry_after_ms() <= Some(100), "set back by {back}");
                breaker.clock().advance(100);
                assert!(breaker.allow().is_ok(), "set back by {back}");
            }
        }
    }

    #[test]
    fn a_rejection_writes_nothing() {
        let breaker = fragile(config());
        fail(&breaker);
        for _ in 0..99 {
            breaker.clock().advance(1);
            let before = format!("{breaker:?}");
            assert!(breaker.allow().is_err());
            assert_eq!(format!("{breaker:?}"), before);
        }
    }

    #[test]
    fn a_rejection_by_an_operator_or_for_want_of_places_writes_nothing() {
        let isolated = fragile(config());
        isolated.isolate();
        let full = ready_to_probe(config());
        let _probe = full.allow_token().unwrap();
        for breaker in [isolated, full] {
            let before = format!("{breaker:?}");
            assert!(breaker.allow().is_err());
            assert_eq!(format!("{breaker:?}"), before);
        }
    }

    #[test]
    fn late_outcomes_change_nothing() {
        let breaker = fragile(config());
        let late = [Outcome::Success, Outcome::Failure, Outcome::Cancelled]
            .map(|outcome| (breaker.allow_token().unwrap(), outcome));
        fail(&breaker);
        let before = format!("{breaker:?}");
        for (token, outcome) in late {
            assert_eq!(breaker.record(token, outcome), Recorded::Stale);
        }
        assert_eq!(format!("{breaker:?}"), before);
    }

    #[test]
    fn a_streak_doubles_the_time_up_to_its_cap() {
        let breaker = fragile(config().max_open_ms(500));
        fail(&breaker);
        for open_for in [100, 200, 400, 500, 500] {
            assert_eq!(retry_after(&breaker), Some(open_for));
            breaker.clock().advance(open_for.into());
            fail(&breaker);
        }
    }

    #[test]
    fn a_trip_soon_after_closing_goes_on_with_the_streak() {
        for (healthy_for, streak) in [(0, 1), (100, 1), (101, 0)] {
            let breaker = ready_to_probe(config());
            succeed(&breaker);
            breaker.clock().advance(healthy_for);
            fail(&breaker);
            assert_eq!(breaker.snapshot().streak, streak, "after {healthy_for} ms");
        }
    }

    #[test]
    fn jitter_only_shortens_and_never_to_nothing() {
        for seed in 0..200 {
            let breaker = fragile(config().jitter_permille(500));
            breaker.seed(seed);
            fail(&breaker);
            let ms = retry_after(&breaker).unwrap();
            assert!((50..=100).contains(&ms), "{ms}");

            let shortest = fragile(config().open_for_ms(1).jitter_permille(1_000));
            shortest.seed(seed);
            fail(&shortest);
            assert_eq!(retry_after(&shortest), Some(1));
        }
    }

    #[test]
    fn jitter_differs_between_instances() {
        let times = (0..20).map(|seed| {
            let breaker = fragile(config().jitter_permille(500));
            breaker.seed(seed);
            fail(&breaker);
            retry_after(&breaker)
        });
        let mut times: Vec<_> = times.collect();
        times.sort_unstable();
        times.dedup();
        assert!(times.len() > 5, "{times:?}");
    }

    #[test]
    fn a_latched_breaker_waits_for_someone() {
        let breaker = fragile(config().latch(true));
        fail(&breaker);
        assert_eq!(phase(&breaker), Phase::Isolated);
        breaker.clock().advance(1_000_000_000);
        assert_eq!(retry_after(&breaker), None);
        breaker.reset();
        succeed(&breaker);
        assert_eq!(phase(&breaker), Phase::Closed);
    }
}

mod half_open {
    use super::*;

    #[test]
    fn admits_as_many_probes_as_configured() {
        let breaker = ready_to_probe(config().probe_lease_ms(8).max_probes(3));
        let probes = [(); 3].map(|()| breaker.allow().unwrap());
        assert!(probes.iter().all(crate::Permit::is_probe));
        assert_eq!(retry_after(&breaker), Some(8));
        assert_eq!(breaker.snapshot().in_flight, 3);
    }

    #[test]
    fn closes_after_enough_successes_one_at_a_time() {
        let breaker = ready_to_probe(config().probe_successes(3));
        for succeeded in 0..3 {
            assert_eq!(breaker.snapshot().succeeded, succeeded);
            breaker.clock().advance(49);
            succeed(&breaker);
        }
        assert_eq!(phase(&breaker), Phase::Closed);
    }

    #[test]
    fn opens_again_after_enough_failures() {
        let breaker = ready_to_probe(config().probe_failures(2).probe_successes(2));
        fail(&breaker);
        succeed(&breaker);
        assert_eq!(phase(&breaker), Phase::HalfOpen);
        fail(&breaker);
        assert_eq!(phase(&breaker), Phase::Open);
    }

    #[test]
    fn a_slow_probe_has_failed() {
        let breaker = ready_to_probe(config());
        breaker.allow().unwrap().slow();
        assert_eq!(phase(&breaker), Phase::Open);
    }

    #[test]
    fn a_dropped_probe_gives_its_place_to_the_next() {
        let breaker = ready_to_probe(config());
        drop(breaker.allow().unwrap());
        assert!(breaker.allow().unwrap().is_probe());
    }

    #[test]
    fn a_dependency_whose_probes_are_all_given_up_is_hung() {
        let breaker = ready_to_probe(config());
        let given_up = (0..).take_while(|_| breaker.allow().map(drop).is_ok());
        assert_eq!(given_up.count(), if crate::sync::WIDE { 8 } else { 4 });
        assert_eq!(phase(&breaker), Phase::Open);
    }

    #[test]
    fn a_leaked_probe_is_lost_when_its_lease_ends() {
        let breaker = ready_to_probe(config().probe_lease_ms(8));
        let _leaked = breaker.allow_token().unwrap();
        breaker.clock().advance(7);
        assert_eq!(retry_after(&breaker), Some(1));
        breaker.clock().advance(1);
        assert_eq!(retry_after(&breaker), Some(100));
        assert_eq!(phase(&breaker), Phase::Open);
        breaker.clock().advance(100);
        assert!(breaker.allow().unwrap().is_probe());
    }

    #[test]
    fn an_answer_of_one_probe_renews_the_lease_of_the_others() {
        let breaker = ready_to_probe(config().probe_lease_ms(8).max_probes(2).probe_successes(8));
        let _leaked = breaker.allow_token().unwrap();
        for _ in 0..7 {
            breaker.clock().advance(7);
            succeed(&breaker);
        }
        breaker.clock().advance(8);
        assert!(breaker.allow().is_err());
    }

    #[test]
    fn an_empty_round_has_no_lease_to_lose() {
        let breaker = ready_to_probe(config());
        breaker.allow().unwrap().ignore();
        breaker.clock().advance(5_000);
        assert!(breaker.allow().unwrap().is_probe());
        assert_eq!(phase(&breaker), Phase::HalfOpen);
    }

    #[test]
    fn a_success_after_the_round_failed_does_not_close() {
        let breaker = ready_to_probe(config().max_probes(2));
        let late = breaker.allow_token().unwrap();
        fail(&breaker);
        assert_eq!(breaker.record(late, Outcome::Success), Recorded::Stale);
        assert_eq!(phase(&breaker), Phase::Open);
    }

    #[test]
    fn a_probe_that_fails_after_the_round_succeeded_counts_like_any_call() {
        let breaker = ready_to_probe(config().max_probes(2));
        let late = breaker.allow_token().unwrap();
        succeed(&breaker);
        assert_eq!(phase(&breaker), Phase::Closed);
        assert_eq!(breaker.record(late, Outcome::Failure), Recorded::Counted);
        assert_eq!(phase(&breaker), Phase::Open);
    }

    #[test]
    fn a_token_spent_twice_does_not_underflow() {
        let breaker = ready_to_probe(config().probe_successes(2));
        let token = breaker.allow_token().unwrap();
        assert_eq!(breaker.record(token, Outcome::Success), Recorded::Counted);
        for outcome in [Outcome::Success, Outcome::Failure, Outcome::Cancelled] {
            assert_eq!(breaker.record(token, outcome), Recorded::Stale);
        }
        assert_eq!(breaker.snapshot().in_flight, 0);
        assert_eq!(phase(&breaker), Phase::HalfOpen);
    }

    #[test]
    fn a_coarse_lease_lets_a_call_through_at_every_millisecond() {
        // Over 2.3 hours (or 15 ms, where words are narrow) leases are counted in coarser units.
        for lease_ms in [10_000, 10_000_000, u64::from(Config::MAX_DURATION_MS)] {
            for now in 0..64 {
                let breaker = ready_to_probe(config().probe_lease_ms(lease_ms));
                breaker.clock().set(5_000 + now);
                let _probe = breaker.allow_token().unwrap();
                let left = u64::from(retry_after(&breaker).unwrap());
                assert!((lease_ms..=lease_ms + lease_ms / 8).contains(&left));
                breaker.clock().advance(left);
                assert_eq!(retry_after(&breaker), Some(100), "the probe is lost");
            }
        }
    }
}

mod times {
    use super::*;

    /// Powers of two milliseconds, among them the range of every field that holds a time.
    fn ranges() -> impl Iterator<Item = u64> {
        let clock = if crate::sync::WIDE { 42 } else { 32 };
        (5..clock).map(|bits| 1 << bits)
    }

    #[test]
    fn a_clock_may_start_anywhere() {
        for start in ranges().chain([1 << 32, 1 << 42, 1 << 43, 5 << 44, u64::MAX - 50]) {
            let breaker = fragile(config().probe_lease_ms(8));
            breaker.clock().set(start);
            fail(&breaker);
            assert_eq!(retry_after(&breaker), Some(100), "{start}");
            breaker.clock().advance(100);
            let _probe = breaker.allow_token().unwrap();
            assert_eq!(retry_after(&breaker), Some(8), "{start}");
        }
    }

    #[test]
    fn the_first_probe_into_an_empty_round_has_a_whole_lease_however_long_it_was_empty() {
        for idle in ranges() {
            let breaker = ready_to_probe(config().probe_lease_ms(8));
            breaker.allow().unwrap().ignore();
            breaker.clock().advance(idle);
            let _probe = breaker.allow_token().unwrap();
            assert_eq!(retry_after(&breaker), Some(8), "{idle}");
        }
    }

    #[test]
    fn an_open_time_can_be_asked_for_again_however_long_it_was_over() {
        for idle in ranges() {
            let breaker = fragile(config());
            assert!(breaker.trip_for_ms(100));
            breaker.clock().advance(idle);
            assert!(breaker.trip_for_ms(100));
            assert_eq!(retry_after(&breaker), Some(100), "{idle}");
        }
    }

    #[test]
    fn what_a_snapshot_shows_after_a_clock_was_set_back_is_what_a_call_finds() {
        let found = |breaker: &Tested<Consecutive>, back| {
            let breaker_now = breaker.clock().now_ms();
            breaker.clock().set(breaker_now - back);
            let shown = breaker.snapshot().time_left_ms;
            let rejected = breaker.allow_token().err();
            (shown, rejected.and_then(|rejected| rejected.retry_after_ms()))
        };
        let breaker = fragile(config());
        breaker.clock().set(10_000);
        fail(&breaker);
        assert_eq!(found(&breaker, 1), (Some(100), Some(100)), "once");
        assert_eq!(found(&breaker, 13), (Some(113), Some(113)), "an eighth");
        assert_eq!(found(&breaker, 1), (Some(0), None), "a probe");

        let lost = ready_to_probe(config().probe_lease_ms(8));
        lost.clock().set(10_000);
        lost.reset();
        fail(&lost);
        lost.clock().advance(100);
        let _probe = lost.allow_token().unwrap();
        assert_eq!(found(&lost, 1), (Some(9), Some(9)), "an eighth");
        assert_eq!(found(&lost, 1), (Some(0), Some(100)), "the probe is lost");
    }
}

mod recovering {
    use super::*;

    fn recovering() -> Tested<Consecutive> {
        let breaker = ready_to_probe(config().ramp_ms(100));
        succeed(&breaker);
        assert_eq!(phase(&breaker), Phase::Recovering);
        breaker
    }

    #[test]
    fn the_share_that_passes_grows_evenly() {
        let breaker = recovering();
        for percent in [0_u32, 10, 50, 90] {
            breaker.clock().set(100 + u64::from(percent));
            let passed = (0..100).filter(|_| breaker.allow().is_ok()).count() as u32;
            assert!(passed.abs_diff(percent) <= 2, "{passed} at {percent}");
        }
    }

    #[test]
    fn ends_when_a_call_comes_after_the_ramp() {
        let breaker = recovering();
        breaker.clock().advance(100);
        assert_eq!(phase(&breaker), Phase::Recovering);
        succeed(&breaker);
        assert_eq!(phase(&breaker), Phase::Closed);
    }

    #[test]
    fn a_trip_on_the_way_opens_again_for_longer() {
        let breaker = recovering();
        breaker.clock().advance(99);
        let permit = (0..).find_map(|_| breaker.allow().ok()).unwrap();
        permit.failure();
        let snapshot = breaker.snapshot();
        assert_eq!((snapshot.phase, snapshot.streak), (Phase::Open, 1));
    }

    #[test]
    fn what_failed_on_the_ramp_still_counts_after_it() {
        let config = config().ramp_ms(100);
        let breaker = with(Failures::<2>::within_ms(10_000).unwrap(), config);
        fail(&breaker);
        fail(&breaker);
        breaker.clock().advance(100);
        succeed(&breaker);
        breaker.clock().advance(99);
        (0..).find_map(|_| breaker.allow().ok()).unwrap().failure();
        breaker.clock().advance(1);
        succeed(&breaker);
        assert_eq!(phase(&breaker), Phase::Closed);
        fail(&breaker);
        assert_eq!(phase(&breaker), Phase::Open);
    }
}

mod operators {
    use super::*;

    #[test]
    fn isolating_holds_whatever_comes() {
        let breaker = fragile(config());
        let before = breaker.allow_token().unwrap();
        assert!(breaker.isolate());
        assert!(!breaker.isolate(), "it is already");
        assert!(!breaker.trip());
        assert!(!breaker.trip_for_ms(5));
        assert_eq!(breaker.record(before, Outcome::Success), Recorded::Stale);
        breaker.clock().advance(1_000_000);
        assert_eq!(retry_after(&breaker), None);
    }

    #[test]
    fn disabling_lets_all_pass_and_judges_none() {
        let breaker = fragile(config());
        assert!(breaker.disable());
        for _ in 0..10 {
            let permit = breaker.allow().unwrap();
            assert_eq!(permit.record(Outcome::Failure), Recorded::Ignored);
        }
        assert_eq!(phase(&breaker), Phase::Disabled);
        assert!(!breaker.trip());
    }

    #[test]
    fn a_reset_empties_the_window_and_makes_permits_stale() {
        let breaker = with(Consecutive::new(2).unwrap(), config());
        let before = breaker.allow_token().unwrap();
        fail(&breaker);
        breaker.reset();
        assert_eq!(breaker.record(before, Outcome::Failure), Recorded::Stale);
        fail(&breaker);
        assert_eq!(phase(&breaker), Phase::Closed);
        fail(&breaker);
        assert_eq!(phase(&breaker), Phase::Open);
    }

    #[test]
    fn an_observing_breaker_judges_but_rejects_no_one() {
        let breaker = fragile(config());
        breaker.shadow(true);
        fail(&breaker);
        assert_eq!(phase(&breaker), Phase::Open);
        let would_be_rejected = breaker.allow().unwrap();
        assert_eq!(would_be_rejected.record(Outcome::Failure), Recorded::Ignored);
        breaker.clock().advance(100);
        assert!(breaker.allow().unwrap().is_probe());
        breaker.shadow(false);
        breaker.trip();
        assert!(breaker.allow().is_err());
    }

    #[test]
    fn an_asked_open_time_is_kept_to_its_limits_and_not_shortened() {
        let breaker = fragile(config().max_open_ms(120));
        assert!(breaker.trip_for_ms(1_000_000));
        assert_eq!(retry_after(&breaker), Some(120));
        assert!(!breaker.trip_for_ms(50));
        assert!(!breaker.trip_for_ms(1_000_000), "the limit is reached");
        breaker.clock().advance(60);
        assert!(breaker.trip_for_ms(80));
        assert_eq!(retry_after(&breaker), Some(80));
    }

    #[test]
    fn an_asked_open_time_is_heeded_after_the_clock_was_set_back() {
        let breaker = fragile(config().max_open_ms(120));
        breaker.clock().set(1_000);
        fail(&breaker);
        breaker.clock().set(950);
        assert!(breaker.trip_for_ms(110));
        assert_eq!(retry_after(&breaker), Some(110));
    }
}

mod windows {
    use super::*;

    #[test]
    fn the_failure_ring_slides_with_every_millisecond() {
        for (apart, tripped) in [(100, Phase::Open), (101, Phase::Closed)] {
            let breaker = with(Failures::<3>::within_ms(100).unwrap(), config());
            fail(&breaker);
            breaker.clock().advance(apart / 2);
            fail(&breaker);
            breaker.clock().advance(apart - apart / 2);
            fail(&breaker);
            assert_eq!(phase(&breaker), tripped, "{apart} ms apart");
        }
    }

    #[test]
    fn the_failure_ring_is_not_moved_by_successes() {
        let breaker = with(Failures::<2>::within_ms(100).unwrap(), config());
        fail(&breaker);
        for _ in 0..1_000 {
            succeed(&breaker);
        }
        fail(&breaker);
        assert_eq!(phase(&breaker), Phase::Open);
    }

    #[test]
    fn the_consecutive_window_starts_again_at_a_success() {
        let breaker = with(Consecutive::new(3).unwrap(), config());
        for _ in 0..10 {
            fail(&breaker);
            fail(&breaker);
            succeed(&breaker);
        }
        assert_eq!(phase(&breaker), Phase::Closed);
    }

    #[test]
    fn calls_forget_the_oldest_in_one_word_and_in_many() {
        fn forgets<const WORDS: usize>(size: u32) {
            let breaker =
                with(Calls::<WORDS>::new(size, Rate::percent(50).min_calls(size)).unwrap(), config());
            for _ in 0..size / 2 - 1 {
                fail(&breaker);
            }
            for _ in 0..2 * size {
                succeed(&breaker);
            }
            for _ in 0..size / 2 - 1 {
                fail(&breaker);
            }
            assert_eq!(phase(&breaker), Phase::Closed, "{size}");
            fail(&breaker);
            assert_eq!(phase(&breaker), Phase::Open, "{size}");
        }
        forgets::<1>(20);
        forgets::<{ calls_words(100) }>(100);
        forgets::<{ calls_words(1_024) }>(1_024);
    }

    #[test]
    fn a_rate_is_judged_on_the_call_that_fills_the_minimum() {
        let breaker = with(Calls::<1>::new(10, Rate::percent(50).min_calls(4)).unwrap(), config());
        fail(&breaker);
        fail(&breaker);
        succeed(&breaker);
        succeed(&breaker);
        assert_eq!(phase(&breaker), Phase::Open);
    }

    #[test]
    fn the_time_window_forgets_a_bucket_at_a_time() {
        let breaker = with(Time::<4>::new(100, 4, Rate::percent(50).min_calls(2)).unwrap(), config());
        fail(&breaker);
        breaker.clock().set(100); // its bucket, from 0 to 24, is now out of the span
        fail(&breaker);
        assert_eq!(phase(&breaker), Phase::Closed);
        breaker.clock().set(199);
        fail(&breaker);
        assert_eq!(phase(&breaker), Phase::Open);
    }

    #[test]
    fn a_success_after_good_calls_have_expired_may_trip() {
        let breaker = with(Time::<2>::new(100, 2, Rate::percent(50).min_calls(2)).unwrap(), config());
        for _ in 0..3 {
            succeed(&breaker);
        }
        breaker.clock().set(50);
        fail(&breaker);
        assert_eq!(phase(&breaker), Phase::Closed);
        breaker.clock().set(100);
        succeed(&breaker);
        assert_eq!(phase(&breaker), Phase::Open, "1 of 2");
    }

    #[test]
    fn slow_calls_have_a_rate_of_their_own() {
        let failed = Consecutive::new(2).unwrap();
        let slow = Calls::<1>::new(10, Rate::percent(50).min_calls(4)).unwrap();
        let breaker = with(WithSlow::new(failed, slow), config());
        fail(&breaker);
        breaker.allow().unwrap().slow(); // a success to the first window
        fail(&breaker);
        assert_eq!(phase(&breaker), Phase::Closed);
        breaker.allow().unwrap().slow();
        assert_eq!(phase(&breaker), Phase::Open, "2 slow of 4");
    }

    #[test]
    fn failures_of_another_generation_count_for_nothing_in_any_window() {
        let rate = Rate::percent(50).min_calls(2);
        let windows = [
            WindowSettings::Failures { threshold: 2, within_ms: 1_000 },
            WindowSettings::Consecutive { threshold: 2 },
            WindowSettings::Calls { size: 10, rate },
            WindowSettings::Calls { size: 60, rate },
            WindowSettings::Time { span_ms: 1_000, buckets: 4, rate },
            WindowSettings::Cusum(CUSUM),
        ];
        for window in windows {
            let breaker = with(AnyWindow::<9>::new(window).unwrap(), config());
            // One more than there are numbers of generations, so that each is used twice.
            for _ in 0..=1_u32 << crate::state::GENERATION_BITS {
                fail(&breaker);
                assert_eq!(phase(&breaker), Phase::Closed, "{breaker:?}");
                breaker.reset();
            }
        }
    }
}

mod healthy {
    use super::*;

    /// A clock that must not be read.
    struct Untouchable;

    impl Clock for Untouchable {
        fn now_ms(&self) -> u64 {
            panic!("the healthy path read the clock");
        }
    }

    fn stays_healthy<W: Window<Settings = Config> + core::fmt::Debug>(window: W) {
        let breaker = Breaker::new(window, Config::DEFAULT, Untouchable);
        for _ in 0..3 {
            succeed(&breaker);
            drop(breaker.allow().unwrap());
            breaker.allow().unwrap().ignore();
        }
        for _ in 0..200 {
            succeed(&breaker);
        }
        // Full of successes: from here on nothing is written, either.
        let before = format!("{:?}", (&breaker.state, &breaker.window));
        for _ in 0..200 {
            succeed(&breaker);
        }
        assert_eq!(format!("{:?}", (&breaker.state, &breaker.window)), before);
        assert_eq!(phase(&breaker), Phase::Closed);
    }

    #[test]
    fn calls_read_no_clock_and_write_nothing() {
        stays_healthy(Failures::<5>::within_ms(1_000).unwrap());
        stays_healthy(Consecutive::new(5).unwrap());
        stays_healthy(Calls::<1>::new(20, Rate::percent(50).min_calls(5)).unwrap());
        stays_healthy(Calls::<{ calls_words(100) }>::new(100, Rate::percent(50).min_calls(5)).unwrap());
        stays_healthy(AnyWindow::<8>::new(WindowSettings::DEFAULT).unwrap());
        stays_healthy(Cusum::new(CUSUM).unwrap());
        let slow = Calls::<1>::new(20, Rate::percent(50).min_calls(5)).unwrap();
        stays_healthy(WithSlow::new(Failures::<5>::within_ms(1_000).unwrap(), slow));
    }

    #[test]
    fn consecutive_and_calls_read_no_clock_for_a_failure_that_does_not_trip() {
        let breaker = Breaker::new(Consecutive::new(2).unwrap(), Config::DEFAULT, Untouchable);
        fail(&breaker);
        succeed(&breaker);
        let window = Calls::<1>::new(20, Rate::percent(50).min_calls(5)).unwrap();
        let breaker = Breaker::new(window, Config::DEFAULT, Untouchable);
        fail(&breaker);
        succeed(&breaker);
    }
}

mod interrupted {
    use core::cell::{Cell, OnceCell};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::{Token, Transition};

    struct Listening;

    impl Observer for Listening {
        fn transition(&self, _: &Transition) {}
    }

    type Probed = Breaker<Consecutive, &'static Interrupted, Listening>;

    /// A clock that panics at one reading, right after another thread has asked for a probe.
    #[derive(Default)]
    struct Interrupted {
        readings: Cell<u32>,
        breaker: OnceCell<Probed>,
        other: Cell<Option<Token>>,
    }

    impl Clock for Interrupted {
        fn now_ms(&self) -> u64 {
            let readings = self.readings.replace(self.readings.get().saturating_sub(1));
            if readings == 1 {
                self.other.set(self.breaker.get().and_then(|breaker| breaker.allow_token().ok()));
                panic!("the clock broke");
            }
            0
        }
    }

    #[test]
    fn a_clock_that_panics_gives_back_no_place_but_that_of_its_own_probe() {
        let mut panicked = 0;
        for readings in 1..20 {
            let clock: &Interrupted = Box::leak(Box::default());
            let breaker = clock.breaker.get_or_init(|| {
                let window = Consecutive::new(1).unwrap();
                Breaker::with_observer(window, config().build().unwrap(), clock, Listening)
            });
            fail(breaker);
            breaker.recover();
            clock.readings.set(readings);
            let asked = catch_unwind(AssertUnwindSafe(|| breaker.allow_token()));
            clock.readings.set(0);
            let (own, others) = (matches!(asked, Ok(Ok(_))), clock.other.get().is_some());
            assert_eq!(breaker.snapshot().in_flight, u8::from(own) + u8::from(others), "{readings}");
            panicked += u8::from(asked.is_err());
        }
        // More where exchanges fail without cause: each attempt reads the clock anew.
        assert!(panicked >= 3, "before the step twice, and while it is told: {panicked}");
    }

    /// A clock that goes on with each reading.
    struct Hurrying(Cell<u64>);

    impl Clock for Hurrying {
        fn now_ms(&self) -> u64 {
            self.0.replace(self.0.get() + 7)
        }
    }

    #[derive(Default)]
    struct Heard(Cell<Option<Transition>>);

    impl Observer for Heard {
        fn transition(&self, transition: &Transition) {
            self.0.set(Some(*transition));
        }
    }

    #[test]
    fn a_probe_may_go_when_an_observer_was_told_that_it_may() {
        let window = Consecutive::new(1).unwrap();
        let clock = Hurrying(Cell::new(0));
        let breaker = Breaker::with_observer(window, config().build().unwrap(), clock, Heard::default());
        fail(&breaker);
        let told = breaker.observer().0.get().unwrap();
        breaker.clock().0.set(told.at_ms + u64::from(told.open_for_ms));
        assert!(breaker.allow().unwrap().is_probe());
    }
}

/// But in the build whose words count the attempts to exchange them.
#[cfg(not(nanobreaker_weak_fails))]
#[test]
fn a_breaker_is_small() {
    use crate::window::Failures;

    /// Two cache lines, of bytes.
    const LIMIT: usize = 128;
    assert!(size_of::<Breaker<Failures<7>, ManualClock>>() <= LIMIT + size_of::<ManualClock>());
}
