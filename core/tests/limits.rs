//! Each documented limit at its edge: it holds there, and what lies beyond is as documented.

use nanobreaker_core::window::{AnyWindow, Calls, Consecutive, Cusum, Failures, Time, Window, calls_words};
use nanobreaker_core::{
    Breaker, Clock, Config, ConfigBuilder, CusumSettings, ManualClock, Outcome, Phase, Rate, Recorded,
    Rejected, Token, WindowSettings,
};

const WIDE: bool = Config::MAX_PROBES == 63;

type Tested<W> = Breaker<W, ManualClock>;

fn with<W: Window<Settings = Config>>(window: W, opening: ConfigBuilder) -> Tested<W> {
    let config = opening.build().expect("a valid configuration");
    Breaker::new(window, config, ManualClock::new(1_234_567))
}

/// Trips on its first failure.
fn touchy(opening: ConfigBuilder) -> Tested<Consecutive> {
    with(Consecutive::new(1).expect("valid"), opening)
}

fn fail<W: Window>(breaker: &Tested<W>) {
    breaker.allow().expect("it lets calls pass").failure();
}

fn succeed<W: Window>(breaker: &Tested<W>) {
    breaker.allow().expect("it lets calls pass").success();
}

fn retry_after_ms<W: Window>(breaker: &Tested<W>) -> Option<u32> {
    let rejected = breaker.allow_token().err();
    rejected.as_ref().and_then(Rejected::retry_after_ms)
}

mod times {
    use super::*;

    /// How much later than asked, at most, something ends that is asked for at any millisecond.
    fn latest(ms: u64, left_of: impl Fn(u64) -> u32) -> u32 {
        let lefts = (0..200).map(|start| left_of(1_000_000_007 * start));
        let lates = lefts.map(|left| left.checked_sub(ms as u32).expect("never early"));
        lates.max().expect("some")
    }

    fn open_time(ms: u64) -> u32 {
        latest(ms, |start| {
            let breaker = touchy(Config::builder().open_for_ms(ms));
            breaker.clock().set(start);
            fail(&breaker);
            let left = retry_after_ms(&breaker).expect("open");
            breaker.clock().advance(u64::from(left) - 1);
            assert_eq!(retry_after_ms(&breaker), Some(1));
            breaker.clock().advance(1);
            assert!(breaker.allow().expect("over").is_probe());
            left
        })
    }

    fn lease(ms: u64) -> u32 {
        latest(ms, |start| {
            let breaker = touchy(Config::builder().open_for_ms(1).probe_lease_ms(ms));
            breaker.clock().set(start);
            fail(&breaker);
            breaker.clock().advance(1);
            let _leaked = breaker.allow_token().expect("a probe");
            let left = retry_after_ms(&breaker).expect("half-open");
            breaker.clock().advance(u64::from(left) - 1);
            assert_eq!(retry_after_ms(&breaker), Some(1));
            assert_eq!(breaker.phase(), Phase::HalfOpen);
            breaker.clock().advance(1);
            assert!(breaker.allow_token().is_err());
            assert_eq!(breaker.phase(), Phase::Open);
            left
        })
    }

    #[test]
    fn open_times_are_exact_where_the_configuration_says_so() {
        for ms in [1, 100, 4_095] {
            assert_eq!(open_time(ms), 0, "{ms}");
        }
        for ms in [4_097_u64, 10_000, 3_600_001, 67_108_864] {
            let late = open_time(ms);
            let most = if WIDE { 0 } else { ms as u32 / 2_048 };
            assert!(late <= most, "{ms}: {late}");
            assert_eq!(late > 0, !WIDE, "{ms}: {late}");
        }
    }

    #[test]
    fn leases_are_exact_where_the_configuration_says_so() {
        for ms in [1, 15] {
            assert_eq!(lease(ms), 0, "{ms}");
        }
        for ms in [17, 10_001, 4_194_303] {
            let late = lease(ms);
            let most = if WIDE { 0 } else { ms as u32 / 8 };
            assert!(late <= most, "{ms}: {late}");
            assert_eq!(late > 0, !WIDE, "{ms}: {late}");
        }
        for ms in [4_194_305_u64, 67_108_863] {
            let late = lease(ms);
            let most = if WIDE { 31 } else { ms as u32 / 8 };
            assert!((1..=most).contains(&late), "{ms}: {late}");
        }
    }

