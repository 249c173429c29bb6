//! The breaker against the model: random settings, random scripts, clocks that jump.
//!
//! `PROPTEST_CASES` sets how many scripts each property plays.

mod model;

use std::cell::{Cell, RefCell};
use std::hint::black_box;

use model::play::{Amount, Length, Script, Step, Through, WORDS, play};
use model::presets::PRESETS;
use nanobreaker_core::window::{Adjustable, Cusum};
use nanobreaker_core::{
    Breaker, Clock, Config, ConfigBuilder, CusumSettings, ManualClock, Outcome, Permit, Phase, Rate,
    Settings, WindowSettings,
};
use proptest::prelude::*;

/// Lengths of time: short ones collide often, the longest are the limits.
fn length_ms() -> impl Strategy<Value = u64> {
    prop_oneof![
        6 => 1..=20_u64,
        6 => 20..=2_000_u64,
        2 => 2_000..=100_000_u64,
        1 => (20..=26_u64).prop_map(|bits| 1_u64 << bits),
        1 => 1_u64 << 20..=1 << 26,
    ]
}

fn rate(most_calls: impl Strategy<Value = u32>) -> impl Strategy<Value = Rate> {
    let rate = prop_oneof![
        2 => prop_oneof![Just(1), Just(50), Just(100), 1..=100_u32].prop_map(Rate::percent),
        1 => (1..=1_000_u32).prop_map(Rate::permille),
        1 => (1..=1_000_000_u32).prop_map(Rate::ppm),
    ];
    (rate, most_calls).prop_map(|(rate, most)| rate.min_calls(most))
}

fn calls() -> impl Strategy<Value = WindowSettings> {
    let sizes = prop_oneof![
        3 => 1..=8_u32,
        3 => prop_oneof![20..=30_u32, 45..=70_u32],
        1 => prop_oneof![Just(128_u32), Just(1_024), 70..=1_024_u32],
    ];
    sizes.prop_flat_map(|size| rate(1..=size).prop_map(move |rate| WindowSettings::Calls { size, rate }))
}

fn cusum() -> impl Strategy<Value = WindowSettings> {
    let normal = prop_oneof![Just(1_000_u32), Just(20_000), 1..=500_000_u32];
    let broken = prop_oneof![Just(200_000_u32), Just(500_000), 1..=999_999_u32];
    let calls = prop_oneof![Just(2_u64), 2..=1_000_u64, 1_000..=1_000_000_000_000_000_u64];
    let sustained = if model::settings::WIDE {
        prop_oneof![2 => Just(0), 1 => 1..=2_000_u32, 1 => Just(1 << 24)].boxed()
    } else {
        Just(0).boxed()
    };
    (normal, broken, calls, sustained).prop_map(
        |(normal_ppm, broken_ppm, calls_per_false_trip, sustained_for_ms)| {
            let mut settings =
                CusumSettings { normal_ppm, broken_ppm, calls_per_false_trip, sustained_for_ms };
            // Rates that are too near to each other are refused with the nearest that is not.
            if let Err(error) = Cusum::new(settings) {
                settings.broken_ppm = error.minimum() as u32;
            }
            WindowSettings::Cusum(settings)
        },
    )
}

fn window() -> impl Strategy<Value = WindowSettings> {
    prop_oneof![
        2 => (1..=10_u32, length_ms()).prop_map(|(threshold, within_ms)| {
            WindowSettings::Failures {
                threshold,
                within_ms,
            }
        }),
        1 => prop_oneof![1..=5_u32, Just(100)]
            .prop_map(|threshold| WindowSettings::Consecutive { threshold }),
        2 => calls(),
        2 => (1..=8_u32, length_ms(), rate(1..=6_u32)).prop_map(|(buckets, ms, rate)| {
            WindowSettings::Time {
                span_ms: ms.max(buckets.into()),
                buckets,
                rate,
            }
        }),
        1 => cusum(),
    ]
}

