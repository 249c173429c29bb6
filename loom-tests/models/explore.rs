//! Runs a model in every order of spawning and collects what it can come to.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How far loom goes.
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    /// Every interleaving.
    Exhaustive,
    /// At most this many preemptions, never below 3. The reason stands beside each use.
    Preemptions(usize),
}

/// For models of many steps. As shipped, where loom finds weak orderings: every interleaving. Where
/// each loop begins with a read-modify-write, which makes for twenty times as many executions: three
/// preemptions, one more than any fault so far has taken.
pub(crate) const WIDELY: Bound = if cfg!(loom_first_read_writes) {
    Bound::Preemptions(3)
} else {
    Bound::Exhaustive
};

/// The steps that an execution may take at most. A thread that waited for another would exceed it,
/// so that each model also checks promise 8: nobody's stall blocks anybody else.
const MOST_STEPS: usize = 1_000;

/// What one thread does.
pub(crate) type Actor<S, R> = fn(&S) -> R;

/// What a model came to.
#[must_use = "a model that reaches anything proves nothing"]
pub(crate) struct Reached<O> {
    outcomes: HashSet<O>,
    /// By the order of spawning.
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
    Model {
        bound,
        most_steps: MOST_STEPS,
        setup,
    }
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
    pub(crate) fn threads<R, const N: usize>(
        self,
        actors: [Actor<S, R>; N],
    ) -> Threads<F, S, R, N> {
        Threads {
            model: self,
            actors,
        }
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
        let Self { model, actors } = self;
        let started = Instant::now();
        let outcomes = Arc::new(Mutex::new(HashSet::new()));
        let mut executions = Vec::new();
        for first in 0..N {
            let (outcomes, counted) = (Arc::clone(&outcomes), Arc::new(AtomicU64::new(0)));
            let count = Arc::clone(&counted);
            let setup = model.setup;
            builder(model.bound, model.most_steps).check(move || {
                count.fetch_add(1, Ordering::Relaxed);
                let shared = Arc::new(setup());
                let outcome = end(&shared, run(&shared, actors, first));
                outcomes.lock().unwrap().insert(outcome);
            });
            executions.push(counted.load(Ordering::Relaxed));
        }
        report(model.bound, &executions, started.elapsed());
        Reached {
            outcomes: std::mem::take(&mut outcomes.lock().unwrap()),
            executions,
        }
    }
}

fn builder(bound: Bound, most_steps: usize) -> loom::model::Builder {
    let mut builder = loom::model::Builder::new();
    builder.max_branches = most_steps;
    builder.preemption_bound = match bound {
        Bound::Exhaustive => None,
        Bound::Preemptions(most) => {
            assert!(most >= 3, "a lower bound has hidden real races");
            Some(most)
        }
    };
    builder
}

/// Runs the actors, the one numbered `first` first and the last one on the main thread; returns
/// their results by the actors' own numbers.
fn run<S, R, const N: usize>(shared: &Arc<S>, actors: [Actor<S, R>; N], first: usize) -> [R; N]
where
    S: Send + Sync + 'static,
    R: Send + 'static,
{
    let order: Vec<usize> = (0..N).map(|i| (first + i) % N).collect();
    let mut results: [Option<R>; N] = std::array::from_fn(|_| None);
    let (last, spawned) = order.split_last().expect("a model has actors");
    let threads: Vec<_> = spawned
        .iter()
        .map(|&actor| {
            let shared = Arc::clone(shared);
            let act = actors[actor];
            (
                actor,
                loom::thread::spawn(move || as_actor(actor, || act(&shared))),
            )
        })
        .collect();
    results[*last] = Some(as_actor(*last, || actors[*last](shared)));
    for (actor, thread) in threads {
        results[actor] = Some(thread.join().expect("an actor panicked"));
    }
    results.map(|result| result.expect("every actor has run"))
}

loom::thread_local! {
    static ACTOR: std::cell::Cell<usize> = std::cell::Cell::new(usize::MAX);
}

/// The number of the actor that this thread plays.
pub(crate) fn actor() -> usize {
    ACTOR.with(std::cell::Cell::get)
}

fn as_actor<R>(number: usize, act: impl FnOnce() -> R) -> R {
    ACTOR.with(|actor| actor.set(number));
    let result = act();
    ACTOR.with(|actor| actor.set(usize::MAX));
    result
}

/// One line for the table in the README; `cargo test -- --nocapture` shows it.
fn report(bound: Bound, executions: &[u64], time: Duration) {
    let bound = match bound {
        Bound::Exhaustive => "exhaustive".to_owned(),
        Bound::Preemptions(most) => format!("bound {most}"),
    };
    println!(
        "model {}: {} threads, {bound}, {} executions, {:.2} s",
        std::thread::current().name().unwrap_or("?"),
        executions.len(),
        executions.iter().sum::<u64>(),
        time.as_secs_f32()
    );
}

impl<O: Eq + Hash + Debug> Reached<O> {
    /// Exactly these outcomes were reached, and more than one execution was explored: in each order
    /// of spawning, or where loom prunes plain loads, in one of them.
    pub(crate) fn exactly<const N: usize>(self, expected: [O; N]) {
        let explored = |executions: &u64| *executions > 1;
        let in_enough_orders = if cfg!(loom_first_read_writes) {
            self.executions.iter().all(explored)
        } else {
            self.executions.iter().any(explored)
        };
        assert!(in_enough_orders, "explored a single execution of an order");
        let expected = HashSet::from(expected);
        let missed: Vec<&O> = expected.difference(&self.outcomes).collect();
        let surprising: Vec<&O> = self.outcomes.difference(&expected).collect();
        assert!(
            missed.is_empty() && surprising.is_empty(),
            "expected but not reached: {missed:?}; reached but not expected: {surprising:?}"
        );
    }

    /// A single execution was explored: loom found nothing that one thread stores and another one
    /// reads. What only loads is explored once.
    #[cfg(not(loom_first_read_writes))]
    pub(crate) fn without_any_store(self) {
        assert!(self.executions.iter().all(|&n| n == 1), "somebody stores");
        assert_eq!(self.outcomes.len(), 1);
    }
}