    /// The last millisecond at which `is_under_way`, from so long before `ms` on as it may end early.
    fn ends_after(ms: u64, start: u64, is_under_way: impl Fn(u64, u64) -> bool) -> i64 {
        let coarse = if WIDE { 0 } else { ms / 2_048 };
        let last = (ms - coarse - 1..=ms + coarse + 1).rfind(|&passed| is_under_way(start, passed));
        last.expect("it lasts for nearly as long as asked") as i64 - ms as i64
    }

    /// Whether a ramp of `ms` is under way after `passed`.
    fn is_on_its_ramp(ms: u64, start: u64, passed: u64) -> bool {
        let breaker = touchy(Config::builder().open_for_ms(1).ramp_ms(ms));
        breaker.clock().set(start);
        fail(&breaker);
        breaker.clock().advance(1);
        succeed(&breaker);
        breaker.clock().advance(passed);
        let _ = breaker.allow_token();
        breaker.phase() == Phase::Recovering
    }

    /// Whether a trip that comes `passed` after closing lengthens the open time.
    fn is_a_relapse(ms: u64, start: u64, passed: u64) -> bool {
        let breaker = touchy(Config::builder().open_for_ms(1).max_open_ms(9).relapse_within_ms(ms));
        breaker.clock().set(start);
        fail(&breaker);
        breaker.clock().advance(1);
        succeed(&breaker);
        breaker.clock().advance(passed);
        fail(&breaker);
        breaker.snapshot().streak == 1
    }

    #[test]
    fn ramps_and_relapse_times_are_as_exact_as_the_configuration_says() {
        for ms in [1, 100, 4_095, 4_097, 10_001, 3_600_001, 67_108_864] {
            let starts = (0..20).map(|start| 1_000_000_007 * start);
            let (mut ramps, mut relapses) = (Vec::new(), Vec::new());
            for start in starts {
                ramps.push(1 + ends_after(ms, start, |start, passed| is_on_its_ramp(ms, start, passed)));
                relapses.push(ends_after(ms, start, |start, passed| is_a_relapse(ms, start, passed)));
            }
            for (off, exact_up_to) in [(ramps, 4_095), (relapses, 4_094)] {
                let coarse = if WIDE || ms <= exact_up_to { 0 } else { ms as i64 / 2_048 };
                assert!(off.iter().all(|off| (0..=coarse).contains(off)), "{ms}: {off:?}");
                assert_eq!(off.iter().any(|off| *off != 0), coarse > 0, "{ms}: {off:?}");
            }
        }
    }

    #[test]
    fn backoff_doubles_as_often_as_the_streak_can_count() {
        let most = if WIDE { 15 } else { 7 };
        let longest = u64::from(Config::MAX_DURATION_MS);
        let breaker = touchy(Config::builder().open_for_ms(3).max_open_ms(longest));
        fail(&breaker);
        for streak in 0..=most + 3 {
            let shown = breaker.snapshot();
            assert_eq!(shown.streak, streak.min(most));
            let expected = 3_u32 << streak.min(most);
            let left = shown.time_left_ms.expect("open");
            assert!((expected..=expected + expected / 2_048).contains(&left), "{left}");
            breaker.clock().advance(left.into());
            fail(&breaker);
        }
    }

    #[test]
    fn a_trip_in_the_last_millisecond_of_the_relapse_time_lengthens_the_next_open_time() {
        for relapse in [1, 777, 4_094] {
            for (healthy, streak) in [(relapse, 1), (relapse + 1, 0)] {
                let opening = Config::builder().open_for_ms(10).relapse_within_ms(relapse);
                let breaker = touchy(opening);
                fail(&breaker);
                breaker.clock().advance(10);
                succeed(&breaker);
                breaker.clock().advance(healthy);
                fail(&breaker);
                assert_eq!(breaker.snapshot().streak, streak, "after {healthy} ms");
            }
        }
    }

