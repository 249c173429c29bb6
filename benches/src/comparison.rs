//! The comparison: the list of everything, and the interleaved run over it.

use std::mem::size_of;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::counting::heap_of;
use crate::rows::{Kind, Row, Rows};
use crate::slices::{Crew, Shuffle};
use crate::statistics::summarise;
use crate::subject::{Answer, Case, Op, Peer, Subject};
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
            time: Duration::from_secs(90),
            slice: Duration::from_micros(250),
            seed: 1,
            only: None,
        }
    }
}

/// One entry of the list.
pub struct Entry {
    who: &'static str,
    kind: Kind,
    op: String,
    expected: Answer,
    subject: Arc<dyn Subject>,
    allocations: f64,
    bytes: usize,
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
        const CALLS: u64 = 1_000;
        let (case, built) = heap_of(|| {
            let case = Case::<P>::new(op);
            // What a breaker sets aside only as it works belongs to it too.
            case.inspect(|case| {
                case.run(CALLS);
            })
        });
        let Some(case) = case else { return };
        let (_, ran) = heap_of(|| case.run(CALLS));
        // A caller may allocate once to set itself up; that is not per call.
        let (_, caller) = heap_of(|| case.run(0));
        self.0.push(Entry {
            who: P::WHO,
            kind,
            op: name.into(),
            expected: op.expected(),
            subject: Arc::new(case),
            allocations: (ran.allocations - caller.allocations) as f64 / CALLS as f64,
            bytes: size_of::<P>() + built.kept_bytes.max(0) as usize,
        });
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
    list.add_named::<yardsticks::Counter>(Kind::Yardstick, Op::Healthy, "counter");
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
            let calls = crew.calibrate(&entry.subject, threads, plan.slice);
            runs.push(Run {
                entry,
                threads,
                calls,
                slices: Vec::new(),
            });
        }
    }
    let mut order = Shuffle::new(plan.seed);
    let start = Instant::now();
    let mut rounds = 0;
    while start.elapsed() < plan.time || runs.iter().any(|run| run.slices.is_empty()) {
        assert!(
            start.elapsed() < plan.time * 3,
            "the machine never let all threads run side by side"
        );
        order.shuffle(&mut runs);
        for run in &mut runs {
            let slice = crew.slice(&run.entry.subject, run.threads, run.calls);
            run.slices.extend(slice);
        }
        rounds += 1;
    }
    let kept: usize = runs.iter().map(|run| run.slices.len()).sum();
    eprintln!(
        "{rounds} slices of each; {} of all thrown away",
        rounds * runs.len() - kept
    );
    let mut rows = Rows(runs.iter().map(Run::row).collect());
    rows.sort();
    rows
}

impl Entry {
    fn check(&self) {
        let answer = self.subject.run(1);
        assert_eq!(
            answer,
            Some(self.expected),
            "{} {} is not in the state it claims",
            self.who,
            self.op
        );
    }
}

impl Run<'_> {
    fn row(&self) -> Row {
        let entry = self.entry;
        entry.check();
        Row {
            who: entry.who,
            kind: entry.kind,
            op: entry.op.clone(),
            threads: self.threads,
            time: summarise(&self.slices).expect("every run has a slice"),
            allocations: entry.allocations,
            bytes: entry.bytes,
        }
    }
}
