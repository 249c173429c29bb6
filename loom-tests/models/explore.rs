//! Runs a model in every order of spawning and collects what it can come to.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::apart;

/// How far loom goes.
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    /// Every interleaving, as shipped. In the other builds, where each loop begins with a read-modify-write
    /// or goes round three times, which makes for twenty times as many executions: three preemptions, one
    /// more than any fault so far has taken.
    Exhaustive,
    /// At most this many preemptions, never below 3. The reason stands beside each use.
    Preemptions(usize),
}

impl Bound {
    fn preemptions(self) -> Option<usize> {
        const AS_SHIPPED: bool = !cfg!(any(nanobreaker_first_read_writes, nanobreaker_weak_fails));
        match self {
            Self::Exhaustive if AS_SHIPPED => None,
            Self::Exhaustive => Some(3),
            Self::Preemptions(most) => {
                assert!(most >= 3, "a lower bound has hidden real races");
                Some(most)
            }
        }
    }
}

/// The steps that an execution may take at most. A thread that waited for another would exceed it,
/// so that each model also checks promise 8: nobody's stall blocks anybody else.
pub(crate) const MOST_STEPS: usize = 5_000;

/// How often an exchange is tried.
const TRIES: usize = if cfg!(nanobreaker_weak_fails) { 3 } else { 1 };

/// The writes that an actor which stops may make.
const MOST_WRITES: usize = 100;

/// What one thread does.
pub(crate) type Actor<S, R> = fn(&S) -> R;

/// What a model came to.
#[must_use = "a model that reaches anything proves nothing"]
pub(crate) struct Reached<O> {
    /// Nothing was explored here: another process has, and has looked at what it reached.
    apart: bool,
    outcomes: HashSet<O>,
    /// By the order of spawning, and by the write before which the first actor stopped.
    executions: Vec<u64>,
}

/// A model without its threads yet.
pub(crate) struct Model<F> {
    bound: Bound,
    most_steps: usize,
    setup: F,
}

/// A model that starts each execution with what `setup` makes.
pub(crate) fn model<S, F>(bound: Bound, setup: F) -> Model<F>
where
    F: Fn() -> S + Copy + Send + Sync + 'static,
{
    Model { bound, most_steps: MOST_STEPS, setup }
}

impl<S, F> Model<F>
where
    S: Send + Sync + 'static,
    F: Fn() -> S + Copy + Send + Sync + 'static,
{
    /// Takes more steps than usual to set up, or to look at the end.
    #[cfg(nanobreaker_narrow)]
    pub(crate) fn long(self, most_steps: usize) -> Self {
        Self { most_steps, ..self }
    }

    /// What runs at once.
    pub(crate) fn threads<R, const N: usize>(self, actors: [Actor<S, R>; N]) -> Threads<F, S, R, N> {
        Threads { model: self, actors }
    }
}

/// A model with its threads.
pub(crate) struct Threads<F, S, R, const N: usize> {
    model: Model<F>,
    actors: [Actor<S, R>; N],
}

impl<F, S, R, const N: usize> Threads<F, S, R, N>
where
    S: Send + Sync + 'static,
    R: Send + 'static,
    F: Fn() -> S + Copy + Send + Sync + 'static,
{
    /// Explores every order of spawning two threads, or all rotations of more; `end` looks at what
    /// is left when all are done, and says what it came to.
    pub(crate) fn end<O>(self, end: fn(&S, [R; N]) -> O) -> Reached<O>
    where
        O: Eq + Hash + Debug + Send + 'static,
    {
        if apart::passed() {
            return Reached::apart();
        }
        let (started, mut reached) = (Instant::now(), Reached::none());
        self.explore(None, &mut reached, move |shared, results| {
            end(shared, results.map(|result| result.expect("every actor has run")))
        });
        report(self.model.bound, "", N, &reached, started.elapsed());
        reached
    }

    /// The same, again and again: the first actor stops for ever before its first write, before its
    /// second, and so on, until it gets to its end. Where it stopped it has no result.
    pub(crate) fn end_where_the_first_stops<O>(self, end: fn(&S, [Option<R>; N]) -> O) -> Reached<O>
    where
        O: Eq + Hash + Debug + Send + 'static,
    {
        if apart::passed() {
            return Reached::apart();
        }
        let (started, mut reached) = (Instant::now(), Reached::none());
        for writes in 0..MOST_WRITES {
            if !self.explore(Some(writes), &mut reached, end) {
                let stops = " and stops";
                report(self.model.bound, stops, N, &reached, started.elapsed());
                return reached;
            }
        }
        panic!("more than {MOST_WRITES} writes");
    }

    /// One exploration for each order of spawning. Returns whether the first actor stopped in any
    /// execution.
    fn explore<O>(
        &self,
        writes: Option<usize>,
        reached: &mut Reached<O>,
        end: impl Fn(&S, [Option<R>; N]) -> O + Copy + Send + Sync + 'static,
    ) -> bool
    where
        O: Eq + Hash + Debug + Send + 'static,
    {
        let Self { model, actors } = self;
        let (actors, setup) = (*actors, model.setup);
        let outcomes = Arc::new(Mutex::new(std::mem::take(&mut reached.outcomes)));
        let stopped = Arc::new(AtomicBool::new(false));
        for first in 0..N {
            let (outcomes, stopped) = (Arc::clone(&outcomes), Arc::clone(&stopped));
            let execution = move || {
                let shared = Arc::new(setup());
                let results = run(&shared, actors, first, writes);
                stopped.fetch_or(results[0].is_none(), Ordering::Relaxed);
                let outcome = end(&shared, results);
                outcomes.lock().unwrap().insert(outcome);
            };
            let executions = check(model.bound, model.most_steps, Box::new(execution));
            reached.executions.push(executions);
        }
        reached.outcomes = std::mem::take(&mut outcomes.lock().unwrap());
        stopped.load(Ordering::Relaxed)
    }
}

