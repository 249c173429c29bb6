//! Thousands of short random histories on real threads, each judged against the sequential model.
//!
//! Each history has three acts: one thread brings the breaker somewhere, some threads use it at
//! once while the clock stands, and one thread looks what came of it. See the README for how to run
//! more of them.

#![allow(unreachable_pub, reason = "its modules are shared by several tests")]

#[path = "history.rs"]
mod history;
#[path = "../../core/tests/model/mod.rs"]
mod model;
#[path = "random.rs"]
mod random;
#[path = "stripes.rs"]
mod stripes;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use history::{Call, LogicalClock, is_linearizable};
use model::play::{WORDS, any};
use model::time::Moment;
use model::{Answer, Model, Name, Operation};
use nanobreaker_core::window::{Adjustable, StripedTime, Window, WithSlow};
use nanobreaker_core::{
    AdjustError, Breaker, Clock, Config, CusumSettings, ManualClock, Outcome, Rate, Settings, Token,
    WindowSettings,
};
use random::Random;
use stripes::ByThread;

const THREADS: usize = 3;

/// A clock in which threads stall: most of an operation's races lie around its clock reads.
struct Stalling(ManualClock);

impl Clock for Stalling {
    fn now_ms(&self) -> u64 {
        random::stall();
        let now = self.0.now_ms();
        random::stall();
        now
    }
}

/// Replaces a breaker's settings.
type Adjust<W> = fn(&Breaker<W, &Stalling>, &Settings) -> Result<(), AdjustError>;

/// One probe decides, nothing grows, nothing latches.
fn plain(window: WindowSettings) -> Settings {
    Settings {
        window,
        opening: Config::builder().open_for_ms(1_000).probe_lease_ms(500),
        ..Settings::DEFAULT
    }
}

/// What one thread knows.
struct Actor<'a, W: Window> {
    thread: usize,
    breaker: &'a Breaker<W, &'a Stalling>,
    /// How its settings can be replaced, and what they are at first.
    adjusting: Option<(Adjust<W>, Settings)>,
    order: &'a LogicalClock,
    now: Moment,
    random: Random,
    tokens: HashMap<Name, Token>,
    in_progress: Vec<Name>,
    named: Name,
    calls: Vec<Call>,
}

impl<'a, W: Window> Actor<'a, W> {
    fn new(
        thread: usize,
        breaker: &'a Breaker<W, &'a Stalling>,
        order: &'a LogicalClock,
        random: Random,
    ) -> Self {
        Self {
            thread,
            breaker,
            adjusting: None,
            order,
            now: 0,
            random,
            tokens: HashMap::new(),
            in_progress: Vec::new(),
            named: thread as Name * 1_000,
            calls: Vec::new(),
        }
    }

    fn act(&mut self, operation: Operation) {
        let (breaker, adjusting) = (self.breaker, self.adjusting);
        let tokens = &mut self.tokens;
        let call = self.order.time(self.thread, operation, self.now, || match operation {
            Operation::Allow(name) => match breaker.allow_token() {
                Ok(token) => {
                    tokens.insert(name, token);
                    Answer::Granted { generation: token.generation(), probe: token.is_probe() }
                }
                Err(rejected) => Answer::Rejected {
                    phase: rejected.phase,
                    generation: rejected.generation,
                    retry_after_ms: rejected.retry_after_ms(),
                },
            },
            Operation::Record(name, outcome) => Answer::Recorded(breaker.record(tokens[&name], outcome)),
            Operation::Trip => Answer::Changed(breaker.trip()),
            Operation::TripFor(ms) => Answer::Changed(breaker.trip_for_ms(ms)),
            Operation::Advise(ms) => Answer::Changed(breaker.advise_ms(ms)),
            Operation::Recover => Answer::Changed(breaker.recover()),
            Operation::Isolate => Answer::Changed(breaker.isolate()),
            Operation::Disable => Answer::Changed(breaker.disable()),
            Operation::Restart(_) => unreachable!("two steps, saving and restoring"),
            Operation::Adjust(settings) => {
                let (adjust, _) = adjusting.expect("only where it can be done");
                match adjust(breaker, &settings) {
                    Ok(()) => Answer::Done,
                    Err(AdjustError::Busy) => Answer::Busy,
                    Err(error) => unreachable!("{error}"),
                }
            }
            Operation::Reset => {
                breaker.reset();
                Answer::Done
            }
            Operation::Shadow(on) => {
                breaker.shadow(on);
                Answer::Done
            }
        });
        if let (Operation::Allow(name), Answer::Granted { .. }) = (operation, call.answer) {
            self.in_progress.push(name);
        }
        self.calls.push(call);
    }

