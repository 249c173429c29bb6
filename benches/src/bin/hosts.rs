//! A registry whose hosts come and go: 10,000 of them, of which a hundredth is new each second.
//!
//! `cargo run --profile user -p benches --bin hosts -- [--seconds N]`
//!
//! Each second every host is asked for once, after the new ones were made. The registry has room for a tenth more: for
//! those that are idle, and not yet for long. A plain `HashMap` of the same hosts is asked
//! in turn with the registry: what interrupts this program makes its slowest look-ups as slow. Fails where the 99.9th
//! percentile of a look-up in the registry is more than 10 times the median, unless that of the plain map is, too, and
//! the registry's is no more than twice as long; and where memory grows after the first quarter.

use std::collections::HashMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fmt, fs, thread};

use nanobreaker::{CallExt, Registry, SharedBreaker};

const HOSTS: usize = 10_000;
const NEW_EACH_SECOND: usize = HOSTS / 100;

/// What may be more than before without being a leak: the allocator keeps some in reserve.
const RESERVE_KB: usize = 4_096;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let seconds = match arguments.as_slice() {
        [] => 60,
        [name, value] if name == "--seconds" => {
            value.parse().map_err(|_| format!("{value} is no number of seconds"))?
        }
        _ => return Err("usage: hosts [--seconds N]".to_owned()),
    };
    let mut times = Times::lasting(seconds);
    let (before_kb, after_kb) = look_up(seconds, &mut times)?;
    let (ours, plain) = (Tail::of(times.registry), Tail::of(times.plain));
    println!("a look-up in the registry: {ours}");
    println!("a look-up in a plain map:  {plain}");
    println!("memory: {before_kb} KB after the first quarter, {after_kb} KB at the end");
    let is_interrupted = plain.multiple() > 10.0 && ours.slow_ns <= 2 * plain.slow_ns;
    if ours.multiple() > 10.0 && !is_interrupted {
        return Err("p99.9 is more than 10 x the median".to_owned());
    }
    if after_kb > before_kb + RESERVE_KB {
        return Err("memory grows".to_owned());
    }
    Ok(())
}

/// How long each look-up took, in nanoseconds.
struct Times {
    registry: Vec<u32>,
    plain: Vec<u32>,
}

impl Times {
    fn lasting(seconds: usize) -> Self {
        // Written once, so that its memory is there from the start.
        let empty = || {
            let mut times = vec![u32::MAX; HOSTS * seconds];
            times.clear();
            times
        };
        Self { registry: empty(), plain: empty() }
    }
}

/// How long most take, and how long the slow ones.
struct Tail {
    median_ns: u32,
    slow_ns: u32,
}

impl Tail {
    fn of(mut times: Vec<u32>) -> Self {
        times.sort_unstable();
        let at = |permille: usize| times.get(times.len() * permille / 1_000).copied().unwrap_or_default();
        Self { median_ns: at(500), slow_ns: at(999) }
    }

    fn multiple(&self) -> f64 {
        f64::from(self.slow_ns) / f64::from(self.median_ns.max(1))
    }
}

impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p99.9 is {:.1} x the median of {} ns", self.multiple(), self.median_ns)
    }
}

/// Looks all hosts up each second; says what memory there was after the first quarter and at the end.
fn look_up(seconds: usize, times: &mut Times) -> Result<(usize, usize), String> {
    let builder = Registry::builder(|host: &String| SharedBreaker::builder().name(host.as_str()));
    let registry = builder.idle_after(Duration::from_secs(5)).max_breakers(HOSTS + HOSTS / 10).build();
    let name = |number: usize| format!("host-{number}.example.com");
    let mut hosts: Vec<String> = (0..HOSTS).map(name).collect();
    for host in &hosts {
        registry.get_or_create(host).map_err(|error| error.to_string())?;
    }
    let mut plain: HashMap<String, usize> = hosts.iter().cloned().zip(0..).collect();
    let mut before_kb = 0;
    for second in 0..seconds {
        let began = Instant::now();
        let first = second * NEW_EACH_SECOND;
        for number in first..first + NEW_EACH_SECOND {
            let host = name(HOSTS + number);
            registry.get_or_create(&host).map_err(|error| error.to_string())?;
            plain.remove(&hosts[number % HOSTS]);
            plain.insert(host.clone(), number);
            hosts[number % HOSTS] = host;
        }
        for host in &hosts {
            let asked = Instant::now();
            let breaker = registry.get_or_create(black_box(host)).map_err(|error| error.to_string())?;
            times.registry.push(asked.elapsed().as_nanos() as u32);
            let asked = Instant::now();
            black_box(plain.get(black_box(host)));
            times.plain.push(asked.elapsed().as_nanos() as u32);
            black_box(breaker.call(|| Ok::<_, ()>(())).is_ok());
        }
        if second == seconds / 4 {
            before_kb = resident_kb()?;
        }
        thread::sleep(Duration::from_secs(1).saturating_sub(began.elapsed()));
    }
    Ok((before_kb, resident_kb()?))
}

fn resident_kb() -> Result<usize, String> {
    let status = fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number
        .and_then(|kb| kb.parse().ok())
        .ok_or_else(|| "the system does not say how much memory it takes".into())
}