fn opening() -> impl Strategy<Value = ConfigBuilder> {
    let times = (
        length_ms(),
        prop_oneof![Just(0_u64), Just(1), Just(3), Just(1 << 26)],
        prop::option::of(length_ms()),
        prop::option::of(length_ms()),
        prop_oneof![2 => Just(0), 1 => length_ms()],
    );
    let probes = prop_oneof![4 => 1..=4_u32, 1 => Just(Config::MAX_PROBES)];
    let successes = prop_oneof![4 => 1..=4_u32, 1 => Just(Config::MAX_SUCCESSES)];
    let failures = prop_oneof![4 => 1..=3_u32, 1 => Just(Config::MAX_FAILURES)];
    let latch = prop::bool::weighted(0.05);
    let jitter = prop_oneof![3 => Just(0), 1 => Just(1_000), 1 => 1..=1_000_u32];
    (times, probes, successes, failures, latch, jitter).prop_map(
        |((open_for, factor, relapse, lease, ramp), probes, successes, failures, latch, jitter)| {
            let mut opening = Config::builder()
                .open_for_ms(open_for)
                .max_open_ms(open_for.saturating_mul(factor).clamp(open_for, 1 << 26))
                .ramp_ms(ramp)
                .max_probes(probes)
                .probe_successes(successes)
                .probe_failures(failures)
                .latch(latch)
                .jitter_permille(jitter);
            (opening.relapse_within_ms, opening.probe_lease_ms) = (relapse, lease);
            opening
        },
    )
}

fn settings() -> impl Strategy<Value = Settings> {
    let slow = prop_oneof![4 => Just(None), 1 => window().prop_map(Some)];
    (window(), slow, opening()).prop_map(|(window, slow_window, opening)| Settings {
        window,
        slow_window,
        opening,
        ..Settings::DEFAULT
    })
}

/// Where a clock may start: near each wrap that some field has.
fn clock() -> impl Strategy<Value = u64> {
    let wraps = prop_oneof![
        Just(0_u64),
        Just(1 << 15),
        Just(1 << 16),
        Just(1 << 25),
        Just(1 << 31),
        Just(1 << 32),
        Just(1 << 42),
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
        1 => Just(Outcome::SlowFailure),
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
        1 => Just(Length::Advised),
        1 => Just(Length::Relapse),
        2 => Just(Length::Lease),
        1 => Just(Length::TwiceLease),
        1 => Just(Length::Ramp),
        2 => Just(Length::HalfRamp),
        3 => Just(Length::Window),
        2 => Just(Length::Bucket),
        1 => (1..=52_u8).prop_map(Length::Weeks),
        3 => (1..=3_u8, 4..=38_u8).prop_map(|(times, bits)| Length::Rounds(times, bits)),
        1 => (0..=1_u32 << 27).prop_map(Length::Exactly),
    ];
    let give_or_take = prop_oneof![2 => Just(0), 1 => Just(-1), 1 => Just(1), 1 => -20..=20_i8];
    (of, give_or_take).prop_map(|(of, give_or_take)| Amount { of, give_or_take })
}

