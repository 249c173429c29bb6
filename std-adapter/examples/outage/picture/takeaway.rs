//! One sentence or two per panel: what to see in it, from the run's figures.

use crate::run::Run;
use crate::scenario::{Kind, Phase, Scenario, seconds};
use crate::verdict;

pub(crate) fn of_run(run: &Run, scenario: &Scenario) -> String {
    let others = run.others(Phase::Outage);
    let full = match run.full_after() {
        Some(after) => {
            format!("all {} workers are busy after {}", scenario.workers, seconds(after))
        }
        None => {
            format!("never more than {} of {} workers are busy", run.most_busy, scenario.workers)
        }
    };
    let recovered = match run.payments_recovered_after() {
        Some(after) => format!("Payments flow again {} after the recovery.", seconds(after)),
        None => "Payments do not flow again.".into(),
    };
    let opened = run.opened_at().map(|at| at.saturating_sub(run.outage_from));
    match (run.kind, opened) {
        (Kind::None, _) => format!(
            "Hung payments hold their workers: {full}, and search and products, which are healthy, wait with them: \
             {} on average over the outage, {} of {} unanswered. {recovered}",
            latency(others.mean_ms),
            others.failed,
            others.requests,
        ),
        (_, None) => format!(
            "The breaker never opens: {full}, and the others take {} on average over the outage. {recovered}",
            latency(others.mean_ms)
        ),
        (Kind::Article, Some(opened)) => format!(
            "The breaker learns from timeouts only: {full}, and it opens after {}. From then on payments are rejected at \
             once and the others take {} on average (over the whole outage {}). {recovered}",
            seconds(opened),
            latency(verdict::others_while_promised(run, scenario).mean_ms),
            latency(others.mean_ms),
        ),
        (Kind::HungAfter, Some(opened)) => format!(
            "A call that hangs for {} counts as failed although its caller still waits: the breaker opens after {}, {full}, \
             and the others take {} on average over the outage. {recovered}",
            seconds(scenario.hung_after),
            seconds(opened),
            latency(others.mean_ms),
        ),
    }
}

fn latency(ms: f64) -> String {
    if ms < 1_000.0 { format!("{ms:.0} ms") } else { format!("{:.1} s", ms / 1e3) }
}
