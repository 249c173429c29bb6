//! From every state, however it came about, a call passes again: whoever asks, on whatever period of
//! their own, and though every permit is leaked.
//!
//! The bound: a lease, an open time and one more where the clock was set back, each as long as `Config`
//! says, and each noticed by the first who asks after it.

use std::thread;

use nanobreaker_core::window::{Adjustable, AnyWindow, Window};
use nanobreaker_core::{
    Breaker, Clock, Config, ConfigBuilder, ManualClock, Outcome, Permit, Phase, Rate, Settings,
    WindowSettings,
};

const WIDE: bool = Config::MAX_PROBES == 63;

/// What a clock can tell apart.
const CLOCK_BITS: u32 = if WIDE { 42 } else { 32 };

type Live<'a> = Breaker<Adjustable<1>, &'a ManualClock>;

fn settings(opening: ConfigBuilder) -> Settings {
    Settings { window: WindowSettings::Consecutive { threshold: 1 }, opening, ..Settings::DEFAULT }
}

/// Breakers that differ in how their times are kept.
fn openings() -> [ConfigBuilder; 6] {
    let builder = Config::builder();
    [
        builder,
        builder.open_for_ms(250),
        builder.open_for_ms(250).probe_lease_ms(8).max_probes(3),
        builder.open_for_ms(60_000).probe_lease_ms(3_600_000),
        builder.open_for_ms(1_000).max_open_ms(600_000).ramp_ms(30_000).max_probes(2).probe_successes(2),
        builder.open_for_ms(5_000).max_open_ms(67_108_864).probe_lease_ms(67_108_864).jitter_permille(500),
    ]
}

/// Asks, and never lets anyone hear how the call ended.
fn leak<W: Window, C: Clock>(breaker: &Breaker<W, C>) -> bool {
    breaker.allow().map(Permit::into_token).is_ok()
}

fn fail(breaker: &Live) {
    breaker.allow().expect("closed, or a probe").failure();
}

fn half_open(breaker: &Live) -> nanobreaker_core::Token {
    breaker.trip();
    let left = breaker.snapshot().time_left_ms.expect("open");
    breaker.clock().advance(left.into());
    breaker.allow_token().expect("the first probe")
}