    #[test]
    fn what_is_asked_for_is_kept_from_one_millisecond_to_the_longest() {
        let breaker = touchy(Config::builder().open_for_ms(10).max_open_ms(2_000));
        for (asked, left) in [(0, 1), (1, 1), (2_000, 2_000), (2_001, 2_000), (u64::MAX, 2_000)] {
            breaker.reset();
            assert!(breaker.trip_for_ms(asked));
            assert_eq!(retry_after_ms(&breaker), Some(left), "asked for {asked}");
        }
        // Others may advise twice that, and ten seconds.
        let longest = 14_000;
        for (advised, least) in [(0, 1), (longest, longest), (longest + 1, longest), (u64::MAX, longest)] {
            breaker.reset();
            assert!(breaker.advise_ms(advised));
            let left = u64::from(retry_after_ms(&breaker).expect("open"));
            assert!((least..=least + least / 2_048).contains(&left), "advised {advised}: {left}");
            assert!(!breaker.advise_ms(least));
        }
    }
}

mod clocks {
    use super::*;

    /// After so many milliseconds a clock shows the same again, as far as a breaker can tell.
    const ROUND_MS: u64 = if WIDE { 1 << 42 } else { 1 << 32 };

    fn open(opening: ConfigBuilder) -> Tested<Consecutive> {
        let breaker = touchy(opening);
        fail(&breaker);
        breaker
    }

    fn half_open(opening: ConfigBuilder) -> Tested<Consecutive> {
        let breaker = open(opening.open_for_ms(100));
        breaker.clock().advance(100);
        let _leaked = breaker.allow_token().expect("a probe");
        breaker
    }

    fn set_back(breaker: &Tested<Consecutive>, ms: u64) {
        breaker.clock().set(breaker.clock().now_ms() - ms);
    }

    #[test]
    fn the_same_time_is_left_again_after_a_whole_round_of_the_clock_only() {
        for bits in 10..ROUND_MS.ilog2() {
            let breaker = open(Config::builder().open_for_ms(100));
            breaker.clock().advance(1 << bits);
            assert_eq!(retry_after_ms(&breaker), None, "2^{bits} ms later");
        }
        let breaker = open(Config::builder().open_for_ms(100));
        breaker.clock().advance(ROUND_MS);
        assert_eq!(retry_after_ms(&breaker), Some(100));
    }

    #[test]
    fn the_same_lease_is_left_again_after_a_round_of_its_own_bits_only() {
        let found = |lease, later| {
            let breaker = half_open(Config::builder().probe_lease_ms(lease));
            let fresh = retry_after_ms(&breaker);
            breaker.clock().advance(later);
            (fresh == retry_after_ms(&breaker), breaker.phase())
        };
        // Where words are narrow: 2²⁵ units, of which an eighth of the lease has at least one.
        for (lease, bits) in [(8, 25), (15, 25), (472, 30), (1_024, 32)] {
            let bits = if WIDE { 64 } else { bits };
            for earlier in 11..bits {
                let lost = (false, Phase::Open);
                assert_eq!(found(lease, 1 << earlier), lost, "a lease of {lease} ms, 2^{earlier} ms later");
            }
            if !WIDE {
                assert_eq!(found(lease, 1 << bits), (true, Phase::HalfOpen), "a lease of {lease} ms");
            }
        }
    }

