//! Everything at once for a while: a flapping dependency, many generations, permits dropped, leaked
//! and doubled, operators, settings that are replaced, a clock that jumps; and what must hold
//! nevertheless.
//!
//! `NANOBREAKER_STRESS_SECONDS` says for how long (2 by default, for each window).

#![allow(dead_code, unreachable_pub, reason = "its modules are shared by several tests")]

#[path = "random.rs"]
mod random;
#[path = "stripes.rs"]
mod stripes;

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nanobreaker_core::window::{Adjustable, AnyWindow, Calls, StripedTime, Window, WithSlow};
use nanobreaker_core::{
    AdjustError, Breaker, Cause, Clock, Config, ConfigBuilder, CusumSettings, ManualClock, Observer, Outcome,
    Phase, Rate, Settings, Token, Transition, WindowSettings,
};
use random::Random;
use stripes::ByThread;

const WORKERS: u64 = 4;
const PROBES: u32 = 3;
const LONGEST_OPEN_MS: u32 = 80;
/// What others may advise, rounded up to a unit where words are narrow: so long may a clock that was set
/// back make an advised time look.
const LONGEST_ADVICE_MS: u32 = 2 * LONGEST_OPEN_MS + 10_000 + 3;
/// Generations before their number comes round again.
const GENERATIONS: usize = if Config::MAX_PROBES == 63 { 4_096 } else { 256 };

/// What happened, counted from outside the breaker.
struct Ledger {
    /// Steps of the generation that the observer was told of, and those by adjusting.
    generations: AtomicU64,
    transitions: AtomicU64,
    /// Probes in flight of each generation: counted after they were granted and until before they are
    /// answered, so never more than the breaker has.
    in_flight: Vec<AtomicI32>,
    unlawful: AtomicBool,
}

impl Ledger {
    fn new() -> Self {
        Self {
            generations: AtomicU64::new(0),
            transitions: AtomicU64::new(0),
            in_flight: (0..GENERATIONS).map(|_| AtomicI32::new(0)).collect(),
            unlawful: AtomicBool::new(false),
        }
    }
}

impl Ledger {
    /// What leaked in a generation is forgotten half a round later, long before its number is used again.
    fn forget_opposite(&self, generation: u16) {
        let opposite = (usize::from(generation) + GENERATIONS / 2) % GENERATIONS;
        self.in_flight[opposite].store(0, Ordering::Relaxed);
    }
}

impl Observer for &Ledger {
    fn transition(&self, told: &Transition) {
        use Phase::{Closed, Disabled, HalfOpen, Isolated, Open, Recovering};
        let (lawful, new_generation) = match (told.from, told.to, told.cause) {
            (
                Closed | Recovering,
                Open,
                Cause::ThresholdReached | Cause::SlowThresholdReached | Cause::Advised,
            ) => (true, true),
            (Closed | Recovering | HalfOpen, Open, Cause::TripRequested) => (true, true),
            (HalfOpen, Open, Cause::ProbesFailed | Cause::ProbesLost) => (true, true),
            (Open, HalfOpen, Cause::OpenTimeOver) => (true, false),
            (HalfOpen, Recovering, Cause::ProbesSucceeded) => (true, false),
            (Recovering, Closed, Cause::RampOver) => (true, false),
            (from, Isolated, Cause::Isolated) => (from != Isolated, true),
            (from, Disabled, Cause::Disabled) => (from != Disabled, true),
            (_, Closed, Cause::Reset) => (true, true),
            _ => (false, false),
        };
        let lawful = lawful && told.open_for_ms <= LONGEST_ADVICE_MS;
        // Relaxed: read after the threads are joined.
        self.unlawful.fetch_or(!lawful, Ordering::Relaxed);
        self.transitions.fetch_add(1, Ordering::Relaxed);
        self.generations.fetch_add(new_generation.into(), Ordering::Relaxed);
        if new_generation {
            self.forget_opposite(told.generation);
        }
    }
}

type Stressed<'a, W> = Breaker<W, &'a ManualClock, &'a Ledger>;