    fn begin(&mut self) {
        self.named += 1;
        self.act(Operation::Allow(self.named));
    }

    fn end(&mut self, outcome: Outcome) {
        if !self.in_progress.is_empty() {
            let name = self.in_progress.remove(0);
            self.act(Operation::Record(name, outcome));
        }
    }

    /// Another threshold and another number of probes and answers.
    fn adjust(&mut self, mut settings: Settings) {
        let mut number = || 1 + self.random.below(2) as u32;
        let opening = settings.opening.max_probes(number());
        settings.opening = opening.probe_successes(number()).probe_failures(number());
        let new = 1 + number();
        match &mut settings.window {
            WindowSettings::Failures { threshold, .. } | WindowSettings::Consecutive { threshold } => {
                *threshold = new
            }
            WindowSettings::Calls { rate, .. } | WindowSettings::Time { rate, .. } => {
                *rate = rate.min_calls(new);
            }
            WindowSettings::Cusum(cusum) => cusum.calls_per_false_trip = 10_u64.pow(2 * new),
        }
        self.act(Operation::Adjust(settings));
    }

    /// Any one operation; operators' are rare, except adjusting where it can be done.
    fn act_at_random(&mut self) {
        let outcome = match self.random.below(16) {
            0..=7 => Outcome::Failure,
            8..=11 => Outcome::Success,
            12 => Outcome::Slow,
            13 => Outcome::SlowFailure,
            _ => Outcome::Cancelled,
        };
        if let (Some((_, settings)), 0) = (self.adjusting, self.random.below(4)) {
            return self.adjust(settings);
        }
        match self.random.below(24) {
            0 => self.act(Operation::Trip),
            1 => self.act(Operation::Reset),
            2 => self.act(Operation::Shadow(true)),
            3 => self.act(Operation::Shadow(false)),
            4 if self.random.below(2) == 0 => self.act(Operation::TripFor(700)),
            4 if self.random.below(2) == 0 => self.act(Operation::Advise(700)),
            4 => self.act(Operation::Recover),
            5 if self.random.below(2) == 0 => self.act(Operation::Isolate),
            5 => self.act(Operation::Disable),
            _ if self.in_progress.is_empty() => self.begin(),
            6..=9 => self.begin(),
            _ => self.end(outcome),
        }
    }
}