    #[test]
    fn an_open_time_begins_anew_once_where_the_clock_was_set_back_by_up_to_its_length() {
        let opening = Config::builder().open_for_ms(100).max_open_ms(400);
        for streak in 0..3 {
            let length = 100 << streak;
            let set_back_by = |back: u64| {
                let breaker = open(opening);
                for _ in 0..streak {
                    let left = retry_after_ms(&breaker).expect("open");
                    breaker.clock().advance(left.into());
                    fail(&breaker);
                }
                set_back(&breaker, back);
                breaker
            };
            for (back, left) in [(1, Some(length)), (length, Some(length)), (length + 1, None)] {
                let breaker = set_back_by(back.into());
                assert_eq!(retry_after_ms(&breaker), left, "{length} ms, set back by {back}");
            }
            // Set back once more, by more than an eighth, and it is over.
            let eighth = length.div_ceil(8);
            for (again, left) in [(eighth, Some(length + eighth)), (eighth + 1, None)] {
                let breaker = set_back_by(1);
                assert_eq!(retry_after_ms(&breaker), Some(length));
                set_back(&breaker, again.into());
                assert_eq!(retry_after_ms(&breaker), left, "{length} ms, again by {again}");
            }
        }
    }

    #[test]
    fn a_lease_is_over_where_the_clock_was_set_back_by_more_than_an_eighth_of_it() {
        for (back, phase) in [(1, Phase::HalfOpen), (2, Phase::Open)] {
            let breaker = half_open(Config::builder().probe_lease_ms(8));
            set_back(&breaker, back);
            assert!(breaker.allow_token().is_err());
            assert_eq!(breaker.phase(), phase, "set back by {back} ms");
        }
    }

    #[test]
    fn a_ramp_and_the_time_since_closing_stand_still_where_they_began_at_most_their_length_ahead() {
        let opening = Config::builder().probe_lease_ms(8);
        for (back, phase) in [(1, Phase::Recovering), (200, Phase::Recovering), (201, Phase::Closed)] {
            let breaker = open(opening.open_for_ms(100).ramp_ms(200));
            breaker.clock().advance(100);
            succeed(&breaker);
            set_back(&breaker, back);
            let _ = breaker.allow_token();
            assert_eq!(breaker.phase(), phase, "set back by {back} ms");
        }
        for (back, streak) in [(1, 1), (201, 1), (202, 0)] {
            let breaker = open(opening.open_for_ms(100).relapse_within_ms(200));
            breaker.clock().advance(100);
            succeed(&breaker);
            set_back(&breaker, back);
            fail(&breaker);
            assert_eq!(breaker.snapshot().streak, streak, "set back by {back} ms");
        }
    }

    #[test]
    fn a_failure_is_remembered_for_twice_its_span_at_most() {
        for (later, phase) in [(200, Phase::Open), (201, Phase::Closed)] {
            let breaker = with(Failures::<2>::within_ms(100).expect("valid"), Config::builder());
            fail(&breaker);
            breaker.clock().set(breaker.clock().now_ms() - 100 + later);
            fail(&breaker);
            assert_eq!(breaker.phase(), phase, "{later} ms after it was set back by 100");
        }
    }

    #[test]
    fn a_time_window_starts_empty_where_the_clock_comes_round() {
        let trips = |round: u64, apart: u64| {
            let rate = Rate::percent(100).min_calls(2);
            let breaker = with(Time::<4>::new(1_000, 4, rate).expect("valid"), Config::builder());
            breaker.clock().set(round.wrapping_sub(apart));
            fail(&breaker);
            breaker.clock().set(round);
            fail(&breaker);
            breaker.phase() == Phase::Open
        };
        for apart in [1, 100, 500] {
            assert_eq!(trips(1 << 32, apart), WIDE, "{apart} ms apart, over 49.7 days");
            assert!(trips(1 << 31, apart), "{apart} ms apart, over a half of that");
        }
    }
}

mod rounds {
    use super::*;

    #[test]
    fn the_limits_of_each_width_are_those_that_the_configuration_lists() {
        let most = (Config::MAX_PROBES, Config::MAX_SUCCESSES, Config::MAX_FAILURES);
        assert_eq!(most, if WIDE { (63, 64, 16) } else { (7, 8, 4) });
        assert_eq!(Config::MAX_DURATION_MS, 67_108_864);
    }

    fn half_open(opening: ConfigBuilder) -> Tested<Consecutive> {
        let breaker = touchy(opening.open_for_ms(10).probe_lease_ms(8));
        fail(&breaker);
        breaker.clock().advance(10);
        breaker
    }

