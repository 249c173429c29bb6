//! Everything at once for a while: a flapping dependency, many generations, permits dropped, leaked
//! and doubled, operators, settings that are replaced, a clock that jumps; and what must hold
//! nevertheless.
//!
//! `NANOBREAKER_STRESS_SECONDS` says for how long (2 by default, for each window).

#![allow(
    dead_code,
    unreachable_pub,
    reason = "its modules are shared by several tests"
)]

#[path = "random.rs"]
mod random;
#[path = "stripes.rs"]
mod stripes;

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nanobreaker_core::window::{Adjustable, AnyWindow, StripedTime, Window, WithSlow};
use nanobreaker_core::{
    Breaker, Cause, Clock, Config, ManualClock, Observer, Outcome, Phase, Token, Transition,
};
use random::Random;
use stripes::ByThread;

const WORKERS: u64 = 4;
const PROBES: u32 = 3;
const LONGEST_OPEN_MS: u32 = 80;
/// Generations before their number comes round again.
const GENERATIONS: usize = if Config::MAX_PROBES == 63 { 4_096 } else { 256 };

/// What happened, counted from outside the breaker.
struct Ledger {
    /// Steps of the generation that the observer was told of.
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

impl Observer for &Ledger {
    fn transition(&self, told: &Transition) {
        use Phase::{Closed, Disabled, HalfOpen, Isolated, Open, Recovering};
        let (lawful, new_generation) = match (told.from, told.to, told.cause) {
            (Closed | Recovering, Open, Cause::ThresholdReached) => (true, true),
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
        let lawful = lawful && told.open_for_ms <= LONGEST_OPEN_MS;
        // Relaxed: read after the threads are joined.
        self.unlawful.fetch_or(!lawful, Ordering::Relaxed);
        self.transitions.fetch_add(1, Ordering::Relaxed);
        self.generations
            .fetch_add(new_generation.into(), Ordering::Relaxed);
        // What leaked in a generation is forgotten half a round later, long before its number is
        // used again.
        let opposite = (usize::from(told.generation) + GENERATIONS / 2) % GENERATIONS;
        if new_generation {
            self.in_flight[opposite].store(0, Ordering::Relaxed);
        }
    }
}

type Stressed<'a, W> = Breaker<W, &'a ManualClock, &'a Ledger>;

/// Replaces the settings by others, or by those at first.
type Adjust<W> = fn(&Stressed<'_, W>, Option<&mut Random>) -> bool;

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
            adjust(breaker, Some(&mut random));
        }
        let began = ledger.generations.load(Ordering::Relaxed);
        match breaker.allow() {
            Ok(permit) => {
                let token = Token::from(permit);
                if token.is_probe() {
                    let counter = &ledger.in_flight[usize::from(token.generation())];
                    let before = counter.fetch_add(1, Ordering::SeqCst);
                    assert!(before < PROBES as i32, "{before} probes and one more");
                }
                in_progress.push(InProgress { token, began });
            }
            Err(rejected) => assert!(rejected.retry_after_ms() <= Some(LONGEST_OPEN_MS)),
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
        13 => breaker.observe(true),
        14..=20 => breaker.observe(false),
        21 => breaker.seed(random.below(1 << 32) as u32),
        22..=30 => std::thread::yield_now(),
        31..=40 => {
            let snapshot = breaker.snapshot();
            assert!(snapshot.time_left_ms <= Some(LONGEST_OPEN_MS));
            assert!(u32::from(snapshot.in_flight) <= PROBES);
        }
        _ => {}
    }
}

/// Others than at first with `random`: no longer open times, no more probes.
fn config(mut random: Option<&mut Random>) -> Config {
    let mut any = |at_first: u32, others: u64| match &mut random {
        Some(random) => 1 + random.below(others) as u32,
        None => at_first,
    };
    Config::builder()
        .open_for_ms(any(20, LONGEST_OPEN_MS.into()).into())
        .max_open_ms(LONGEST_OPEN_MS.into())
        .probes(any(PROBES, PROBES.into()))
        .successes(any(4, 4))
        .failures(any(2, 2))
        .probe_lease_ms(any(30, 60).into())
        .ramp_ms(any(40, 80).into())
        .jitter_permille(any(200, 1_000))
        .build()
        .expect("a valid configuration")
}

fn stress<W: Window + Sync>(window: W) {
    stress_adjusting(window, None);
}

fn stress_adjusting<W: Window + Sync>(window: W, adjust: Option<Adjust<W>>) {
    let config = config(None);
    let clock = ManualClock::new(1_000);
    let ledger = Ledger::new();
    let breaker = Breaker::with_observer(window, config, &clock, &ledger);
    let stop = AtomicBool::new(false);
    let seconds = random::from_environment("NANOBREAKER_STRESS_SECONDS", 2);
    let ends = Instant::now() + Duration::from_secs(seconds);
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
        calls
            .map(|calls| calls.expect("a worker saw what must not be"))
            .collect()
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
        assert!(adjust(&breaker, None), "nobody else adjusts");
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
            Err(rejected) => breaker
                .clock()
                .advance(rejected.retry_after_ms().unwrap_or(0).into()),
        }
    }
    panic!("wedged: {:?}", breaker.snapshot());
}

