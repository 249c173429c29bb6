//! Counts instructions per operation, which no noise disturbs, and holds them against a committed baseline.
//!
//! `cargo run --release -p benches --bin instructions -- check`: fails where an operation takes more than the
//! baseline and its tolerance. `-- baseline` writes a new one; commit it with the reason.
//!
//! This binary runs itself under callgrind with two numbers of calls. The difference of the two counts,
//! divided by the difference of the calls, is what one call takes with its loop; start and end cancel out.
//! All threads are counted, so no operation here uses the timer's clock, which has one of its own.

use std::fmt::Write as _;
use std::hint::black_box;
use std::process::ExitCode;
use std::{env, fs};

use benches::ours::{
    ByCall, ByCallAsync, ByGuard, ByRecord, ByToken, InARow, MovingRing, OfCalls, OfCoarseStripedTime,
    OfCoarseTime, Ring, Shared, SuccessInAThousand,
};
use benches::subject::{Case, Op, Peer, Subject};
use benches::valgrind;
use benches::yardsticks::{CoarseNow, FetchAdd, Nothing, TwoLoads};

const BASELINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.baseline");
/// An operation may take this many more instructions, or this share more, whichever is greater: what a
/// compiler's minor version moves.
const TOLERATED: f64 = 1.0;
const TOLERATED_SHARE: f64 = 0.05;

const FEW: u64 = 1_000;
const MANY: u64 = 21_000;