    #[test]
    fn as_many_probes_successes_and_failures_as_can_be_configured_are_counted() {
        let opening = Config::builder()
            .max_probes(Config::MAX_PROBES)
            .probe_successes(Config::MAX_SUCCESSES)
            .probe_failures(Config::MAX_FAILURES);
        let probes = |breaker: &Tested<Consecutive>| -> Vec<Token> {
            (0..).map_while(|_| breaker.allow_token().ok()).collect()
        };
        for (outcome, enough, end) in [
            (Outcome::Success, Config::MAX_SUCCESSES, Phase::Closed),
            (Outcome::Failure, Config::MAX_FAILURES, Phase::Open),
        ] {
            let breaker = half_open(opening);
            let mut granted = probes(&breaker);
            assert_eq!(granted.len(), Config::MAX_PROBES as usize);
            for answered in 1..=enough {
                assert_eq!(breaker.phase(), Phase::HalfOpen, "{answered} of {enough}");
                let token = granted.pop().or_else(|| probes(&breaker).pop());
                breaker.record(token.expect("there is a place"), outcome);
            }
            assert_eq!(breaker.phase(), end);
        }
    }

    #[test]
    fn a_round_fails_with_the_last_probe_that_may_be_given_up_and_not_before() {
        let most = if WIDE { 8 } else { 4 };
        let breaker = half_open(Config::builder());
        for given_up in 1..most {
            drop(breaker.allow().expect("its place was given back"));
            assert_eq!(breaker.phase(), Phase::HalfOpen, "{given_up}");
        }
        drop(breaker.allow().expect("its place was given back"));
        assert_eq!(breaker.phase(), Phase::Open);
    }

    #[test]
    fn a_permit_is_mistaken_for_a_fresh_one_a_whole_round_of_generations_later_only() {
        let generations = if WIDE { 4_096 } else { 256 };
        let breaker = touchy(Config::builder());
        let old = breaker.allow_token().expect("closed");
        for later in 1..=2 * generations {
            breaker.reset();
            let expected = if later % generations == 0 { Recorded::Counted } else { Recorded::Stale };
            assert_eq!(breaker.record(old, Outcome::Success), expected, "{later} later");
        }
    }
}

mod windows {
    use super::*;

    #[test]
    fn the_failure_ring_is_exact_where_it_says_so() {
        for within in [1, 1_000, 16_383] {
            for (apart, phase) in [(within, Phase::Open), (within + 1, Phase::Closed)] {
                let breaker = with(Failures::<2>::within_ms(within).expect("valid"), Config::builder());
                fail(&breaker);
                breaker.clock().advance(apart);
                fail(&breaker);
                assert_eq!(breaker.phase(), phase, "{apart} of {within} ms apart");
            }
        }
        // Beyond, narrow words may count a failure for 1/4,096 longer.
        for within in [16_385_u64, 3_600_001, 67_108_864] {
            let late = if WIDE { 0 } else { within / 4_096 };
            for (apart, phase) in [(within, Phase::Open), (within + late + 1, Phase::Closed)] {
                for start in 0..50 {
                    let window = Failures::<2>::within_ms(within).expect("valid");
                    let breaker = with(window, Config::builder());
                    breaker.clock().set(77_777 * start + start);
                    fail(&breaker);
                    breaker.clock().advance(apart);
                    fail(&breaker);
                    assert_eq!(breaker.phase(), phase, "{apart} of {within} ms apart");
                }
            }
        }
    }

    #[test]
    fn failures_ahead_of_a_clock_that_was_set_back_count_as_near_as_they_are() {
        for (back, phase) in [(1, Phase::Open), (100, Phase::Open), (101, Phase::Closed)] {
            let breaker = with(Failures::<3>::within_ms(100).expect("valid"), Config::builder());
            breaker.clock().set(10_000);
            fail(&breaker);
            fail(&breaker);
            breaker.clock().set(10_000 - back);
            fail(&breaker);
            assert_eq!(breaker.phase(), phase, "set back by {back} ms");
        }
    }