/// Ways to a state from which nobody may be shut out for good.
type Way = (&'static str, fn(&Live));

const WAYS: [Way; 18] = [
    ("tripped", |breaker| fail(breaker)),
    ("opened by request", |breaker| {
        breaker.trip_for_ms(u64::MAX);
    }),
    ("opened by advice", |breaker| {
        breaker.advise_ms(u64::MAX);
    }),
    ("opened and asked to stay open", |breaker| {
        fail(breaker);
        breaker.trip_for_ms(u64::MAX);
    }),
    ("tripped many times in a row", |breaker| {
        for _ in 0..20 {
            let probe = half_open(breaker);
            breaker.record(probe, Outcome::Failure);
        }
    }),
    ("every probe leaked", |breaker| {
        let _leaked = half_open(breaker);
        while leak(breaker) {}
    }),
    ("one probe leaked", |breaker| {
        let _leaked = half_open(breaker);
    }),
    ("probes dropped", |breaker| {
        let probe = half_open(breaker);
        breaker.record(probe, Outcome::Cancelled);
        drop(breaker.allow());
    }),
    ("a probe leaked after others were dropped", |breaker| {
        let probe = half_open(breaker);
        breaker.record(probe, Outcome::Cancelled);
        leak(breaker);
    }),
    ("a probe leaked after others were answered", |breaker| {
        let probe = half_open(breaker);
        breaker.record(probe, Outcome::Ignored);
        breaker.clock().advance(77);
        leak(breaker);
    }),
    ("recovering, or closed", |breaker| {
        let probe = half_open(breaker);
        breaker.record(probe, Outcome::Success);
    }),
    ("set back while open", |breaker| {
        fail(breaker);
        set_back(breaker, 2);
    }),
    ("set back while open, and noticed", |breaker| {
        fail(breaker);
        set_back(breaker, 2);
        leak(breaker);
        set_back(breaker, 16);
    }),
    ("set back while a probe is out", |breaker| {
        let _leaked = half_open(breaker);
        set_back(breaker, 16);
    }),
    ("adjusted while open", |breaker| {
        fail(breaker);
        adjust_there_and_back(breaker);
    }),
    ("adjusted while probes are out", |breaker| {
        let _leaked = half_open(breaker);
        leak(breaker);
        adjust_there_and_back(breaker);
        leak(breaker);
    }),
    ("restored while open", |breaker| {
        breaker.trip_for_ms(u64::MAX);
        let restored = breaker.restore(breaker.save(), 77);
        restored.expect("saved just now");
    }),
    ("shown in shadow", |breaker| {
        let _leaked = half_open(breaker);
        breaker.shadow(true);
        leak(breaker);
        breaker.shadow(false);
    }),
];

/// Sets the clock back by a part of the open time.
fn set_back(breaker: &Live, part: u64) {
    let back = u64::from(breaker.config().open_for_ms()) / part + 1;
    breaker.clock().set(breaker.clock().now_ms() - back);
}

fn adjust_there_and_back(breaker: &Live) {
    let config = breaker.config();
    let mut opening = Config::builder()
        .open_for_ms(config.open_for_ms().into())
        .max_open_ms(config.max_open_ms().into())
        .probe_lease_ms(config.probe_lease_ms().into())
        .ramp_ms(config.ramp_ms().into())
        .max_probes(config.max_probes().into());
    for latch in [true, false] {
        opening.latch = latch;
        let adjusted = breaker.adjust(&settings(opening));
        adjusted.expect("valid settings, and nobody else adjusts");
    }
}

/// Periods of those who ask, in milliseconds: each second up to ten minutes, odd ones, and multiples of
/// what each field can tell apart.
fn periods() -> Vec<u64> {
    let seconds = (1..=600).map(|seconds| 1_000 * seconds);
    let odd = (1..=600).map(|n| 109 * n);
    let rounds = (5..CLOCK_BITS).flat_map(|bits| {
        let round = 1_u64 << bits;
        [round - 1, round, round + 1, 3 * round]
    });
    let days = [24, 9, 25, 168].map(|hours| hours * 3_600_000);
    seconds.chain(odd).chain(rounds).chain(days).collect()
}

/// How many who ask every `period` may be turned away in a row; `None` where `Config` says that they may
/// find the same time left for ever.
fn bound(config: &Config, period: u64) -> Option<u64> {
    // The longest of all open times: two of the longest, and ten seconds. Rounding adds the most to a
    // lease, an eighth.
    let open_ms = 2 * u64::from(config.max_open_ms()) + 10_000;
    let lease_ms = u64::from(config.probe_lease_ms());
    let ramp_ms = u64::from(config.ramp_ms());
    let lease_bits = if !WIDE && lease_ms < 1_024 { 25 } else { CLOCK_BITS };
    let times = [(open_ms, CLOCK_BITS), (open_ms, CLOCK_BITS), (ramp_ms, CLOCK_BITS), (lease_ms, lease_bits)];
    let calls = times.map(|(ms, bits)| {
        // How far those who ask see such a time go on, or back.
        let round = 1_u64 << bits;
        let seen = (period % round).min(round - period % round);
        (seen > 0).then(|| (ms + ms / 8 + 32) / seen + 1)
    });
    calls.into_iter().sum()
}

#[test]
fn nothing_wedges_whatever_the_period_of_those_who_ask() {
    thread::scope(|scope| {
        for (number, opening) in openings().into_iter().enumerate() {
            // Not near zero, and not at the same place of any field.
            let start = 3_000_000_011 + 77_777_777 * number as u64;
            scope.spawn(move || never_wedges(opening, start));
        }
    });
}

fn never_wedges(opening: ConfigBuilder, start: u64) {
    for (way, go) in WAYS {
        for period in periods() {
            let clock = ManualClock::new(start);
            let window = Adjustable::new(&settings(opening)).expect("valid settings");
            let breaker = Breaker::new(window, (), &clock);
            go(&breaker);
            is_asked(&breaker, period, way);
        }
    }
}

/// Asks every `period` for some time, and leaks whatever is granted.
fn is_asked(breaker: &Live, period: u64, way: &str) {
    let Some(bound) = bound(&breaker.config(), period) else {
        return;
    };
    // Short periods take long to see the end of long times.
    let most_calls = (2 * bound).clamp(30, 2_000);
    let mut turned_away = 0;
    for _ in 0..most_calls {
        breaker.clock().advance(period);
        if leak(breaker) {
            turned_away = 0;
        } else {
            turned_away += 1;
            assert!(
                turned_away <= bound,
                "{way}: {turned_away} calls were rejected, one every {period} ms: {:?}",
                breaker.snapshot()
            );
        }
    }
}

#[test]
fn a_thousand_periods_later_probes_still_pass() {
    for period in [1_000, 60_000, 65_400, 65_536, 1 << 20, 1 << 24, 9 * 3_600_000] {
        for opening in openings() {
            let clock = ManualClock::new(0);
            let window = Adjustable::new(&settings(opening)).expect("valid settings");
            let breaker = Breaker::new(window, (), &clock);
            let bound = bound(&breaker.config(), period).expect("no round of a field");
            fail(&breaker);
            let mut turned_away = 0;
            for _ in 0..10_000 {
                clock.advance(period);
                turned_away = if leak(&breaker) { 0 } else { turned_away + 1 };
                assert!(turned_away <= bound, "every {period} ms: {breaker:?}");
            }
        }
    }
}

/// A clock that goes on, or back, by so much with each reading.
struct Creeping {
    shown: ManualClock,
    step: i64,
}

impl Clock for Creeping {
    fn now_ms(&self) -> u64 {
        let now = self.shown.now_ms();
        self.shown.set(now.wrapping_add_signed(self.step));
        now
    }
}

#[test]
fn a_clock_that_falls_with_each_reading_wedges_nothing() {
    for opening in openings() {
        for step in [-1, -100, -3_000, -40_000_000] {
            let clock = Creeping { shown: ManualClock::new(1 << 40), step };
            let window = Adjustable::<1>::new(&settings(opening)).expect("valid settings");
            let breaker = Breaker::new(window, (), &clock);
            breaker.allow().expect("closed").failure();
            // It falls beyond an eighth of each time.
            let longest =
                u64::from(breaker.config().max_open_ms()).max(breaker.config().probe_lease_ms().into());
            let calls = 4 * longest / step.unsigned_abs() + 100;
            if calls > 1_000_000 {
                continue;
            }
            let passed = (0..calls).filter(|_| leak(&breaker)).count();
            assert!(passed > 0, "{step} ms with each reading: {breaker:?}");
            // And then it goes on as clocks do.
            let period = u64::from(breaker.config().open_for_ms());
            let bound = bound(&breaker.config(), period).expect("no round of a field");
            let passes = (0..=bound).any(|_| {
                let now = clock.shown.now_ms();
                clock.shown.set(now + period + step.unsigned_abs() * 8);
                leak(&breaker)
            });
            assert!(passes, "after {step} ms with each reading: {breaker:?}");
        }
    }
}

#[test]
fn a_clock_that_goes_on_with_each_reading_keeps_no_call_for_as_long_as_it_was_set_back() {
    let rate = Rate::percent(100).min_calls(3);
    let windows = [
        WindowSettings::Failures { threshold: 3, within_ms: 1_000 },
        WindowSettings::Time { span_ms: 1_000, buckets: 4, rate },
    ];
    for window in windows {
        for (back, step) in [(1 << 20, 1), (1 << 31, 1), (1 << 40, 16)] {
            let clock = Creeping { shown: ManualClock::new(1 << 41), step };
            let window = AnyWindow::<9>::new(window).expect("valid settings");
            let breaker = Breaker::new(window, Config::DEFAULT, &clock);
            breaker.allow().expect("closed").failure();
            breaker.allow().expect("closed").failure();
            clock.shown.set((1 << 41) - back);
            for _ in 0..3 {
                // Where words are narrow, 2⁴⁰ ms back is the same time, and the first failure trips.
                if let Ok(permit) = breaker.allow() {
                    permit.failure();
                }
            }
            assert_eq!(breaker.phase(), Phase::Open, "{step} ms with each reading");
            // A call reads it at most 34 times, and once more to tell of a trip.
            let readings = (clock.shown.now_ms() - ((1 << 41) - back)) / step.unsigned_abs();
            assert!(readings < 3 * 40, "{readings} readings while three calls failed");
        }
    }
}

#[test]
fn a_clock_that_stands_still_lets_operators_through() {
    let clock = ManualClock::new(5);
    let window = Adjustable::<1>::new(&settings(Config::builder())).expect("valid settings");
    let breaker = Breaker::new(window, (), &clock);
    fail(&breaker);
    assert!((0..10_000).all(|_| !leak(&breaker)));
    assert!(breaker.recover());
    assert!(leak(&breaker), "a probe");
    assert!((0..10_000).all(|_| !leak(&breaker)));
    breaker.reset();
    assert!(leak(&breaker));
}