fn step(clock_goes_back: bool) -> BoxedStrategy<Step> {
    let back = if clock_goes_back { Step::SetBack } else { Step::Wait };
    let calls = prop_oneof![8 => 1..=4_u16, 1 => 1..=80_u16];
    prop_oneof![
        8 => Just(Step::Begin),
        8 => (any::<u8>(), outcome()).prop_map(|(which, outcome)| Step::End(which, outcome)),
        1 => any::<u8>().prop_map(Step::Leak),
        1 => (any::<u8>(), outcome()).prop_map(|(which, outcome)| Step::EndAgain(which, outcome)),
        9 => (calls, outcome()).prop_map(|(calls, outcome)| Step::Calls(calls, outcome)),
        2 => (1..=6_u8, amount(), prop::option::of(outcome()))
            .prop_map(|(times, period, outcome)| Step::Poll(times, period, outcome)),
        1 => Just(Step::Trip),
        1 => amount().prop_map(Step::TripFor),
        1 => amount().prop_map(Step::Advise),
        1 => Just(Step::Recover),
        1 => prop_oneof![Just(Step::Isolate), Just(Step::Disable)],
        1 => Just(Step::Reset),
        1 => any::<bool>().prop_map(Step::Shadow),
        1 => prop_oneof![
            amount().prop_map(Step::Restart),
            any::<u32>().prop_map(Step::Seed)
        ],
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
        Just(Through::Custom),
    ];
    (settings(), through, clock(), steps, amount()).prop_map(|(settings, through, clock, steps, period)| {
        Script { settings, through, clock, steps, period }
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

/// A clock that shows something else with each reading: it falls, stands still, jumps.
struct Wild {
    shown: ManualClock,
    readings: RefCell<Vec<i64>>,
    next: Cell<usize>,
}

impl Clock for Wild {
    fn now_ms(&self) -> u64 {
        let now = self.shown.now_ms();
        let readings = self.readings.borrow();
        if !readings.is_empty() {
            let step = readings[self.next.get() % readings.len()];
            self.next.set(self.next.get() + 1);
            self.shown.set(now.wrapping_add_signed(step));
        }
        now
    }
}

/// What a clock may do between two readings.
fn readings() -> impl Strategy<Value = Vec<i64>> {
    let step = prop_oneof![
        3 => Just(0_i64),
        3 => Just(-1_i64),
        2 => -2_000..=2_000_i64,
        1 => prop_oneof![Just(1_i64), Just(-1)]
            .prop_flat_map(|sign| (4..=45_u8).prop_map(move |bits| sign << bits)),
        1 => any::<i64>(),
    ];
    prop::collection::vec(step, 1..12)
}

/// Uses a breaker while its clock is wild, and then as clocks are. Whatever the clock did, every operation
/// returns, nobody is shut out for good, and the window trips on as much as ever.
fn survives(
    settings: &Settings,
    start: u64,
    readings: Vec<i64>,
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let clock = Wild { shown: ManualClock::new(start), readings: RefCell::new(readings), next: Cell::new(0) };
    let settings = &Settings { opening: settings.opening.latch(false), ..*settings };
    let window = Adjustable::<WORDS, WORDS>::new(settings).expect("valid settings");
    let breaker = Breaker::new(window, (), clock);
    for step in steps {
        match step {
            Step::Calls(calls, outcome) => {
                for _ in 0..*calls {
                    if let Ok(permit) = breaker.allow() {
                        permit.record(*outcome);
                    }
                }
            }
            Step::Trip => _ = breaker.trip(),
            Step::TripFor(_) => _ = breaker.trip_for_ms(u64::MAX),
            Step::Advise(_) => _ = breaker.advise_ms(u64::MAX),
            Step::Recover => _ = breaker.recover(),
            Step::Disable => _ = breaker.disable(),
            Step::Reset => breaker.reset(),
            Step::Shadow(on) => breaker.shadow(*on),
            Step::Restart(_) => breaker.restore(breaker.save(), 7).expect("saved just now"),
            Step::Adjust(others) => {
                let opening = others.opening.latch(false);
                let others = Settings { opening, ..*others };
                breaker.adjust(&others).expect("valid settings");
            }
            _ => drop(breaker.allow().map(Permit::into_token)),
        }
        black_box(breaker.snapshot());
    }
    breaker.clock().readings.borrow_mut().clear();
    let config = breaker.config();
    let longest = 2 * u64::from(config.max_open_ms()) + 10_000;
    let longest = longest.max(config.probe_lease_ms().into()).max(config.ramp_ms().into());
    let longest = longest + longest / 8 + 32;
    let passes = (0..8).any(|_| {
        breaker.clock().shown.advance(longest);
        breaker.allow().map(Permit::into_token).is_ok()
    });
    prop_assert!(passes, "wedged: {:?}", breaker.snapshot());
    breaker.shadow(false);
    breaker.adjust(&Settings::DEFAULT).expect("valid settings");
    breaker.reset();
    for failures in 0..5 {
        prop_assert_eq!(breaker.phase(), Phase::Closed, "{} failures", failures);
        breaker.allow().expect("closed").failure();
    }
    prop_assert_eq!(breaker.phase(), Phase::Open);
    Ok(())
}

fn cases(normal: u32) -> ProptestConfig {
    // A third where nothing but weak exchanges that fail sets this build apart from another, which plays all.
    let is_weak = env!("CARGO_PKG_NAME").contains("-weak-");
    let mut config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = if is_weak { normal / 3 } else { normal };
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

    #[test]
    fn settings_in_the_type_are_settings(
        mut script in script(true),
        (settings, plays) in prop::sample::select(PRESETS),
    ) {
        script.settings = settings;
        plays(&script).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn a_clock_that_shows_anything_wedges_nothing(
        settings in settings(),
        start in clock(),
        readings in readings(),
        steps in prop::collection::vec(step(false), 1..60),
    ) {
        survives(&settings, start, readings, &steps)?;
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn generations_that_come_round_again_bring_nothing_back(script in long_script()) {
        agrees(&script)?;
    }
}
