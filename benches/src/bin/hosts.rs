//! A registry whose hosts come and go: 10,000 of them, of which a hundredth is new each second.
//!
//! `cargo run --profile user -p benches --bin hosts -- [--seconds N]`
//!
//! Each second every host is asked for once, after the new ones were made. Fails where the 99.9th percentile of a
//! look-up is more than 10 times the median, or where memory grows after the first quarter. For a machine that is
//! quiet: where others take its cores away, the slowest look-ups are theirs.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

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
    let mut times = Vec::with_capacity(HOSTS * seconds);
    let (before_kb, after_kb) = look_up(seconds, &mut times)?;
    times.sort_unstable();
    let at = |permille: usize| times.get(times.len() * permille / 1_000).copied().unwrap_or_default();
    let (median, tail) = (at(500), at(999));
    let multiple = tail as f64 / median.max(1) as f64;
    println!("p99.9 of a look-up: {multiple:.1} x its median of {median} ns");
    println!("memory: {before_kb} KB after the first quarter, {after_kb} KB at the end");
    if multiple > 10.0 {
        return Err("p99.9 is more than 10 x the median".to_owned());
    }
    if after_kb > before_kb + RESERVE_KB {
        return Err("memory grows".to_owned());
    }
    Ok(())
}

/// Looks all hosts up each second; says what memory there was after the first quarter and at the end.
fn look_up(seconds: usize, times: &mut Vec<u32>) -> Result<(usize, usize), String> {
    let builder = Registry::builder(|host: &String| SharedBreaker::builder().name(host.as_str()));
    let registry = builder.idle_after(Duration::from_secs(5)).build();
    let name = |number: usize| format!("host-{number}.example.com");
    let mut hosts: Vec<String> = (0..HOSTS).map(name).collect();
    for host in &hosts {
        registry.get_or_create(host).map_err(|error| error.to_string())?;
    }
    let mut before_kb = 0;
    for second in 0..seconds {
        let began = Instant::now();
        let first = second * NEW_EACH_SECOND;
        for number in first..first + NEW_EACH_SECOND {
            let host = name(HOSTS + number);
            registry.get_or_create(&host).map_err(|error| error.to_string())?;
            hosts[number % HOSTS] = host;
        }
        for host in &hosts {
            let asked = Instant::now();
            let breaker = registry.get_or_create(black_box(host)).map_err(|error| error.to_string())?;
            times.push(asked.elapsed().as_nanos() as u32);
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