/// Replaces the settings.
type Adjust<W> = fn(&Stressed<'_, W>, &Settings) -> Result<(), AdjustError>;

/// A call in progress.
struct InProgress {
    token: Token,
    /// How many generations there had been when it began.
    began: u64,
}

/// One caller: some calls in progress, some outcomes late, some never. Between them it plays the
/// operator who can't make up his mind, and the clock.
fn work<W: Window>(
    breaker: &Stressed<'_, W>,
    ledger: &Ledger,
    stop: &AtomicBool,
    adjust: Option<Adjust<W>>,
    seed: u64,
) -> u64 {
    let mut random = Random::new(seed);
    let mut in_progress: Vec<InProgress> = Vec::new();
    let mut steps = 0;
    while !stop.load(Ordering::Relaxed) {
        steps += 1;
        meddle(breaker, &mut random);
        if let (Some(adjust), 0) = (adjust, random.below(200)) {
            // Each one differs from all others, so that it surely steps the generation.
            let mut settings = any(&mut random);
            settings.hung_after_ms = Some((steps as u32) << 3 | seed as u32);
            match adjust(breaker, &settings) {
                Ok(()) => {
                    ledger.generations.fetch_add(1, Ordering::Relaxed);
                    let now = breaker.snapshot().generation;
                    for generation in 0..8 {
                        ledger.forget_opposite(now.wrapping_sub(generation));
                    }
                }
                Err(AdjustError::Busy) => {}
                Err(error) => panic!("{error}"),
            }
        }
        let began = ledger.generations.load(Ordering::Relaxed);
        match breaker.allow() {
            Ok(permit) => {
                let token = permit.into_token();
                if token.is_probe() {
                    let counter = &ledger.in_flight[usize::from(token.generation())];
                    let before = counter.fetch_add(1, Ordering::SeqCst);
                    assert!(before < PROBES as i32, "{before} probes and one more");
                }
                in_progress.push(InProgress { token, began });
            }
            Err(rejected) => assert!(rejected.retry_after_ms() <= Some(LONGEST_ADVICE_MS)),
        }
        while in_progress.len() as u64 > random.below(4) {
            let which = random.below(in_progress.len() as u64) as usize;
            let InProgress { token, began } = in_progress.swap_remove(which);
            // So late that its generation's number may be in use again: nobody could tell.
            let passed = ledger.generations.load(Ordering::Relaxed) - began;
            if passed > GENERATIONS as u64 / 4 {
                continue;
            }
            // The dependency is well and ill by turns.
            let ill = breaker.clock().now_ms() & 256 == 0;
            let outcome = match random.below(20) {
                0 => Outcome::Cancelled,
                1 => Outcome::Ignored,
                2 => Outcome::Slow,
                // Never heard of again.
                3 if random.below(10) == 0 => continue,
                _ if ill => Outcome::Failure,
                _ => Outcome::Success,
            };
            if token.is_probe() {
                let counter = &ledger.in_flight[usize::from(token.generation())];
                counter.fetch_sub(1, Ordering::SeqCst);
            } else if random.below(50) == 0 {
                breaker.record(token, outcome);
            }
            breaker.record(token, outcome);
        }
    }
    steps
}

fn meddle<W: Window>(breaker: &Stressed<'_, W>, random: &mut Random) {
    let clock = breaker.clock();
    let now = clock.now_ms();
    if random.below(64) == 0 {
        clock.set(now + 1);
    }
    match random.below(20_000) {
        0 => clock.set(now.saturating_sub(random.below(500))),
        1 => clock.set(now + (random.below(20) << random.below(20))),
        2 => drop(breaker.trip()),
        3 => drop(breaker.trip_for_ms(random.below(200))),
        4 => drop(breaker.isolate()),
        5 => drop(breaker.disable()),
        6..=12 => breaker.reset(),
        13 => breaker.shadow(true),
        14..=20 => breaker.shadow(false),
        21 => breaker.seed(random.below(1 << 32) as u32),
        22..=28 => std::thread::yield_now(),
        29 => drop(breaker.advise_ms(random.below(200))),
        30 => drop(breaker.recover()),
        31..=40 => {
            let snapshot = breaker.snapshot();
            assert!(snapshot.time_left_ms <= Some(LONGEST_ADVICE_MS));
            assert!(u32::from(snapshot.in_flight) <= PROBES);
        }
        _ => {}
    }
}

fn opening() -> ConfigBuilder {
    Config::builder()
        .open_for_ms(20)
        .max_open_ms(LONGEST_OPEN_MS.into())
        .max_probes(PROBES)
        .probe_successes(4)
        .probe_failures(2)
        .probe_lease_ms(30)
        .ramp_ms(40)
        .jitter_permille(200)
}

/// Others: no longer open times, no more probes. Any kind of window, of any size that fits.
fn any(random: &mut Random) -> Settings {
    let mut any = |from: u64, others: u64| from + random.below(others);
    let opening = opening()
        .open_for_ms(any(1, LONGEST_OPEN_MS.into()))
        .max_probes(any(1, PROBES.into()) as u32)
        .probe_successes(any(1, 4) as u32)
        .probe_failures(any(1, 2) as u32)
        .probe_lease_ms(any(1, 60))
        .ramp_ms(any(1, 80))
        .jitter_permille(any(1, 1_000) as u32);
    let window = match any(0, 7) {
        0 | 1 => WindowSettings::Failures { threshold: any(4, 4) as u32, within_ms: any(500, 1_000) },
        2 => WindowSettings::Consecutive { threshold: any(4, 4) as u32 },
        3 => calls(any(10, 10) as u32),
        4 => calls(any(100, 2) as u32),
        5 => CUSUM,
        _ => time(any(500, 1_000), any(2, 3) as u32),
    };
    Settings { window, slow_window: (any(0, 4) == 0).then_some(CUSUM), opening, ..Settings::DEFAULT }
}

/// Half of five calls or more.
const RATE: Rate = Rate::percent(50).min_calls(5);

const FAILURES: WindowSettings = WindowSettings::Failures { threshold: 5, within_ms: 1_000 };

/// Five failures in a row trip.
const CUSUM: WindowSettings = WindowSettings::Cusum(CusumSettings {
    normal_ppm: 2_000,
    broken_ppm: 200_000,
    calls_per_false_trip: 1_000_000_000,
    sustained_for_ms: 0,
});

const fn calls(size: u32) -> WindowSettings {
    WindowSettings::Calls { size, rate: RATE }
}

const fn time(span_ms: u64, buckets: u32) -> WindowSettings {
    let rate = RATE;
    WindowSettings::Time { span_ms, buckets, rate }
}

fn stress<W: Window<Settings = Config> + Sync>(window: W) {
    let config = opening().build().expect("a valid configuration");
    stress_adjusting(window, config, None);
}

fn stress_adjusting<W: Window<Settings: Sync> + Sync>(
    window: W,
    config: W::Settings,
    adjust: Option<Adjust<W>>,
) {
    let clock = ManualClock::new(1_000);
    let ledger = Ledger::new();
    let breaker = Breaker::with_observer(window, config, &clock, &ledger);
    let stop = AtomicBool::new(false);
    // A little by default: tests run in seconds, and the loom models have explored what is rare.
    let length = match random::from_environment("NANOBREAKER_STRESS_SECONDS", 0) {
        0 => Duration::from_millis(400),
        seconds => Duration::from_secs(seconds),
    };
    let ends = Instant::now() + length;
    let calls: Vec<u64> = std::thread::scope(|scope| {
        let (breaker, ledger, stop) = (&breaker, &ledger, &stop);
        let workers: Vec<_> = (1..=WORKERS)
            .map(|seed| scope.spawn(move || work(breaker, ledger, stop, adjust, seed)))
            .collect();
        while Instant::now() < ends && !workers.iter().any(|worker| worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(20));
        }
        stop.store(true, Ordering::Relaxed);
        let join = |worker: std::thread::ScopedJoinHandle<'_, u64>| worker.join();
        let calls = workers.into_iter().map(join);
        calls.map(|calls| calls.expect("a worker saw what must not be")).collect()
    });
    let transitions = ledger.transitions.load(Ordering::Relaxed);
    println!("{calls:?} calls, {transitions} transitions");
    assert!(calls.iter().all(|calls| *calls > 0), "someone starved");
    assert!(transitions > 0, "nothing was stressed");
    assert!(!ledger.unlawful.load(Ordering::Relaxed));
    let generations = ledger.generations.load(Ordering::Relaxed);
    assert_eq!(
        generations % GENERATIONS as u64,
        u64::from(breaker.snapshot().generation),
        "of each transition the observer is told once"
    );
    is_not_wedged(&breaker);
    if let Some(adjust) = adjust {
        adjust(&breaker, &at_first()).expect("nobody else adjusts");
    }
    trips_as_ever(&breaker);
}

