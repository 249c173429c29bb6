//! Measures the doors that servers use, beside the core's ring and the peers' own doors, in one run.
//!
//! `cargo run --profile user -p benches --bin doors -- [--json FILE] [--seconds N] [--only TEXT]`
//!
//! The profile `user` sets nothing: what is measured is what a user's own release build gets.

use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs};

use benches::doors::{Row, ours, theirs};
use benches::slices::{Crew, Shuffle, calibrate};
use benches::statistics::summarise;

const USAGE: &str = "usage: doors [--json FILE] [--seconds N] [--only TEXT]";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            ExitCode::FAILURE
        }
    }
}

struct Measured {
    who: &'static str,
    row: &'static str,
    threads: usize,
    ns: f64,
}

fn run() -> Result<(), String> {
    let (mut json, mut seconds, mut only) = (None, 20, None);
    let mut given = env::args().skip(1);
    while let Some(name) = given.next() {
        let value = given.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--json" => json = Some(value),
            "--only" => only = Some(value),
            "--seconds" => {
                seconds = value.parse().map_err(|_| format!("{value} is not a number"))?;
            }
            _ => return Err(format!("{name} is not known")),
        }
    }
    let mut rows = ours();
    rows.extend(theirs());
    if let Some(only) = only {
        rows.retain(|row| row.name.contains(&only) || row.name == "core_ring");
    }
    let measured = measure(&rows, Duration::from_secs(seconds));
    print(&measured);
    match json {
        Some(file) => fs::write(&file, to_json(&measured)).map_err(|error| format!("{file}: {error}")),
        None => Ok(()),
    }
}

fn measure(rows: &[Row], time: Duration) -> Vec<Measured> {
    let crew = Crew::new(2);
    let mut runs: Vec<(&Row, usize, u64, Vec<f64>)> = Vec::new();
    for row in rows {
        for threads in [1, 2] {
            let slice = |calls| crew.slice(&row.subject, threads, calls);
            runs.push((row, threads, calibrate_warm(slice), Vec::new()));
        }
    }
    let mut order = Shuffle::new(17);
    let start = Instant::now();
    while start.elapsed() < time {
        order.shuffle(&mut runs);
        for (row, threads, calls, slices) in &mut runs {
            slices.push(crew.slice(&row.subject, *threads, *calls));
        }
    }
    let place = |run: &(&Row, usize, u64, Vec<f64>)| {
        let is_this = |row: &Row| std::ptr::eq(row, run.0);
        (rows.iter().position(is_this), run.1)
    };
    runs.sort_by_key(place);
    let summed = runs.iter().filter_map(|(row, threads, _, slices)| {
        Some(Measured { who: row.who, row: row.name, threads: *threads, ns: summarise(slices)?.median })
    });
    summed.collect()
}

/// How many calls make a slice. The first slices find caches cold, and make the breakers of a registry; so they
/// are too short by far, and each corrects the one before.
fn calibrate_warm(slice: impl Fn(u64) -> f64) -> u64 {
    let length = Duration::from_micros(250);
    let mut calls = calibrate(length, &slice);
    for _ in 0..8 {
        let taken = slice(calls) * calls as f64;
        calls = ((calls as f64 * length.as_nanos() as f64 / taken) as u64).max(16);
    }
    calls
}

fn print(measured: &[Measured]) {
    let ns = |row: &str, threads| {
        let is_it = |one: &&Measured| one.row == row && one.threads == threads && !one.who.is_empty();
        measured.iter().find(is_it).map_or(f64::NAN, |one| one.ns)
    };
    let ring = ns("core_ring", 1);
    let grows = ns("core_ring_private", 2) / ns("core_ring_private", 1);
    println!("{:<34} {:<22} {:>8} {:>8} {:>8} {:>8}", "who", "row", "1", "2", "x ring", "grows");
    for one in measured.iter().filter(|one| one.threads == 1) {
        let is_pair = |two: &&Measured| (two.who, two.row, two.threads) == (one.who, one.row, 2);
        let two = measured.iter().find(is_pair).map_or(f64::NAN, |two| two.ns);
        println!(
            "{:<34} {:<22} {:>8.2} {:>8.2} {:>8.2} {:>8.2}",
            one.who,
            one.row,
            one.ns,
            two,
            one.ns / ring,
            two / one.ns / grows
        );
    }
    println!(
        "ns a call on 1 and 2 threads; multiples of core_ring on one; growth beside core_ring_private's"
    );
}

fn to_json(measured: &[Measured]) -> String {
    let row = |one: &Measured| {
        format!(
            r#"{{"who": "{}", "row": "{}", "threads": {}, "ns": {:.3}}}"#,
            one.who, one.row, one.threads, one.ns
        )
    };
    let rows: Vec<String> = measured.iter().map(row).collect();
    format!("{{\"rows\": [\n{}\n]}}\n", rows.join(",\n"))
}