/// The window is none the worse: its fifth failure trips, and no earlier one.
fn trips_as_ever<W: Window>(breaker: &Stressed<'_, W>) {
    breaker.observe(false);
    breaker.reset();
    for failures in 1..=5 {
        assert_eq!(breaker.snapshot().phase, Phase::Closed, "{failures}");
        breaker.allow().expect("closed").failure();
    }
    assert_eq!(breaker.snapshot().phase, Phase::Open);
}

#[test]
fn the_failure_ring_withstands() {
    stress(AnyWindow::<8>::failures(5, 1_000).expect("valid"));
}

#[test]
fn the_consecutive_window_withstands() {
    stress(AnyWindow::<1>::consecutive(5).expect("valid"));
}

#[test]
fn the_calls_windows_withstand() {
    stress(AnyWindow::<1>::calls(10, 50, 5).expect("valid"));
    stress(AnyWindow::<8>::calls(100, 50, 5).expect("valid"));
}

#[test]
fn the_time_window_withstands() {
    stress(AnyWindow::<8>::time(1_000, 4, 50, 5).expect("valid"));
}

#[test]
fn the_striped_time_window_withstands() {
    stress(StripedTime::<_, 3, 4>::new(1_000, 4, 50, 5, &ByThread).expect("valid"));
}

/// Any kind of window, of any size that fits; at first the failure ring.
fn any(random: Option<&mut Random>) -> AnyWindow<8> {
    let Some(random) = random else {
        return AnyWindow::failures(5, 1_000).expect("valid");
    };
    let window = match random.below(6) {
        0 | 1 => AnyWindow::failures(4 + random.below(4) as u32, 500 + random.below(1_000)),
        2 => AnyWindow::consecutive(4 + random.below(4) as u32),
        3 => AnyWindow::calls(10 + random.below(10) as u32, 50, 5),
        4 => AnyWindow::calls(100 + random.below(2) as u32, 50, 5),
        _ => AnyWindow::time(500 + random.below(1_000), 2 + random.below(3) as u32, 50, 5),
    };
    window.expect("valid")
}

#[test]
fn an_adjusted_window_withstands() {
    stress_adjusting(
        Adjustable::new(any(None)),
        Some(|breaker, random| match random {
            Some(random) => breaker.adjust(&any(Some(random)), config(Some(random))),
            None => breaker.adjust(&any(None), config(None)),
        }),
    );
}

#[test]
fn two_windows_withstand() {
    stress(WithSlow::new(
        AnyWindow::<8>::failures(5, 1_000).expect("valid"),
        AnyWindow::<1>::calls(10, 50, 5).expect("valid"),
    ));
}
