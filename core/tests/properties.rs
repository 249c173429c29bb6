//! The breaker against the model: random settings, random scripts, clocks that jump.
//!
//! `PROPTEST_CASES` sets how many scripts each property plays.

mod model;

use model::play::{Amount, Length, Script, Step, Through, play};
use model::settings::{Settings, WindowKind};
use nanobreaker_core::Outcome;
use proptest::prelude::*;

/// Lengths of time: short ones collide often, the longest are the limits.
fn length_ms() -> impl Strategy<Value = u32> {
    prop_oneof![
        6 => 1..=20_u32,
        6 => 20..=2_000_u32,
        2 => 2_000..=100_000_u32,
        1 => (20..=26_u32).prop_map(|bits| 1_u32 << bits),
        1 => 1_u32 << 20..=1 << 26,
    ]
}

fn window() -> impl Strategy<Value = WindowKind> {
    let percent = prop_oneof![Just(1), Just(50), Just(100), 1..=100_u32];
    let sizes = prop_oneof![1..=8_u32, 20..=30_u32, 45..=70_u32];
    prop_oneof![
        (1..=8_u32, length_ms()).prop_map(|(threshold, within_ms)| WindowKind::Failures {
            threshold,
            within_ms
        }),
        prop_oneof![1..=5_u32, Just(100)]
            .prop_map(|threshold| WindowKind::Consecutive { threshold }),
        (sizes, percent.clone(), any::<prop::sample::Index>()).prop_map(
            |(size, percent, minimum)| WindowKind::Calls {
                size,
                percent,
                min_calls: minimum.index(size as usize) as u32 + 1,
            }
        ),
        (1..=8_u32, length_ms(), percent, 1..=6_u32).prop_map(
            |(buckets, ms, percent, min_calls)| WindowKind::Time {
                span_ms: ms.max(buckets),
                buckets,
                percent,
                min_calls,
            }
        ),
    ]
}

fn settings() -> impl Strategy<Value = Settings> {
    let slow = prop_oneof![4 => Just(None), 1 => window().prop_map(Some)];
    let times = (
        length_ms(),
        prop_oneof![Just(0_u32), Just(1), Just(3), Just(1 << 26)],
        length_ms(),
        prop_oneof![2 => Just(0), 1 => length_ms()],
    );
    let counts = (1..=4_u32, 1..=4_u32, 1..=3_u32);
    let latch = prop::bool::weighted(0.05);
    let jitter = prop_oneof![3 => Just(0), 1 => Just(1_000), 1 => 1..=1_000_u32];
    (window(), slow, times, counts, latch, jitter).prop_map(
        |(window, slow, (open_for_ms, factor, lease_ms, ramp_ms), counts, latch, jitter)| {
            let (probes, successes, failures) = counts;
            Settings {
                window,
                slow,
                open_for_ms,
                max_open_ms: open_for_ms
                    .saturating_mul(factor)
                    .clamp(open_for_ms, 1 << 26),
                probes,
                successes,
                failures,
                lease_ms,
                ramp_ms,
                latch,
                jitter_permille: jitter,
            }
        },
    )
}

/// Where a clock may start: near each wrap that some field has.
fn clock() -> impl Strategy<Value = u64> {
    let wraps = prop_oneof![
        Just(0_u64),
        Just(1 << 15),
        Just(1 << 16),
        Just(1 << 25),
        Just(1 << 32),
        Just(1 << 43),
        Just(1 << 44),
        Just(1 << 51),
        Just(5 << 44),
    ];
    (wraps, -3_000..=10_i64).prop_map(|(wrap, off)| wrap.wrapping_add_signed(off))
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        4 => Just(Outcome::Success),
        5 => Just(Outcome::Failure),
        1 => Just(Outcome::Slow),
        1 => Just(Outcome::Ignored),
        2 => Just(Outcome::Cancelled),
    ]
}

