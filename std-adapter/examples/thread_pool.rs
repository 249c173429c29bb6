//! Blocking workers that share one breaker in a `static`, and a dependency that takes 50 ms to fail:
//! while it is down, jobs are turned away at once and the workers stay free. Runs for about a second:
//!
//! ```console
//! cargo run -p nanobreaker --example thread_pool
//! ```

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use nanobreaker::{Breaker, CallError, CallExt, CoarseClock, Config, checked, window::Consecutive};

static PRINTER: Breaker<Consecutive, CoarseClock> = Breaker::new(
    checked!(Consecutive::new(4)),
    checked!(Config::builder().open_for_ms(200).build()),
    CoarseClock,
);

static DONE: AtomicU32 = AtomicU32::new(0);
static FAILED: AtomicU32 = AtomicU32::new(0);
static TURNED_AWAY: AtomicU32 = AtomicU32::new(0);

/// Down from 200 to 600 ms after the start.
fn print(start: Instant) -> io::Result<()> {
    if (200..600).contains(&start.elapsed().as_millis()) {
        thread::sleep(Duration::from_millis(50));
        return Err(io::Error::from(io::ErrorKind::TimedOut));
    }
    thread::sleep(Duration::from_millis(2));
    Ok(())
}

fn work(jobs: &Mutex<mpsc::Receiver<u32>>, start: Instant) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        if job.is_err() {
            return;
        }
        let counter = match PRINTER.call(|| print(start)) {
            Ok(()) => &DONE,
            Err(CallError::Rejected(_)) => &TURNED_AWAY,
            Err(_) => &FAILED,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

fn main() {
    let start = Instant::now();
    let (sender, jobs) = mpsc::channel();
    let jobs = Mutex::new(jobs);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| work(&jobs, start));
        }
        for job in 0..500 {
            if job % 50 == 0 {
                println!(
                    "{:4} ms: {:9} {:3} done, {:2} failed, {:3} turned away",
                    start.elapsed().as_millis(),
                    PRINTER.snapshot().phase,
                    DONE.load(Ordering::Relaxed),
                    FAILED.load(Ordering::Relaxed),
                    TURNED_AWAY.load(Ordering::Relaxed),
                );
            }
            // The workers are there until the sender is gone.
            let _ = sender.send(job);
            thread::sleep(Duration::from_millis(2));
        }
        drop(sender);
    });
    println!("the printer is {}", PRINTER.snapshot().phase);
}
