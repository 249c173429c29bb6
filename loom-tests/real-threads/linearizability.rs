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
use model::play::any;
use model::settings::{Settings, WindowKind};
use model::time::Moment;
use model::{Answer, Model, Name, Operation};
use nanobreaker_core::window::{Adjustable, StripedTime, Window, WithSlow};
use nanobreaker_core::{Breaker, Clock, ManualClock, Outcome, Token};
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
type Adjust<W> = fn(&Breaker<W, &Stalling>, &Settings) -> bool;

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
        let call = self
            .order
            .time(self.thread, operation, self.now, || match operation {
                Operation::Allow(name) => match breaker.allow_token() {
                    Ok(token) => {
                        tokens.insert(name, token);
                        Answer::Granted {
                            generation: token.generation(),
                            probe: token.is_probe(),
                        }
                    }
                    Err(rejected) => Answer::Rejected {
                        phase: rejected.phase,
                        generation: rejected.generation,
                        retry_after_ms: rejected.retry_after_ms(),
                    },
                },
                Operation::Record(name, outcome) => {
                    Answer::Recorded(breaker.record(tokens[&name], outcome))
                }
                Operation::Trip => Answer::Changed(breaker.trip()),
                Operation::TripFor(ms) => Answer::Changed(breaker.trip_for_ms(ms)),
                Operation::Isolate => Answer::Changed(breaker.isolate()),
                Operation::Disable => Answer::Changed(breaker.disable()),
                Operation::Restart => unreachable!("two steps, saving and restoring: not played"),
                Operation::Adjust(settings) => {
                    let (adjust, _) = adjusting.expect("only where it can be done");
                    Answer::Changed(adjust(breaker, &settings))
                }
                Operation::Reset => {
                    breaker.reset();
                    Answer::Done
                }
                Operation::Observe(on) => {
                    breaker.observe(on);
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
        (settings.probes, settings.successes, settings.failures) = (number(), number(), number());
        settings.window = settings.window.with_threshold(1 + number());
        self.act(Operation::Adjust(settings));
    }

    /// Any one operation; operators' are rare, except adjusting where it can be done.
    fn act_at_random(&mut self) {
        let outcome = match self.random.below(8) {
            0..=3 => Outcome::Failure,
            4..=5 => Outcome::Success,
            6 => Outcome::Slow,
            _ => Outcome::Cancelled,
        };
        if let (Some((_, settings)), 0) = (self.adjusting, self.random.below(4)) {
            return self.adjust(settings);
        }
        match self.random.below(24) {
            0 => self.act(Operation::Trip),
            1 => self.act(Operation::Reset),
            2 => self.act(Operation::Observe(true)),
            3 => self.act(Operation::Observe(false)),
            4 => self.act(Operation::TripFor(700)),
            5 if self.random.below(2) == 0 => self.act(Operation::Isolate),
            5 => self.act(Operation::Disable),
            _ if self.in_progress.is_empty() => self.begin(),
            6..=9 => self.begin(),
            _ => self.end(outcome),
        }
    }
}

/// One history with this seed; an error shows it.
fn history<W: Window + Sync>(
    settings: Settings,
    window: W,
    adjust: Option<Adjust<W>>,
    before: &[Outcome],
    seed: u64,
) -> Result<bool, String> {
    let clock = Stalling(ManualClock::new(0));
    let breaker = Breaker::new(window, settings.config(), &clock);
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
                wait(&mut alone, settings.lease_ms.into());
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
        let acting: Vec<_> = actors
            .iter_mut()
            .map(|actor| scope.spawn(move || act(actor)))
            .collect();
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
    Err(format!(
        "seed {seed}, {settings:?}\n{}\nends as {snapshot:?}",
        told.join("\n")
    ))
}

/// Plays histories, each of which must have an order.
fn all_linearizable<W: Window + Sync>(
    settings: Settings,
    before: &[Outcome],
    window: impl Fn() -> W,
    adjust: Option<Adjust<W>>,
) {
    let histories = random::from_environment("NANOBREAKER_HISTORIES", 500);
    let first = random::from_environment("NANOBREAKER_SEED", 1);
    let mut faults = Vec::new();
    let mut concurrent = 0;
    for seed in first..first + histories {
        let mut settings = settings;
        let mut random = Random::new(!seed);
        settings.probes = 1 + random.below(2) as u32;
        settings.successes = 1 + random.below(2) as u32;
        settings.failures = 1 + random.below(2) as u32;
        match history(settings, window(), adjust, before, seed) {
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

fn in_one_window(kind: WindowKind) {
    all_linearizable(Settings::plain(kind), &[], || any(kind), None);
}

#[test]
fn the_failure_ring_is_linearizable() {
    in_one_window(WindowKind::Failures {
        threshold: 3,
        within_ms: 10_000,
    });
}

#[test]
fn the_consecutive_window_is_linearizable() {
    in_one_window(WindowKind::Consecutive { threshold: 3 });
}

#[test]
fn the_calls_window_of_one_word_is_linearizable() {
    in_one_window(WindowKind::Calls {
        size: 5,
        percent: 60,
        min_calls: 3,
    });
}

#[test]
fn the_calls_window_of_many_words_is_linearizable() {
    in_one_window(WindowKind::Calls {
        size: 60,
        percent: 60,
        min_calls: 3,
    });
}

#[test]
fn a_full_calls_window_is_linearizable() {
    let failures = |size: usize| {
        let every_other = [Outcome::Success, Outcome::Failure].into_iter().cycle();
        every_other.take(size).collect::<Vec<_>>()
    };
    for size in [5, 60] {
        let kind = WindowKind::Calls {
            size,
            percent: 52,
            min_calls: size,
        };
        let before = failures(size as usize);
        all_linearizable(Settings::plain(kind), &before, || any(kind), None);
    }
}

#[test]
fn the_time_window_is_linearizable() {
    in_one_window(WindowKind::Time {
        span_ms: 10_000,
        buckets: 4,
        percent: 60,
        min_calls: 3,
    });
}

/// A thread that sums may miss a good call whose `record` has not returned. Such a call has its place
/// in the order after that thread's, as any two that overlap may; so nothing more is allowed here than
/// for the plain window.
#[test]
fn the_striped_time_window_is_linearizable() {
    let settings = Settings::plain(WindowKind::Time {
        span_ms: 10_000,
        buckets: 4,
        percent: 60,
        min_calls: 3,
    });
    let window = || StripedTime::<_, 3, 4>::new(10_000, 4, 60, 3, &ByThread).expect("valid");
    all_linearizable(settings, &[], window, None);
}

/// Operations are calls and adjustings; what is allowed beside one stands at `is_linearizable`.
fn linearizable_while_adjusted(kind: WindowKind) {
    all_linearizable(
        Settings::plain(kind),
        &[],
        || Adjustable::new(any(kind)),
        Some(|breaker, settings| breaker.adjust(&any(settings.window), settings.config())),
    );
}

#[test]
fn an_adjusted_failure_ring_is_linearizable() {
    linearizable_while_adjusted(WindowKind::Failures {
        threshold: 3,
        within_ms: 10_000,
    });
}

#[test]
fn an_adjusted_consecutive_window_is_linearizable() {
    linearizable_while_adjusted(WindowKind::Consecutive { threshold: 3 });
}

#[test]
fn adjusted_calls_windows_are_linearizable() {
    for size in [5, 60] {
        linearizable_while_adjusted(WindowKind::Calls {
            size,
            percent: 60,
            min_calls: 3,
        });
    }
}

#[test]
fn an_adjusted_time_window_is_linearizable() {
    linearizable_while_adjusted(WindowKind::Time {
        span_ms: 10_000,
        buckets: 4,
        percent: 60,
        min_calls: 3,
    });
}

#[test]
fn two_windows_are_linearizable() {
    let failed = WindowKind::Failures {
        threshold: 3,
        within_ms: 10_000,
    };
    let slow = WindowKind::Calls {
        size: 5,
        percent: 60,
        min_calls: 3,
    };
    let settings = Settings {
        slow: Some(slow),
        ..Settings::plain(failed)
    };
    let windows = || WithSlow::new(any(failed), any(slow));
    all_linearizable(settings, &[], windows, None);
}