/// Explores all executions and counts them. Takes a box, as does [`spawn`], so that loom's code is not
/// compiled anew for each of some hundred models.
pub(crate) fn check(bound: Bound, most_steps: usize, execution: Box<dyn Fn() + Send + Sync>) -> u64 {
    let counted = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&counted);
    builder(bound, most_steps).check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        execution();
    });
    counted.load(Ordering::Relaxed)
}

fn builder(bound: Bound, most_steps: usize) -> loom::model::Builder {
    let mut builder = loom::model::Builder::new();
    builder.max_branches = most_steps * TRIES;
    builder.preemption_bound = bound.preemptions();
    builder
}

/// Runs the actors, the one numbered `first` first and the last one on the main thread; returns
/// their results by the actors' own numbers. Actor 0 stops for ever after so many `writes`.
fn run<S, R, const N: usize>(
    shared: &Arc<S>,
    actors: [Actor<S, R>; N],
    first: usize,
    writes: Option<usize>,
) -> [Option<R>; N]
where
    S: Send + Sync + 'static,
    R: Send + 'static,
{
    // Not modelled: each actor has a place of its own, which is looked at when all have ended.
    let results: Arc<[Mutex<Option<R>>; N]> = Arc::new(std::array::from_fn(|_| Mutex::new(None)));
    let play = |actor: usize| -> Box<dyn FnOnce() + Send> {
        let (shared, results) = (Arc::clone(shared), Arc::clone(&results));
        Box::new(move || {
            let result = match writes {
                Some(writes) if actor == 0 => loom::stopped_after(writes, || actors[0](&shared)),
                _ => Some(actors[actor](&shared)),
            };
            *results[actor].lock().unwrap() = result;
        })
    };
    let threads: Vec<_> =
        (0..N - 1).map(|i| (first + i) % N).map(|actor| spawn(actor, play(actor))).collect();
    let last = (first + N - 1) % N;
    as_actor(last, play(last));
    for thread in threads {
        thread.join().expect("an actor panicked");
    }
    std::array::from_fn(|actor| results[actor].lock().unwrap().take())
}

fn spawn(actor: usize, play: Box<dyn FnOnce() + Send>) -> loom::thread::JoinHandle<()> {
    loom::thread::spawn(move || as_actor(actor, play))
}

loom::thread_local! {
    static ACTOR: std::cell::Cell<usize> = std::cell::Cell::new(usize::MAX);
}

/// The number of the actor that this thread plays.
pub(crate) fn actor() -> usize {
    ACTOR.with(std::cell::Cell::get)
}

fn as_actor(number: usize, play: Box<dyn FnOnce() + Send>) {
    ACTOR.with(|actor| actor.set(number));
    play();
    ACTOR.with(|actor| actor.set(usize::MAX));
}

/// One line for the table in the README; `cargo test -- --nocapture` shows it.
fn report<O>(bound: Bound, stops: &str, threads: usize, reached: &Reached<O>, time: Duration) {
    let bound = match bound.preemptions() {
        None => "exhaustive".to_owned(),
        Some(most) => format!("bound {most}"),
    };
    println!(
        "model {}: {threads} threads, {bound}{stops}, {} executions, {:.2} s",
        std::thread::current().name().unwrap_or("?"),
        reached.executions.iter().sum::<u64>(),
        time.as_secs_f32()
    );
}

impl<O: Eq + Hash + Debug> Reached<O> {
    /// Nothing yet.
    fn none() -> Self {
        Self { apart: false, outcomes: HashSet::new(), executions: Vec::new() }
    }

    fn apart() -> Self {
        Self { apart: true, ..Self::none() }
    }

    /// Exactly these outcomes were reached, and more than one execution was explored: in one order of
    /// spawning at least, since loom prunes plain loads in the other.
    pub(crate) fn exactly(self, expected: impl IntoIterator<Item = O>) {
        if self.apart {
            return;
        }
        assert!(self.executions.iter().any(|&executions| executions > 1), "explored a single execution");
        let expected = HashSet::from_iter(expected);
        let missed: Vec<&O> = expected.difference(&self.outcomes).collect();
        let surprising: Vec<&O> = self.outcomes.difference(&expected).collect();
        assert!(
            missed.is_empty() && surprising.is_empty(),
            "expected but not reached: {missed:?}; reached but not expected: {surprising:?}"
        );
    }

    /// A single execution was explored: loom found nothing that one thread stores and another one
    /// reads. What only loads is explored once.
    #[cfg(not(nanobreaker_first_read_writes))]
    pub(crate) fn without_any_store(self) {
        if self.apart {
            return;
        }
        assert!(self.executions.iter().all(|&n| n == 1), "somebody stores");
        assert_eq!(self.outcomes.len(), 1);
    }
}