    /// Where words are narrow these two stamps are almost a whole turn apart, 2²³ units of 8 ms.
    #[test]
    fn a_failure_far_ahead_of_a_clock_that_was_set_back_counts_for_nothing() {
        let breaker = with(Failures::<3>::within_ms(1 << 16).unwrap(), Config::builder());
        let first = (1 << 25) - 1;
        breaker.clock().set(first);
        fail(&breaker);
        breaker.clock().set(first.wrapping_sub((1 << 26) - 16));
        fail(&breaker);
        fail(&breaker);
        assert_eq!(breaker.phase(), Phase::Closed);
    }

    /// Where words are narrow the stamps of long windows come round with the clock itself.
    #[test]
    fn failures_on_both_sides_of_any_half_turn_trip_together() {
        for within_bits in 1..=26 {
            for half_turn_bits in within_bits.max(8)..32 {
                let breaker = with(Failures::<2>::within_ms(1 << within_bits).unwrap(), Config::builder());
                breaker.clock().set((1 << half_turn_bits) - 1);
                fail(&breaker);
                breaker.clock().advance(1 << (within_bits - 1));
                fail(&breaker);
                assert_eq!(breaker.phase(), Phase::Open, "2^{within_bits} ms at 2^{half_turn_bits}");
            }
        }
    }

    /// A success moves the words on to the next half turn, and the clock is set back into the last one.
    #[test]
    fn failures_before_a_clock_was_set_back_over_a_half_turn_still_count() {
        for half_turn in (0..25).map(|bits| 100 << bits) {
            for buckets in [1, 4] {
                let rate = Rate::percent(50).min_calls(3);
                let settings = WindowSettings::Time { span_ms: 100, buckets, rate };
                let breaker = with(AnyWindow::<9>::new(settings).expect("valid"), Config::builder());
                breaker.clock().set(half_turn - 2);
                fail(&breaker);
                breaker.clock().set(half_turn);
                breaker.allow().expect("closed").success();
                breaker.clock().set(half_turn - 1);
                fail(&breaker);
                assert_eq!(breaker.phase(), Phase::Closed, "{buckets} buckets at {half_turn}");
                fail(&breaker);
                assert_eq!(breaker.phase(), Phase::Open, "{buckets} buckets at {half_turn}");
            }
        }
    }

    #[test]
    fn failures_long_ago_count_for_nothing_whatever_round_the_clock_has_made() {
        for bits in 8..if WIDE { 51 } else { 32 } {
            let rate = Rate::percent(100).min_calls(2);
            let windows = [
                WindowSettings::Failures { threshold: 2, within_ms: 100 },
                WindowSettings::Time { span_ms: 100, buckets: 4, rate },
                WindowSettings::Time { span_ms: 1 << 7, buckets: 2, rate },
            ];
            for window in windows {
                for off in [0, 1] {
                    let window = AnyWindow::<9>::new(window).expect("valid");
                    let breaker = with(window, Config::builder());
                    fail(&breaker);
                    breaker.clock().advance((1 << bits) + off);
                    fail(&breaker);
                    assert_eq!(breaker.phase(), Phase::Closed, "2^{bits} + {off} ms later");
                    fail(&breaker);
                    assert_eq!(breaker.phase(), Phase::Open, "2^{bits} + {off} ms later");
                }
            }
        }
    }

    #[test]
    fn a_minimum_of_one_call_is_judged_with_the_first() {
        let rate = Rate::percent(50);
        for window in [
            WindowSettings::Calls { size: 10, rate },
            WindowSettings::Calls { size: 100, rate },
            WindowSettings::Time { span_ms: 100, buckets: 4, rate },
        ] {
            let breaker = with(AnyWindow::<9>::new(window).expect("valid"), Config::builder());
            fail(&breaker);
            assert_eq!(breaker.phase(), Phase::Open, "{window:?}");
        }
    }

