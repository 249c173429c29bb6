//! A billion calls and a million trips: memory stays flat, and a call takes at the end what it took at first.
//!
//! `cargo run --release -p benches --bin long_run -- [--calls N] [--trips N]`

use std::process::ExitCode;
use std::time::Duration;
use std::{env, fs};

use benches::counting::{Counting, heap_of};
use benches::ours::{ByRecord, InARow, OfCalls, OfTime, Ring};
use benches::subject::{Case, Op, Peer, Subject};
use nanobreaker::{Breaker, Config, ManualClock, Phase, window::Failures};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The run is looked at in this many stretches.
const STRETCHES: u64 = 20;
/// A call may take this much more in the last stretches than in the first, for the machine's noise.
const TOLERATED: f64 = 1.25;
/// The process may grow by this much, for what the system itself does.
const TOLERATED_KIB: i64 = 256;

fn main() -> ExitCode {
    let calls = argument("--calls").unwrap_or(1_000_000_000);
    let trips = argument("--trips").unwrap_or(1_000_000);
    let healthy = [
        steady("calls, failure ring", calls, &healthy::<ByRecord<Ring>>()),
        steady("calls, consecutive", calls, &healthy::<ByRecord<InARow>>()),
        steady("calls, last calls", calls, &healthy::<ByRecord<OfCalls>>()),
        steady("calls, last seconds", calls, &healthy::<ByRecord<OfTime>>()),
    ];
    let trips = steady("trips, each with its recovery", trips, &round_trips());
    if trips && healthy.iter().all(|holds| *holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn argument(name: &str) -> Option<u64> {
    let mut arguments = env::args().skip_while(|argument| argument != name);
    arguments.nth(1)?.parse().ok()
}

fn healthy<P: Peer>() -> impl Fn(u64) {
    let case = Case::<P>::new(Op::Healthy).expect("a breaker starts closed");
    move |calls| {
        case.run(calls);
    }
}

/// Trips, waits, is probed and closes again; backoff grows and starts anew as it goes.
fn round_trips() -> impl Fn(u64) {
    let config = Config::builder().open_for_ms(1_000).max_open_ms(60_000).jitter_permille(200).build();
    let window = Failures::<3>::within_ms(10_000).expect("allowed");
    let breaker = Breaker::new(window, config.expect("allowed"), ManualClock::new(0));
    move |trips| {
        for _ in 0..trips {
            for _ in 0..3 {
                breaker.allow().expect("closed").failure();
            }
            assert_eq!(breaker.snapshot().phase, Phase::Open);
            breaker.clock().advance(60_000);
            breaker.allow().expect("due for a probe").success();
            assert_eq!(breaker.snapshot().phase, Phase::Closed);
        }
    }
}

/// Runs all in stretches and says whether time and memory stayed.
fn steady(name: &str, times: u64, run: &impl Fn(u64)) -> bool {
    let stretch = (times / STRETCHES).max(1);
    run(stretch / 10);
    let resident = resident_kib();
    let (nanoseconds, heap) = heap_of(|| {
        let mut nanoseconds = [0.0; STRETCHES as usize];
        for slot in &mut nanoseconds {
            let start = busy();
            run(stretch);
            *slot = (busy() - start).as_nanos() as f64 / stretch as f64;
        }
        nanoseconds
    });
    let grown = resident_kib() - resident;
    let (first, last) = nanoseconds.split_at(nanoseconds.len() / 2);
    let (first, last) = (quickest(first), quickest(last));
    let holds =
        last <= first * TOLERATED && heap.kept_bytes == 0 && heap.allocations == 0 && grown <= TOLERATED_KIB;
    println!(
        "{} {} {name}: {first:.2} ns each in the first half, {last:.2} ns in the last; {} allocations, {} bytes kept, process grown by {grown} KiB",
        if holds { "ok    " } else { "FAILED" },
        stretch * STRETCHES,
        heap.allocations,
        heap.kept_bytes,
    );
    holds
}

/// How long this thread has had a processor: what others on the machine do with theirs does not count.
#[cfg(target_os = "linux")]
fn busy() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec that lives across the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) };
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// How long this process has run, where the system does not tell a thread's share.
#[cfg(not(target_os = "linux"))]
fn busy() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// The quickest stretch: noise only ever adds.
fn quickest(stretches: &[f64]) -> f64 {
    stretches.iter().copied().fold(f64::INFINITY, f64::min)
}

/// What the process holds of memory, where the system tells.
fn resident_kib() -> i64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
