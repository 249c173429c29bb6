//! Runs subjects in short slices, in random order, so that the machine's noise hits all of them alike.
//!
//! A slice is some hundred microseconds of one subject on some threads: long against the reading of the
//! clock (two readings of about 30 ns), short against the scheduler's quantum, so that most slices are
//! not interrupted and the median is one that was not. Before the timed part each thread runs a tenth of
//! the slice untimed, which warms caches and branch predictors, and then all threads start together.
//!
//! Each thread keeps to a core of its own, and a slice whose threads did not run side by side for most of
//! its time (another process had one of the cores) is thrown away: it would show contention that never was.

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
    report: Sender<Timed>,
}

/// When a thread's timed part began and ended.
#[derive(Clone, Copy)]
struct Timed {
    start: Instant,
    end: Instant,
}

/// Lets the threads of a slice start together.
struct Gate {
    threads: usize,
    arrived: AtomicUsize,
    crowded: bool,
}

impl Gate {
    fn pass(&self) {
        // Relaxed: the gate orders nothing but time; the subject reached each thread through a channel.
        self.arrived.fetch_add(1, Ordering::Relaxed);
        while self.arrived.load(Ordering::Relaxed) < self.threads {
            if self.crowded {
                thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

/// The least share of a slice's time in which all of its threads must have run.
const TOGETHER: f64 = 0.8;

impl Crew {
    /// A crew for slices of up to `threads` threads. The calling thread is one of them.
    pub fn new(threads: usize) -> Self {
        keep_to_core(0);
        let helpers = (1..threads).map(|number| {
            let (sender, slices) = channel();
            thread::spawn(move || help(number, &slices));
            sender
        });
        Self {
            helpers: helpers.collect(),
        }
    }

    /// Runs one slice and answers with nanoseconds per call, as each thread saw it, averaged over the
    /// threads. None where the threads did not run side by side.
    pub fn slice(&self, subject: &Arc<dyn Subject>, threads: usize, calls: u64) -> Option<f64> {
        let crowded = threads > cores();
        let gate = Arc::new(Gate {
            threads,
            arrived: AtomicUsize::new(0),
            crowded,
        });
        let (report, reports) = channel();
        for helper in &self.helpers[..threads - 1] {
            let slice = Slice {
                subject: subject.clone(),
                calls,
                gate: gate.clone(),
                report: report.clone(),
            };
            helper
                .send(slice)
                .expect("a helper lives as long as its crew");
        }
        let mine = timed(&**subject, calls, &gate);
        let mut all = vec![mine];
        all.extend(reports.iter().take(threads - 1));
        if !crowded && together(&all) < TOGETHER {
            return None;
        }
        let sum: Duration = all.iter().map(|timed| timed.end - timed.start).sum();
        Some(sum.as_nanos() as f64 / (calls * threads as u64) as f64)
    }
}

/// How many calls make a slice of about the given length, where `slice` runs one and answers as
/// [`Crew::slice`] does.
pub fn calibrate(length: Duration, mut slice: impl FnMut(u64) -> Option<f64>) -> u64 {
    let wanted = length.as_nanos() as f64;
    let mut calls = 64;
    loop {
        let taken = slice(calls).unwrap_or(0.0) * calls as f64;
        if taken >= wanted / 4.0 {
            return ((calls as f64 * wanted / taken) as u64).max(1);
        }
        // Where the threads start or end apart, longer slices make up for it.
        calls *= 2;
    }
}

/// The share of the time from the first start to the last end in which all threads ran.
fn together(all: &[Timed]) -> f64 {
    let starts = all.iter().map(|timed| timed.start);
    let ends = all.iter().map(|timed| timed.end);
    let (Some(first), Some(last)) = (starts.clone().min(), ends.clone().max()) else {
        return 0.0;
    };
    let common = starts
        .max()
        .zip(ends.min())
        .map(|(start, end)| end.saturating_duration_since(start));
    common.unwrap_or_default().as_secs_f64() / (last - first).as_secs_f64()
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

fn timed(subject: &dyn Subject, calls: u64, gate: &Gate) -> Timed {
    subject.run(calls / 10);
    gate.pass();
    let start = Instant::now();
    subject.run(calls);
    Timed {
        start,
        end: Instant::now(),
    }
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
    fn a_slice_runs_the_calls_on_every_thread_after_a_tenth_to_warm_up() {
        let counted = Arc::new(Counted(AtomicU64::new(0)));
        let subject: Arc<dyn Subject> = counted.clone();
        Crew::new(3).slice(&subject, 3, 100);
        assert_eq!(counted.0.load(Ordering::Relaxed), 3 * 110);
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
