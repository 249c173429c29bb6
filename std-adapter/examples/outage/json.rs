//! Every figure, for machines. Times as measured, not scaled back.

use serde::Serialize;

use crate::run::Run;
use crate::scenario::{Phase, Scenario};
use crate::statistics::{Group, milliseconds};
use crate::verdict;

#[derive(Serialize)]
struct File {
    scale: u32,
    runs: Vec<RunFigures>,
}

#[derive(Serialize)]
struct RunFigures {
    name: &'static str,
    pool_full_after_ms: Option<f64>,
    most_busy: usize,
    payments_recovered_after_ms: Option<f64>,
    /// What the breaker alone took to reject, without HTTP and without the wait for a worker.
    breaker_rejects_p99_ms: Option<f64>,
    phases: Vec<PhaseFigures>,
    protection: Protection,
    transitions: Vec<TransitionFigures>,
}

#[derive(Serialize)]
struct PhaseFigures {
    name: &'static str,
    payments: Group,
    others: Group,
}

/// That part of the outage for which a breaker promises to protect the other endpoints.
#[derive(Serialize)]
struct Protection {
    from_ms: f64,
    payments: Group,
    others: Group,
    /// Null for the run without a breaker.
    protected: Option<bool>,
}

#[derive(Serialize)]
struct TransitionFigures {
    /// Since the start of the outage.
    at_ms: f64,
    to: &'static str,
    cause: &'static str,
}

pub(crate) fn of_runs(runs: &[Run], scenario: &Scenario) -> serde_json::Result<String> {
    let file = File { scale: scenario.scale, runs: runs.iter().map(|run| of_run(run, scenario)).collect() };
    Ok(serde_json::to_string_pretty(&file)? + "\n")
}

fn of_run(run: &Run, scenario: &Scenario) -> RunFigures {
    RunFigures {
        name: run.kind.name(),
        pool_full_after_ms: run.full_after().map(milliseconds),
        most_busy: run.most_busy,
        payments_recovered_after_ms: run.payments_recovered_after().map(milliseconds),
        breaker_rejects_p99_ms: run.breaker_p99_ms(),
        phases: Phase::ALL
            .map(|phase| PhaseFigures {
                name: phase.name(),
                payments: run.payments(phase),
                others: run.others(phase),
            })
            .into(),
        protection: Protection {
            from_ms: milliseconds(verdict::promised_from(run.kind, scenario)),
            payments: verdict::payments_while_promised(run, scenario),
            others: verdict::others_while_promised(run, scenario),
            protected: verdict::judge(run, scenario).map(|verdict| verdict.protected),
        },
        transitions: run
            .transitions
            .iter()
            .map(|change| TransitionFigures {
                at_ms: milliseconds(change.at) - milliseconds(run.outage_from),
                to: change.to.name(),
                cause: change.cause.name(),
            })
            .collect(),
    }
}