    #[test]
    fn a_minimum_is_filled_by_neither_one_call_less_nor_one_more() {
        for least in [1, 2, 5, 10] {
            let rate = Rate::percent(100).min_calls(least);
            for window in [
                WindowSettings::Calls { size: 10, rate },
                WindowSettings::Calls { size: 100, rate },
                WindowSettings::Time { span_ms: 100, buckets: 4, rate },
            ] {
                let breaker = with(AnyWindow::<9>::new(window).expect("valid"), Config::builder());
                for calls in 1..=least {
                    assert_eq!(breaker.phase(), Phase::Closed, "{calls} of {least}");
                    fail(&breaker);
                }
                assert_eq!(breaker.phase(), Phase::Open, "{window:?}");
            }
        }
    }

    #[test]
    fn each_size_of_calls_judges_as_many_calls_as_it_says() {
        fn judges<const WORDS: usize>(size: u32) {
            let rate = Rate::percent(100).min_calls(size);
            let window = Calls::<WORDS>::new(size, rate).expect("valid");
            let breaker = with(window, Config::builder());
            // So that it goes round a few times, to another place each time.
            for calls in 0..3 * size {
                if calls % 2 == 0 {
                    succeed(&breaker);
                } else {
                    fail(&breaker);
                }
            }
            succeed(&breaker);
            for failures in 0..size {
                assert_eq!(breaker.phase(), Phase::Closed, "{failures} of {size}");
                fail(&breaker);
            }
            assert_eq!(breaker.phase(), Phase::Open, "{size}");
        }
        for size in 2..=130 {
            judges::<{ calls_words(1_024) }>(size);
        }
        judges::<1>(if WIDE { 51 } else { 23 });
        judges::<{ calls_words(1_000) }>(1_000);
        judges::<{ calls_words(1_024) }>(1_024);
        assert!(Calls::<1>::new(if WIDE { 52 } else { 24 }, Rate::percent(1)).is_err());
        assert!(Calls::<1_000>::new(1_025, Rate::percent(1)).is_err());
    }

    /// The number of a lap has few bits, and comes round.
    #[test]
    fn each_lap_sees_the_lap_before_and_none_before_that() {
        for (span_ms, laps) in [(1_u64, 600), (100, 600), (1 << 7, 600), (1_000, 300)] {
            for lap in 0..laps {
                for (later, phase) in [(1, Phase::Open), (2, Phase::Closed), (3, Phase::Closed)] {
                    let buckets = span_ms.min(4) as u32;
                    let rate = Rate::percent(100).min_calls(2);
                    let window = Time::<4>::new(span_ms, buckets, rate).expect("valid");
                    let breaker = with(window, Config::builder());
                    // The last bucket of a lap, and the first one of a later lap.
                    breaker.clock().set((lap + 1) * span_ms - 1);
                    fail(&breaker);
                    breaker.clock().set((lap + later) * span_ms);
                    fail(&breaker);
                    // A single bucket is over with its lap.
                    let phase = if buckets == 1 { Phase::Closed } else { phase };
                    assert_eq!(breaker.phase(), phase, "lap {lap} of {span_ms} ms, and {later}");
                }
            }
        }
    }

    #[test]
    fn a_bucket_counts_as_many_calls_as_it_says() {
        let most = |span_ms| {
            let rate = Rate::percent(1).min_calls(u32::MAX);
            let error = Time::<1>::new(span_ms, 1, rate).err();
            error.map(|error| (error.field(), error.maximum()))
        };
        if WIDE {
            assert_eq!(most(1), None, "2^44 calls");
            return;
        }
        assert_eq!(most(128), Some(("min_calls", (1 << 22) - 1)));
        assert_eq!(most(127), Some(("min_calls", (1 << 21) - 1)));
        assert_eq!(most(1), Some(("min_calls", 32_767)));
        // Beyond that they are not counted: here a half fails, and a quarter is counted.
        let rate = Rate::percent(60).min_calls(32_767);
        let window = Time::<1>::new(1, 1, rate).expect("valid");
        let breaker = with(window, Config::builder());
        for _ in 0..2 * 32_767 {
            succeed(&breaker);
        }
        for _ in 0..32_767 {
            fail(&breaker);
        }
        assert_eq!(breaker.phase(), Phase::Closed, "a half of those that are counted");
    }