fn amount() -> impl Strategy<Value = Amount> {
    let of = prop_oneof![
        2 => Just(Length::Nothing),
        4 => Just(Length::OpenFor),
        1 => Just(Length::TwiceOpenFor),
        2 => Just(Length::MaxOpen),
        2 => Just(Length::Lease),
        1 => Just(Length::TwiceLease),
        1 => Just(Length::Ramp),
        2 => Just(Length::HalfRamp),
        3 => Just(Length::Window),
        2 => Just(Length::Bucket),
        1 => (1..=52_u8).prop_map(Length::Weeks),
        1 => (0..=1_u32 << 27).prop_map(Length::Exactly),
    ];
    let give_or_take = prop_oneof![Just(-1), Just(0), Just(1), -20..=20_i8];
    (of, give_or_take).prop_map(|(of, give_or_take)| Amount { of, give_or_take })
}

fn step(clock_goes_back: bool) -> BoxedStrategy<Step> {
    let back = if clock_goes_back {
        Step::SetBack
    } else {
        Step::Wait
    };
    prop_oneof![
        8 => Just(Step::Begin),
        8 => (any::<u8>(), outcome()).prop_map(|(which, outcome)| Step::End(which, outcome)),
        1 => any::<u8>().prop_map(Step::Leak),
        1 => (any::<u8>(), outcome()).prop_map(|(which, outcome)| Step::EndAgain(which, outcome)),
        8 => (1..=4_u8, outcome()).prop_map(|(calls, outcome)| Step::Calls(calls, outcome)),
        1 => (1..=80_u8, outcome()).prop_map(|(calls, outcome)| Step::Calls(calls, outcome)),
        1 => Just(Step::Trip),
        1 => amount().prop_map(Step::TripFor),
        1 => prop_oneof![Just(Step::Isolate), Just(Step::Disable)],
        1 => Just(Step::Reset),
        1 => any::<bool>().prop_map(Step::Observe),
        1 => prop_oneof![Just(Step::Restart), any::<u32>().prop_map(Step::Seed)],
        2 => settings().prop_map(Step::Adjust),
        12 => amount().prop_map(Step::Wait),
        4 => amount().prop_map(back),
    ]
    .boxed()
}

fn script(clock_goes_back: bool) -> impl Strategy<Value = Script> {
    let steps = prop::collection::vec(step(clock_goes_back), 1..80);
    let through = prop_oneof![
        Just(Through::ItsOwn),
        Just(Through::Any),
        Just(Through::Striped),
        Just(Through::Adjustable),
    ];
    (settings(), through, clock(), steps).prop_map(|(settings, through, clock, steps)| Script {
        settings,
        through,
        clock,
        steps,
    })
}

/// Scripts in which generations wrap: thousands of resets at some points.
fn long_script() -> impl Strategy<Value = Script> {
    let rounds = prop::collection::vec(any::<u8>(), 1..3);
    (script(false), rounds, any::<prop::sample::Index>()).prop_map(|(mut script, rounds, at)| {
        for but in rounds {
            let at = at.index(script.steps.len());
            script.steps.insert(at, Step::ResetsNearlyAll(but));
        }
        script
    })
}

fn cases(normal: u32) -> ProptestConfig {
    let mut config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = normal;
    }
    config.max_shrink_time = 20_000;
    config.failure_persistence = None;
    config
}

fn agrees(script: &Script) -> Result<(), TestCaseError> {
    play(script).map_err(TestCaseError::fail)
}

proptest! {
    #![proptest_config(cases(3_000))]

    #[test]
    fn the_breaker_does_what_the_model_does_while_the_clock_goes_forward(script in script(false)) {
        agrees(&script)?;
    }

    #[test]
    fn a_clock_that_jumps_leads_nowhere_that_is_not_allowed(script in script(true)) {
        agrees(&script)?;
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn generations_that_come_round_again_bring_nothing_back(script in long_script()) {
        agrees(&script)?;
    }
}
