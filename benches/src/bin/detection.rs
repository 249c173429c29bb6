//! Measures when breakers trip and what that costs, in simulated traffic.
//!
//! `cargo run --release -p benches --bin detection -- [--json FILE] [--svg DIR] [--check] [--seed N]`
//!
//! It prints tables, and which of the default's goals are met; `--check` fails where one is not. With
//! `--svg`, or beside the file of `--json`, it draws two figures.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use benches::detection::checks::{self, Check};
use benches::detection::rules::{DEFAULT, all};
use benches::detection::{cost, days, delay, figures, json, tables};

const USAGE: &str = "usage: detection [--json FILE] [--svg DIR] [--check] [--seed N]";

/// What is asked for.
struct Wanted {
    json: Option<PathBuf>,
    svg: Option<PathBuf>,
    check: bool,
    seed: u64,
}

fn main() -> ExitCode {
    match arguments(env::args().skip(1)).and_then(|wanted| run(&wanted)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all checks hold that were asked for.
fn run(wanted: &Wanted) -> Result<bool, String> {
    let refused = |error| format!("the core refuses a rule's settings: {error}");
    let (rules, seed) = (all(), wanted.seed);
    println!("seed {seed}\n");
    let delays = delay::rows(&rules, seed).map_err(refused)?;
    println!("{}", tables::delays(&delays));
    let measured = |title: &str, cells: &[days::Day]| -> Result<_, String> {
        let costs = cost::costs(&rules, cells, seed).map_err(refused)?;
        let rows = cost::rows(&rules, cells, &costs);
        println!("{}", tables::costs(title, &rows));
        Ok(rows)
    };
    let title = "Cost of a day, beside the best rule of each of 108 days";
    let costs = measured(title, &days::cells())?;
    let held_out = measured("The same for days of other kinds", &days::held_out())?;
    if let Some(file) = &wanted.json {
        write(file, &json::document(&delays, &costs, &held_out))?;
    }
    let beside_json = || wanted.json.as_deref().and_then(Path::parent);
    if let Some(folder) = wanted.svg.as_deref().or_else(beside_json) {
        let delay = figures::delay_against_false_trips(seed).map_err(refused)?;
        write(&folder.join("detection-delay.svg"), &delay)?;
        let cost = figures::cost_by_rule_and_rate(&costs);
        write(&folder.join("detection-cost.svg"), &cost)?;
    }
    let default = rules.iter().find(|rule| rule.name == DEFAULT);
    let well = default.map_or(Ok(Vec::new()), |rule| checks::well(rule, seed));
    let mut all = well.map_err(refused)?;
    all.extend(checks::against_peers(&rules, &costs));
    all.extend(checks::against_bound(&delays));
    Ok(show(&all) || !wanted.check)
}

fn show(checks: &[Check]) -> bool {
    for check in checks {
        let verdict = if check.holds { "met   " } else { "MISSED" };
        println!("{verdict}  {}", check.what);
    }
    checks.iter().all(|check| check.holds)
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

fn arguments(mut given: impl Iterator<Item = String>) -> Result<Wanted, String> {
    let mut wanted = Wanted { json: None, svg: None, check: false, seed: 1 };
    while let Some(name) = given.next() {
        if name == "--check" {
            wanted.check = true;
            continue;
        }
        let value = given.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--json" => wanted.json = Some(value.into()),
            "--svg" => wanted.svg = Some(value.into()),
            "--seed" => {
                let number = value.parse();
                wanted.seed = number.map_err(|_| format!("{value} is not a number"))?;
            }
            _ => return Err(format!("{name} is not known")),
        }
    }
    Ok(wanted)
}