    const EAGER: CusumSettings = CusumSettings {
        normal_ppm: 2_000,
        broken_ppm: 200_000,
        calls_per_false_trip: 10_000_000,
        sustained_for_ms: 0,
    };

    #[test]
    fn evidence_trips_in_the_millisecond_in_which_it_has_lasted_long_enough() {
        let window = |sustained_for_ms| Cusum::new(CusumSettings { sustained_for_ms, ..EAGER });
        if !WIDE {
            assert_eq!(window(1).expect_err("no room").field(), "sustained_for_ms");
            return;
        }
        assert!(window((1 << 24) + 1).is_err());
        for sustained in [1_u32, 20, 1 << 24] {
            let breaker = with(window(sustained).expect("valid"), Config::builder());
            for _ in 0..50 {
                fail(&breaker);
            }
            breaker.clock().advance(u64::from(sustained) - 1);
            fail(&breaker);
            assert_eq!(breaker.phase(), Phase::Closed, "{sustained}");
            breaker.clock().advance(1);
            fail(&breaker);
            assert_eq!(breaker.phase(), Phase::Open, "{sustained}");
        }
    }

    #[test]
    fn evidence_of_more_than_nine_hours_has_just_begun() {
        if !WIDE {
            return; // refused there, see above
        }
        let sustained = CusumSettings { sustained_for_ms: 20, ..EAGER };
        for (idle, phase) in [((1 << 25) - 1, Phase::Open), (1 << 25, Phase::Closed)] {
            let breaker = with(Cusum::new(sustained).expect("valid"), Config::builder());
            for _ in 0..4 {
                fail(&breaker);
            }
            breaker.clock().advance(idle);
            fail(&breaker);
            assert_eq!(breaker.phase(), phase, "after {idle} ms");
            if phase == Phase::Closed {
                breaker.clock().advance(20);
                fail(&breaker);
                assert_eq!(breaker.phase(), Phase::Open);
            }
        }
    }
}

mod lives {
    use super::*;

    #[test]
    fn a_restored_breaker_keeps_streak_and_shadow_in_every_phase() {
        let ways: [fn(&Tested<Consecutive>); 4] = [
            |_| {},
            |breaker| {
                breaker.isolate();
            },
            |breaker| {
                breaker.disable();
            },
            |breaker| {
                breaker.clock().advance(2_000);
                breaker.allow_token().expect("a probe").is_probe();
            },
        ];
        for way in ways {
            for shadow in [false, true] {
                let opening = Config::builder().open_for_ms(500).max_open_ms(2_000);
                let before = touchy(opening);
                fail(&before);
                for _ in 0..3 {
                    before.clock().advance(2_000);
                    fail(&before);
                }
                before.shadow(shadow);
                way(&before);
                let shown = before.snapshot();
                assert_eq!(shown.streak, 3);

                let after = touchy(opening);
                after.restore(before.save(), 0).expect("saved just now");
                let restored = after.snapshot();
                let phase = match shown.phase {
                    Phase::HalfOpen => Phase::Open,
                    same => same,
                };
                assert_eq!(restored.phase, phase);
                assert_eq!((restored.streak, restored.in_shadow), (3, shadow), "{phase}");
            }
        }
    }

    #[test]
    fn a_restored_open_time_is_cut_to_the_longest_and_by_the_sleep() {
        let before = touchy(Config::builder().open_for_ms(500).max_open_ms(2_000));
        assert!(before.trip_for_ms(2_000));
        let saved = before.save();
        let short = Config::builder().open_for_ms(500).max_open_ms(1_500);
        for (slept, left) in [(0, 1_500), (600, 1_400), (1_999, 1), (2_000, 0), (u64::MAX, 0)] {
            let after = touchy(short);
            after.restore(saved, slept).expect("saved just now");
            assert_eq!(after.snapshot().time_left_ms, Some(left), "slept {slept} ms");
        }
    }
}