/// One history with this seed; an error shows it.
fn history<W: Window<Settings: Sync> + Sync>(
    settings: Settings,
    (window, config): (W, W::Settings),
    adjust: Option<Adjust<W>>,
    before: &[Outcome],
    seed: u64,
) -> Result<bool, String> {
    let clock = Stalling(ManualClock::new(0));
    let breaker = Breaker::new(window, config, &clock);
    let order = LogicalClock::default();
    let mut random = Random::new(seed);
    let mut alone = Actor::new(0, &breaker, &order, random.fork());
    let mut now: Moment = 5;
    let mut wait = |alone: &mut Actor<'_, W>, ms: Moment| {
        now += ms;
        clock.0.set(now as u64);
        alone.now = now;
    };

    // So that a window may be full, some calls beforehand, which need no search.
    let mut start = Model::new(settings);
    for outcome in before {
        for operation in [Operation::Allow(0), Operation::Record(0, *outcome)] {
            let course = start.after(operation, 0).remove(0);
            start = course.model;
        }
        start.forget(0);
        breaker.record(breaker.allow_token().expect("healthy"), *outcome);
    }

    // First act: somewhere in its life.
    wait(&mut alone, 0);
    for _ in 0..random.below(4) {
        alone.begin();
        alone.end(Outcome::Failure);
    }
    match random.below(4) {
        0 => {}
        1 => alone.act(Operation::Trip),
        _ => {
            alone.act(Operation::Trip);
            wait(&mut alone, 1_000);
            for _ in 0..random.below(3) {
                alone.begin();
            }
            if random.below(3) == 0 {
                wait(&mut alone, 500);
            }
        }
    }

    // Second act: all at once.
    let ready = AtomicUsize::new(0);
    let mut actors: Vec<Actor<'_, W>> = (1..=THREADS)
        .map(|thread| {
            let mut actor = Actor::new(thread, &breaker, &order, random.fork());
            actor.now = alone.now;
            actor.adjusting = adjust.map(|adjust| (adjust, settings));
            actor
        })
        .collect();
    // Calls that began in the first act may end on another thread.
    for (i, name) in alone.in_progress.drain(..).enumerate() {
        let actor = &mut actors[i % THREADS];
        actor.tokens.insert(name, alone.tokens[&name]);
        actor.in_progress.push(name);
    }
    std::thread::scope(|scope| {
        let ready = &ready;
        let act = |actor: &'_ mut Actor<'_, W>| {
            // Acquire, release: all begin once all are there.
            ready.fetch_add(1, Ordering::AcqRel);
            while ready.load(Ordering::Acquire) < THREADS {
                random::stall();
            }
            for _ in 0..1 + actor.random.below(4) {
                actor.act_at_random();
            }
        };
        let acting: Vec<_> = actors.iter_mut().map(|actor| scope.spawn(move || act(actor))).collect();
        // Joined one by one: the end of a scope is a wait that ThreadSanitizer can't see.
        for thread in acting {
            thread.join().expect("operations don't panic");
        }
    });

    // Third act: what came of it.
    wait(&mut alone, 1);
    for _ in 0..4 {
        alone.begin();
        alone.end(Outcome::Failure);
    }
    let mut calls = std::mem::take(&mut alone.calls);
    calls.extend(actors.into_iter().flat_map(|actor| actor.calls));
    let snapshot = breaker.snapshot();
    calls.sort_by_key(Call::began);
    if is_linearizable(&start, &calls, &snapshot, alone.now) {
        return Ok(calls.windows(2).any(|calls| calls[0].overlaps(&calls[1])));
    }
    let told: Vec<String> = calls.iter().map(Call::to_string).collect();
    Err(format!("seed {seed}, {settings:?}\n{}\nends as {snapshot:?}", told.join("\n")))
}

/// Plays histories, each of which must have an order.
fn all_linearizable<W: Window<Settings: Sync> + Sync>(
    settings: Settings,
    before: &[Outcome],
    breaker: impl Fn(&Settings) -> (W, W::Settings),
    adjust: Option<Adjust<W>>,
) {
    let histories = random::from_environment("NANOBREAKER_HISTORIES", 300);
    let first = random::from_environment("NANOBREAKER_SEED", 1);
    let mut faults = Vec::new();
    let mut concurrent = 0;
    for seed in first..first + histories {
        let mut random = Random::new(!seed);
        let mut number = || 1 + random.below(2) as u32;
        let opening = settings.opening.max_probes(number());
        let settings =
            Settings { opening: opening.probe_successes(number()).probe_failures(number()), ..settings };
        match history(settings, breaker(&settings), adjust, before, seed) {
            Ok(overlap) => concurrent += u64::from(overlap),
            Err(fault) => faults.push(fault),
        }
    }
    println!("{histories} histories, calls overlapped in {concurrent}");
    assert!(
        faults.is_empty(),
        "{} of {histories} histories have no order, such as\n{}",
        faults.len(),
        faults[0]
    );
    assert!(concurrent > 0, "no two calls overlapped: nothing was shown");
}

fn config(settings: &Settings) -> Config {
    settings.opening.build().expect("valid settings")
}

fn in_one_window(window: WindowSettings) {
    let breaker = |settings: &Settings| (any(window), config(settings));
    all_linearizable(plain(window), &[], breaker, None);
}