/// Whatever leaked, a call passes after a lease, an open time and a ramp.
fn is_not_wedged<W: Window>(breaker: &Stressed<'_, W>) {
    if breaker.snapshot().phase == Phase::Isolated {
        breaker.reset();
    }
    for _ in 0..10 {
        match breaker.allow() {
            Ok(_) => return,
            Err(rejected) => breaker.clock().advance(rejected.retry_after_ms().unwrap_or(0).into()),
        }
    }
    panic!("wedged: {:?}", breaker.snapshot());
}

/// The window is none the worse: its fifth failure trips, and no earlier one.
fn trips_as_ever<W: Window>(breaker: &Stressed<'_, W>) {
    breaker.shadow(false);
    breaker.reset();
    for failures in 1..=5 {
        assert_eq!(breaker.snapshot().phase, Phase::Closed, "{failures}");
        breaker.allow().expect("closed").failure();
    }
    assert_eq!(breaker.snapshot().phase, Phase::Open);
}

/// What an adjusted breaker begins and ends with.
fn at_first() -> Settings {
    Settings { window: FAILURES, opening: opening(), ..Settings::DEFAULT }
}

fn window<const WORDS: usize>(settings: WindowSettings) -> AnyWindow<WORDS> {
    AnyWindow::new(settings).expect("valid")
}