type Measured = (&'static str, fn(u64));

/// Every operation that is counted.
const OPERATIONS: [Measured; 19] = [
    ("yardstick/nothing", run::<Nothing, HEALTHY>),
    ("yardstick/two_loads", run::<TwoLoads, HEALTHY>),
    ("yardstick/fetch_add", run::<FetchAdd, HEALTHY>),
    ("yardstick/coarse_now", run::<CoarseNow, HEALTHY>),
    ("healthy", run::<ByRecord<Ring>, HEALTHY>),
    ("healthy/guard", run::<ByGuard<Ring>, HEALTHY>),
    ("healthy/token", run::<ByToken<Ring>, HEALTHY>),
    ("healthy/call", run::<ByCall<Ring>, HEALTHY>),
    ("healthy/call_async", run::<ByCallAsync<Ring>, HEALTHY>),
    ("healthy/shared", run::<Shared, HEALTHY>),
    ("healthy/consecutive", run::<ByRecord<InARow>, HEALTHY>),
    ("healthy/calls", run::<ByRecord<OfCalls>, HEALTHY>),
    ("healthy/time_coarse", run::<ByRecord<OfCoarseTime>, HEALTHY>),
    ("healthy/striped_time_coarse", run::<ByRecord<OfCoarseStripedTime>, HEALTHY>),
    ("failure", run::<ByRecord<MovingRing>, FAILURE>),
    ("failure/consecutive", run::<SuccessInAThousand, FAILURE>),
    ("reject", run::<ByRecord<Ring>, REJECT>),
    ("reject_forced", run::<ByRecord<Ring>, REJECT_FORCED>),
    ("half_open", half_open),
];

const HEALTHY: usize = 0;
const FAILURE: usize = 1;
const REJECT: usize = 2;
const REJECT_FORCED: usize = 3;

fn run<P: Peer, const OP: usize>(calls: u64) {
    let case = Case::<P>::new(Op::ALL[OP]).expect("this breaker can be brought there");
    // Hidden, or the compiler sees that no one shares this breaker and drops its loads.
    let case: &dyn Subject = &case;
    black_box(case).run(calls);
}

/// A round trip: trip, wait, probe, close.
fn half_open(rounds: u64) {
    use nanobreaker::{Breaker, Config, ManualClock, window::Consecutive};

    let config = Config::builder().open_for_ms(1_000).build().expect("allowed");
    let window = Consecutive::new(1).expect("allowed");
    let breaker = Breaker::new(window, config, ManualClock::new(0));
    for _ in 0..rounds {
        breaker.allow().expect("closed").failure();
        black_box(breaker.allow().is_err());
        breaker.clock().advance(1_000);
        breaker.allow().expect("due for a probe").success();
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["run", name, calls] => run_named(name, calls),
        ["check"] => count().and_then(|counts| check(&counts)),
        ["baseline"] => count().and_then(|counts| {
            fs::write(BASELINE, write(&counts)).map_err(|error| format!("{BASELINE}: {error}"))
        }),
        _ => Err("usage: instructions check | baseline".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run_named(name: &str, calls: &str) -> Result<(), String> {
    let calls = calls.parse().map_err(|_| format!("{calls} is not a number"))?;
    let operation = OPERATIONS.iter().find(|(known, _)| *known == name);
    let (_, run) = operation.ok_or_else(|| format!("{name} is not known"))?;
    run(calls);
    Ok(())
}

/// Instructions per call of every operation.
fn count() -> Result<Vec<(&'static str, f64)>, String> {
    let per_call = OPERATIONS.map(|(name, _)| {
        let difference = collected(name, MANY)? - collected(name, FEW)?;
        let per_call = difference / (MANY - FEW) as f64;
        println!("{per_call:8.1}  {name}");
        Ok((name, per_call))
    });
    per_call.into_iter().collect()
}

/// What callgrind counts for the whole run.
fn collected(name: &str, calls: u64) -> Result<f64, String> {
    let mut counted = None;
    let tool = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];
    valgrind::run(&tool, &["run", name, &calls.to_string()], |line| {
        counted = counted.or_else(|| in_summary(line));
    })?;
    counted.ok_or_else(|| format!("callgrind said nothing of {name}"))
}

fn in_summary(line: &str) -> Option<f64> {
    line.split_once("Collected : ")?.1.trim().parse().ok()
}

fn write(counts: &[(&str, f64)]) -> String {
    let mut text = String::from(
        "# Instructions per call, x86_64, with the loop around it. Written by `instructions baseline`.\n",
    );
    for (name, count) in counts {
        writeln!(text, "{name} {count:.1}").expect("a string takes everything");
    }
    text
}

fn read(text: &str) -> Vec<(&str, f64)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once(' ').and_then(|(name, count)| Some((name, count.parse().ok()?))))
        .collect()
}

fn check(counts: &[(&str, f64)]) -> Result<(), String> {
    let text = fs::read_to_string(BASELINE).map_err(|error| format!("{BASELINE}: {error}"))?;
    let slower = regressions(counts, &read(&text));
    if slower.is_empty() {
        return Ok(());
    }
    Err(format!("more instructions than the baseline allows:\n{}", slower.join("\n")))
}

fn regressions(counts: &[(&str, f64)], baseline: &[(&str, f64)]) -> Vec<String> {
    let judged = counts.iter().filter_map(|(name, count)| {
        let Some((_, before)) = baseline.iter().find(|(known, _)| known == name) else {
            return Some(format!("{name}: not in the baseline"));
        };
        let allowed = before + f64::max(TOLERATED, before * TOLERATED_SHARE);
        (*count > allowed).then(|| format!("{name}: {count:.1}, was {before:.1}, allowed {allowed:.1}"))
    });
    judged.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        assert_eq!(
            read(&write(&[("healthy", 12.0), ("reject", 40.5)])),
            [("healthy", 12.0), ("reject", 40.5)]
        );
    }

    #[test]
    fn more_than_the_tolerance_is_a_regression_and_fewer_never_is() {
        let baseline = [("small", 10.0), ("large", 100.0), ("better", 50.0)];
        let counts = [("small", 11.0), ("large", 105.0), ("better", 20.0)];
        assert!(regressions(&counts, &baseline).is_empty());
        assert_eq!(regressions(&[("small", 11.1), ("large", 105.1)], &baseline).len(), 2);
    }

    #[test]
    fn an_operation_without_a_baseline_is_not_passed_over() {
        assert_eq!(regressions(&[("new", 1.0)], &[]).len(), 1);
    }

    #[test]
    fn callgrind_s_summary_is_read() {
        assert_eq!(in_summary("==77== Collected : 253186"), Some(253_186.0));
        assert_eq!(in_summary("==77== Events    : Ir"), None);
    }

    #[test]
    fn every_counted_operation_runs() {
        for (_, run) in OPERATIONS {
            run(10);
        }
    }
}