const FAILURES: WindowSettings = WindowSettings::Failures { threshold: 3, within_ms: 10_000 };

const CONSECUTIVE: WindowSettings = WindowSettings::Consecutive { threshold: 3 };

/// 60 per cent of three calls or more.
const RATE: Rate = Rate::percent(60).min_calls(3);

const fn calls(size: u32) -> WindowSettings {
    WindowSettings::Calls { size, rate: RATE }
}

const TIME: WindowSettings = WindowSettings::Time { span_ms: 10_000, buckets: 4, rate: RATE };

/// Three failures trip, and a success makes up for a fifth of one.
const CUSUM: WindowSettings = WindowSettings::Cusum(CusumSettings {
    normal_ppm: 10_000,
    broken_ppm: 600_000,
    calls_per_false_trip: 100_000,
    sustained_for_ms: 0,
});

#[test]
fn the_failure_ring_is_linearizable() {
    in_one_window(FAILURES);
}

#[test]
fn the_consecutive_window_is_linearizable() {
    in_one_window(CONSECUTIVE);
}

#[test]
fn the_calls_window_of_one_word_is_linearizable() {
    in_one_window(calls(5));
}

#[test]
fn the_calls_window_of_many_words_is_linearizable() {
    in_one_window(calls(60));
}

#[test]
fn the_cumulative_sum_is_linearizable() {
    in_one_window(CUSUM);
}

/// Each call evicts another one, which may be under way itself.
#[test]
fn a_full_calls_window_is_linearizable() {
    for (size, every) in [(5_u32, 2), (60, 2), (60, 3), (64, 2), (1_024, 2)] {
        let outcomes = (0..size).map(|n| match n % every {
            0 => Outcome::Failure,
            _ => Outcome::Success,
        });
        let before: Vec<Outcome> = outcomes.collect();
        let failures = size.div_ceil(every);
        // Two more than there are.
        let rate = Rate::ppm((failures + 2) * 1_000_000 / size).min_calls(size);
        let window = WindowSettings::Calls { size, rate };
        let breaker = |settings: &Settings| (any(window), config(settings));
        all_linearizable(plain(window), &before, breaker, None);
    }
}

#[test]
fn the_time_window_is_linearizable() {
    in_one_window(TIME);
}

/// A thread that sums may miss a good call whose `record` has not returned. Such a call has its place
/// in the order after that thread's, as any two that overlap may; so nothing more is allowed here than
/// for the plain window.
#[test]
fn the_striped_time_window_is_linearizable() {
    let breaker = |settings: &Settings| {
        let window = StripedTime::<_, 3, 4>::new(10_000, 4, RATE, &ByThread);
        (window.expect("valid settings"), config(settings))
    };
    all_linearizable(plain(TIME), &[], breaker, None);
}

/// Adjusting is an operation like the others: it takes effect in one step.
fn linearizable_while_adjusted(settings: Settings) {
    let window = |settings: &Settings| {
        let window = Adjustable::<WORDS, WORDS>::new(settings);
        (window.expect("valid settings"), ())
    };
    let adjust = |breaker: &Breaker<_, &Stalling>, settings: &Settings| breaker.adjust(settings);
    all_linearizable(settings, &[], window, Some(adjust));
}

#[test]
fn adjusted_windows_are_linearizable() {
    for window in [FAILURES, CONSECUTIVE, calls(5), calls(60), TIME, CUSUM] {
        linearizable_while_adjusted(plain(window));
    }
}

#[test]
fn an_adjusted_pair_of_windows_is_linearizable() {
    linearizable_while_adjusted(Settings { slow_window: Some(calls(5)), ..plain(FAILURES) });
}

#[test]
fn two_windows_are_linearizable() {
    let settings = Settings { slow_window: Some(calls(5)), ..plain(FAILURES) };
    let breaker = |settings: &Settings| {
        let windows = WithSlow::new(any(FAILURES), any(calls(5)));
        (windows, config(settings))
    };
    all_linearizable(settings, &[], breaker, None);
}
