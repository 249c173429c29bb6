//! The comparison: the list of everything, and the interleaved run over it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::apart::Worker;
use crate::counting::{Cost, cost_of};
use crate::rows::{Kind, Row, Rows};
use crate::slices::{Crew, Shuffle, calibrate};
use crate::statistics::summarise;
use crate::subject::{Answer, Op, Peer, Subject};
use crate::{ours, peers, yardsticks};

/// How the run is made.
pub struct Plan {
    /// How many threads share each breaker, one row for each number.
    pub threads: Vec<usize>,
    /// How long the interleaved slices go on in all.
    pub time: Duration,
    /// How long one slice is.
    pub slice: Duration,
    /// The seed of the order.
    pub seed: u64,
    /// Only operations or crates whose name contains this.
    pub only: Option<String>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            threads: vec![1, 2],
            time: Duration::from_secs(60),
            slice: Duration::from_micros(250),
            seed: 1,
            only: None,
        }
    }
}

/// One entry of the list.
pub struct Entry {
    who: String,
    kind: Kind,
    op: String,
    runner: Runner,
    cost: Cost,
}

/// Where an entry's slices are run.
enum Runner {
    /// In this process; the last call of a slice ends so.
    Here(Arc<dyn Subject>, Answer),
    /// In a process of its own.
    Apart(Arc<Worker>, Op),
}

/// Collects entries, measuring the heap of each as it is built.
#[derive(Default)]
pub struct List(Vec<Entry>);

impl List {
    /// Adds the peer doing each of the operations, where it can.
    pub fn add<P: Peer>(&mut self, kind: Kind, ops: &[Op]) {
        for &op in ops {
            self.add_named::<P>(kind, op, op.name());
        }
    }

    /// Adds the peer doing one operation under a name of its own.
    pub fn add_named<P: Peer>(&mut self, kind: Kind, op: Op, name: &str) {
        if let Some((case, cost)) = cost_of::<P>(op) {
            let runner = Runner::Here(Arc::new(case), op.expected());
            self.0.push(Entry { who: P::WHO.into(), kind, op: name.into(), runner, cost });
        }
    }

    /// Adds the peer that runs in a process of its own, where it could be built.
    pub fn add_apart(&mut self, kind: Kind, worker: Worker) {
        let worker = Arc::new(worker);
        for op in Op::ALL {
            if let Some(cost) = worker.build(op) {
                let runner = Runner::Apart(worker.clone(), op);
                self.0.push(Entry { who: worker.who(), kind, op: op.name().into(), runner, cost });
            }
        }
    }
}

/// Everything that is compared, by default.
pub fn everything() -> List {
    let mut list = List::default();
    ours::add_to(&mut list);

    list.add::<peers::breaker::Breaker>(Kind::Peer, &Op::ALL);
    list.add::<peers::circuitbreaker_rs::CircuitbreakerRs>(Kind::Peer, &Op::ALL);
    list.add::<peers::failsafe::Failsafe>(Kind::Peer, &Op::ALL);
    list.add::<peers::ferryman_core::FerrymanCore>(Kind::Peer, &Op::ALL);
    list.add::<peers::nobreak::Nobreak>(Kind::Peer, &Op::ALL);
    list.add::<peers::recloser::Recloser>(Kind::Peer, &Op::ALL);
    list.add::<peers::reliakit_circuit::ReliakitCircuit>(Kind::Peer, &Op::ALL);
    list.add::<peers::seatbelt::Seatbelt>(Kind::Peer, &Op::ALL);
    list.add::<peers::throttle_net::ThrottleNet>(Kind::Peer, &Op::ALL);
    list.add::<peers::tower_resilience::TowerResilience>(Kind::Peer, &Op::ALL);
    list.add::<peers::governor::Governor>(Kind::Neighbour, &[Op::Healthy]);

    list.add_named::<yardsticks::Nothing>(Kind::Yardstick, Op::Healthy, "nothing");
    list.add_named::<yardsticks::OneLoad>(Kind::Yardstick, Op::Healthy, "one_load");
    list.add_named::<yardsticks::TwoLoads>(Kind::Yardstick, Op::Healthy, crate::rows::TWO_LOADS);
    list.add_named::<yardsticks::FetchAdd>(Kind::Yardstick, Op::Healthy, "fetch_add");
    list.add_named::<yardsticks::InstantNow>(Kind::Yardstick, Op::Healthy, "instant_now");
    list.add_named::<yardsticks::CoarseNow>(Kind::Yardstick, Op::Healthy, "coarse_now");
    list.add_named::<yardsticks::CoarseClockNow>(Kind::Yardstick, Op::Healthy, "our_coarse_clock");
    list.add_named::<yardsticks::TimerClockNow>(Kind::Yardstick, Op::Healthy, "timer_clock");
    list.add_named::<yardsticks::Steps>(Kind::Yardstick, Op::Healthy, "steps");
    list.add_named::<yardsticks::LockMutex>(Kind::Yardstick, Op::Healthy, "parking_lot_mutex");
    list
}

/// One entry on one number of threads, and its slices so far.
struct Run<'a> {
    entry: &'a Entry,
    threads: usize,
    calls: u64,
    slices: Vec<f64>,
}

/// Interleaves slices of everything in random order until the time is over.
///
/// # Panics
///
/// When a breaker is not, or does not stay, in the state that its row claims.
pub fn compare(mut list: List, plan: &Plan) -> Rows {
    if let Some(only) = &plan.only {
        list.0.retain(|entry| {
            let needed = entry.op == crate::rows::TWO_LOADS;
            needed || entry.op.contains(only.as_str()) || entry.who.contains(only.as_str())
        });
    }
    let crew = Crew::new(plan.threads.iter().copied().max().unwrap_or(1));
    let mut runs: Vec<Run<'_>> = Vec::new();
    for entry in &list.0 {
        entry.check();
        for &threads in &plan.threads {
            let calls = calibrate(plan.slice, |calls| entry.slice(&crew, threads, calls));
            runs.push(Run { entry, threads, calls, slices: Vec::new() });
        }
    }
    let mut order = Shuffle::new(plan.seed);
    let start = Instant::now();
    while start.elapsed() < plan.time {
        order.shuffle(&mut runs);
        for run in &mut runs {
            let slice = run.entry.slice(&crew, run.threads, run.calls);
            run.slices.push(slice);
        }
    }
    let mut rows = Rows(runs.iter().map(Run::row).collect());
    rows.sort();
    rows
}

impl Entry {
    fn slice(&self, crew: &Crew, threads: usize, calls: u64) -> f64 {
        match &self.runner {
            Runner::Here(subject, _) => crew.slice(subject, threads, calls),
            Runner::Apart(worker, op) => worker.slice(*op, threads, calls),
        }
    }

    fn check(&self) {
        if let Runner::Here(subject, expected) = &self.runner {
            let answer = subject.run(1);
            assert_eq!(answer, Some(*expected), "{} {} is not in the state it claims", self.who, self.op);
        }
    }
}

impl Run<'_> {
    fn row(&self) -> Row {
        let entry = self.entry;
        entry.check();
        Row {
            who: entry.who.clone(),
            kind: entry.kind,
            op: entry.op.clone(),
            threads: self.threads,
            time: summarise(&self.slices).expect("every run has a slice"),
            allocations: entry.cost.allocations,
            bytes: entry.cost.bytes,
        }
    }
}
