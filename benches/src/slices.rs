//! Runs subjects in short slices, in random order, so that the machine's noise hits all of them alike.
//!
//! A slice is some hundred microseconds of one subject on some threads: long against the reading of the
//! clock (two readings of about 30 ns), short against the scheduler's quantum, so that most slices are
//! not interrupted and the median is one that was not. Before the timed part each thread runs a tenth of
//! the slice untimed, which warms caches and branch predictors, and then all threads start together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
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

impl Crew {
    /// A crew for slices of up to `threads` threads.
    pub fn new(threads: usize) -> Self {
        let helpers = (1..threads).map(|_| {
            let (sender, slices) = channel();
            thread::spawn(move || help(&slices));
            sender
        });
        Self {
            helpers: helpers.collect(),
        }
    }

    /// Runs one slice and answers with nanoseconds per call, as each thread saw it, averaged over the threads.
    pub fn slice(&self, subject: &Arc<dyn Subject>, threads: usize, calls: u64) -> f64 {
        let crowded = thread::available_parallelism().is_ok_and(|cores| threads > cores.get());
        let gate = Arc::new(Gate {
            threads,
            arrived: AtomicUsize::new(0),
            crowded,
        });
        let (report, reports) = channel();
        for helper in &self.helpers[..threads - 1] {
            let (subject, gate, report) = (subject.clone(), gate.clone(), report.clone());
            helper
                .send(Slice {
                    subject,
                    calls,
                    gate,
                    report,
                })
                .expect("a helper lives as long as its crew");
        }
        let mine = timed(&**subject, calls, &gate);
        let others: Duration = reports.iter().take(threads - 1).sum();
        (mine + others).as_nanos() as f64 / (calls * threads as u64) as f64
    }

    /// How many calls make a slice of about the given length.
    pub fn calibrate(&self, subject: &Arc<dyn Subject>, threads: usize, slice: Duration) -> u64 {
        let wanted = slice.as_nanos() as f64;
        let mut calls = 64;
        loop {
            let taken = self.slice(subject, threads, calls) * calls as f64;
            if taken >= wanted / 4.0 {
                return ((calls as f64 * wanted / taken) as u64).max(1);
            }
            calls *= 2;
        }
    }
}

fn help(slices: &Receiver<Slice>) {
    for Slice {
        subject,
        calls,
        gate,
        report,
    } in slices
    {
        // The crew may have been dropped in the middle of a slice: then nobody wants to know.
        let _ = report.send(timed(&*subject, calls, &gate));
    }
}

fn timed(subject: &dyn Subject, calls: u64, gate: &Gate) -> Duration {
    subject.run(calls / 10);
    gate.pass();
    let start = Instant::now();
    subject.run(calls);
    start.elapsed()
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
        fn run(&self, calls: u64) {
            self.0.fetch_add(calls, Ordering::Relaxed);
        }

        fn once(&self) -> Answer {
            Answer::Succeeded
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