#[test]
fn the_failure_ring_withstands() {
    stress(window::<8>(FAILURES));
}

#[test]
fn the_consecutive_window_withstands() {
    stress(window::<1>(WindowSettings::Consecutive { threshold: 5 }));
}

#[test]
fn the_cumulative_sum_withstands() {
    stress(window::<1>(CUSUM));
}

#[test]
fn the_calls_windows_withstand() {
    stress(window::<1>(calls(10)));
    stress(window::<8>(calls(100)));
}

#[test]
fn the_time_window_withstands() {
    stress(window::<9>(time(1_000, 4)));
}

#[test]
fn the_striped_time_window_withstands() {
    stress(StripedTime::<_, 3, 4>::new(1_000, 4, RATE, &ByThread).expect("valid"));
}

#[test]
fn an_adjusted_window_withstands() {
    let window = Adjustable::<9, 1>::new(&at_first()).expect("valid");
    stress_adjusting(window, (), Some(|breaker, settings| breaker.adjust(settings)));
}

#[test]
fn two_windows_withstand() {
    stress(WithSlow::new(window::<8>(FAILURES), window::<1>(calls(10))));
}

/// However many calls were counted at once, the window holds the last ones, and no others: after as many
/// successes as it has places, it trips on as many failures as it must, and on no fewer.
#[test]
fn a_window_of_calls_counts_each_call_once_and_forgets_each_once() {
    let rounds = 20 * random::from_environment("NANOBREAKER_STRESS_SECONDS", 1);
    for size in [60_u32, 100, 1_024] {
        let rate = Rate::percent(100).min_calls(size);
        let window = Calls::<65>::new(size, rate).expect("valid");
        let breaker = Breaker::new(window, Config::DEFAULT, ManualClock::new(0));
        for round in 0..rounds {
            let call_at_random = |seed| {
                let mut random = Random::new(seed + WORKERS * round);
                for call in 0..3 * size {
                    let permit = breaker.allow().expect("half of the calls succeed");
                    // Never as many failures in a row as there are places.
                    if call % 3 == 0 || random.below(2) == 0 {
                        permit.success();
                    } else {
                        permit.failure();
                    }
                }
            };
            std::thread::scope(|scope| {
                let spawn = |seed| scope.spawn(move || call_at_random(seed));
                let workers: Vec<_> = (1..=WORKERS).map(spawn).collect();
                // Joined one by one: the end of a scope is a wait that ThreadSanitizer can't see.
                for worker in workers {
                    worker.join().expect("calls don't panic");
                }
            });
            for _ in 0..size {
                breaker.allow().expect("closed").success();
            }
            for failures in 0..size {
                assert_eq!(breaker.phase(), Phase::Closed, "{failures} of {size}");
                breaker.allow().expect("closed").failure();
            }
            assert_eq!(breaker.phase(), Phase::Open, "{size}");
            breaker.reset();
        }
    }
}
