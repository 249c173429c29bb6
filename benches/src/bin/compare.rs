//! Measures every breaker in one run and prints one table.
//!
//! `cargo run --release -p benches --bin compare -- [--json FILE] [--seconds N] [--threads 1,2,4,8] [--only TEXT] [--seed N]`

use std::process::ExitCode;
use std::time::{Duration, SystemTime};
use std::{env, fs};

use benches::apart::Worker;
use benches::comparison::{Plan, compare, everything};
use benches::counting::Counting;
use benches::rows::Kind;
use benches::slices::cores;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const USAGE: &str =
    "usage: compare [--json FILE] [--seconds N] [--threads 1,2,4,8] [--slice-us N] [--only TEXT] [--seed N]";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let (plan, json) = arguments(env::args().skip(1))?;
    let cores = cores();
    if plan.threads.iter().any(|&threads| threads > cores) {
        eprintln!("note: more threads than the {cores} cores: their times hold the waiting for a core too");
    }
    eprintln!("{}: {:?} of slices", processor(), plan.time);
    let mut list = everything();
    match Worker::start() {
        Ok(worker) => list.add_apart(Kind::Peer, worker),
        Err(message) => eprintln!("without ninelives: {message}"),
    }
    let rows = compare(list, &plan);
    print!("{}", rows.table());
    if let Some(file) = json {
        fs::write(&file, rows.json()).map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(())
}

fn arguments(mut given: impl Iterator<Item = String>) -> Result<(Plan, Option<String>), String> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut plan = Plan { seed: now.as_nanos() as u64, ..Plan::default() };
    let mut json = None;
    while let Some(name) = given.next() {
        let value = given.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--json" => json = Some(value),
            "--seconds" => plan.time = Duration::from_secs(number(&value)?),
            "--slice-us" => plan.slice = Duration::from_micros(number(&value)?),
            "--seed" => plan.seed = number(&value)?,
            "--only" => plan.only = Some(value),
            "--threads" => {
                let threads = value.split(',').map(|one| number(one).map(|threads| threads.max(1) as usize));
                plan.threads = threads.collect::<Result<_, _>>()?;
            }
            _ => return Err(format!("{name} is not known")),
        }
    }
    Ok((plan, json))
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text} is not a number"))
}

/// The processor's name, where the system tells.
fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(|| env::consts::ARCH.into(), |(_, name)| name.into())
}
