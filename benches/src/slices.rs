//! Runs subjects in short slices, in random order, so that the machine's noise hits all of them alike.
//!
//! A slice is some hundred microseconds of one subject on some threads: long against the reading of the
//! clock (two readings of about 30 ns), short against the scheduler's quantum, so that most slices are
//! not interrupted and the median is one that was not. Before the timed part each thread runs a tenth of
//! the slice untimed, which warms caches and branch predictors, and then all threads start together.
//!
//! Each thread keeps to a core of its own, and goes on calling, untimed, until the last has finished: a
//! thread that a lock let run ahead would otherwise leave the others without the contention to be measured.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use crate::subject::Subject;

/// The threads that make the calls. Helpers sleep between slices: one that spun would disturb the others.
pub struct Crew {
    helpers: Vec<Sender<Slice>>,
}

struct Slice {
    subject: Arc<dyn Subject>,
    calls: u64,
    gate: Arc<Gate>,
    report: Sender<Duration>,
}

/// Where the threads of a slice meet before and after the timed part.
struct Gate {
    threads: usize,
    arrived: AtomicUsize,
    finished: AtomicUsize,
    crowded: bool,
}

// Relaxed, all of them: the gate orders nothing but time; the subject reached each thread through a channel.
impl Gate {
    /// Waits until all threads are here.
    fn pass(&self) {
        self.arrived.fetch_add(1, Ordering::Relaxed);
        while self.arrived.load(Ordering::Relaxed) < self.threads {
            if self.crowded {
                thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }

    fn finish(&self) {
        self.finished.fetch_add(1, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.finished.load(Ordering::Relaxed) == self.threads
    }
}

impl Crew {
    /// A crew for slices of up to `threads` threads. The calling thread is one of them.
    pub fn new(threads: usize) -> Self {
        keep_to_core(0);
        let helpers = (1..threads).map(|number| {
            let (sender, slices) = channel();
            thread::spawn(move || help(number, &slices));
            sender
        });
        Self { helpers: helpers.collect() }
    }

    /// Runs one slice and answers with nanoseconds per call, as each thread saw it, averaged over the threads.
    pub fn slice(&self, subject: &Arc<dyn Subject>, threads: usize, calls: u64) -> f64 {
        let gate = Arc::new(Gate {
            threads,
            arrived: AtomicUsize::new(0),
            finished: AtomicUsize::new(0),
            crowded: threads > cores(),
        });
        let (report, reports) = channel();
        for helper in &self.helpers[..threads - 1] {
            let slice = Slice { subject: subject.clone(), calls, gate: gate.clone(), report: report.clone() };
            helper.send(slice).expect("a helper lives as long as its crew");
        }
        let mine = timed(&**subject, calls, &gate);
        let others: Duration = reports.iter().take(threads - 1).sum();
        (mine + others).as_nanos() as f64 / (calls * threads as u64) as f64
    }
}

/// How many calls make a slice of about the given length, where `slice` runs one. At least a few: a call
/// that sleeps takes longer than a slice, and one alone would meet no other.
pub fn calibrate(length: Duration, mut slice: impl FnMut(u64) -> f64) -> u64 {
    const FEWEST: u64 = 16;
    let wanted = length.as_nanos() as f64;
    let mut calls = FEWEST;
    loop {
        let taken = slice(calls) * calls as f64;
        if taken >= wanted / 4.0 {
            return ((calls as f64 * wanted / taken) as u64).max(FEWEST);
        }
        calls *= 2;
    }
}

/// How many cores there are. Asked once, before any thread keeps to one of them.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

/// Keeps the calling thread on one core, where the system allows it.
#[cfg(target_os = "linux")]
fn keep_to_core(number: usize) {
    // SAFETY: a zeroed set is a valid, empty one; the calls read and write that set alone.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(number % cores(), &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set);
    }
}

/// Keeps the calling thread on one core, where the system allows it.
#[cfg(not(target_os = "linux"))]
fn keep_to_core(_: usize) {}

fn help(number: usize, slices: &Receiver<Slice>) {
    keep_to_core(number);
    for slice in slices {
        let timed = timed(&*slice.subject, slice.calls, &slice.gate);
        // The crew may have been dropped in the middle of a slice: then nobody wants to know.
        let _ = slice.report.send(timed);
    }
}

fn timed(subject: &dyn Subject, calls: u64, gate: &Gate) -> Duration {
    subject.run(calls / 10);
    gate.pass();
    let start = Instant::now();
    subject.run(calls);
    let taken = start.elapsed();
    gate.finish();
    while !gate.is_over() {
        subject.run((calls / 100).max(1));
    }
    taken
}

/// A small generator for shuffling (xorshift64): the order must vary, not be unpredictable.
pub struct Shuffle(u64);

impl Shuffle {
    /// Every seed gives an order; the same seed the same one.
    pub const fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// Brings the items into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            items.swap(last, (self.0 % (last as u64 + 1)) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::Answer;
    use std::sync::atomic::AtomicU64;

    struct Counted(AtomicU64);

    impl Subject for Counted {
        fn run(&self, calls: u64) -> Option<Answer> {
            self.0.fetch_add(calls, Ordering::Relaxed);
            None
        }
    }

    #[test]
    fn a_slice_runs_at_least_its_calls_on_every_thread_after_a_tenth_to_warm_up() {
        let counted = Arc::new(Counted(AtomicU64::new(0)));
        let subject: Arc<dyn Subject> = counted.clone();
        Crew::new(3).slice(&subject, 3, 100);
        assert!(counted.0.load(Ordering::Relaxed) >= 3 * 110);
    }

    #[test]
    fn a_shuffle_keeps_every_item_and_follows_its_seed() {
        let shuffled = |seed| {
            let mut items: Vec<u32> = (0..100).collect();
            Shuffle::new(seed).shuffle(&mut items);
            items
        };
        assert_eq!(shuffled(8), shuffled(8));
        assert_ne!(shuffled(8), shuffled(80));
        let mut sorted = shuffled(8);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    }
}
