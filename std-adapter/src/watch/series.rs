//! What is told to the recorder of the `metrics` facade.

use std::sync::Arc;
use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use nanobreaker_core::{Phase, Transition};

use super::counts::{CallCounts, Counts};

const CALLS: &str = "nanobreaker_calls_total";
const PROBES: &str = "nanobreaker_probes_total";
const REJECTIONS: &str = "nanobreaker_rejections_total";
const TRANSITIONS: &str = "nanobreaker_transitions_total";
const PHASE: &str = "nanobreaker_phase";
const PHASE_DURATION: &str = "nanobreaker_phase_duration_seconds";

const PHASES: [Phase; 6] =
    [Phase::Closed, Phase::Open, Phase::HalfOpen, Phase::Recovering, Phase::Isolated, Phase::Disabled];

/// Tells the recorder what the metrics mean. Call it once, after the recorder was installed.
pub fn describe_metrics() {
    describe_counter!(CALLS, "Calls that were made, by how they ended.");
    describe_counter!(PROBES, "Probes of half-open breakers, by how they ended.");
    describe_counter!(REJECTIONS, "Calls that were rejected, by the breaker's phase.");
    describe_counter!(TRANSITIONS, "Transitions of breakers.");
    describe_gauge!(PHASE, "1 for the phase that a breaker is in, 0 for the others.");
    describe_histogram!(PHASE_DURATION, Unit::Seconds, "How long breakers stayed in a phase.");
}

/// The phase that a breaker is in; `None` where it is gone.
pub(crate) fn phase(name: &Arc<str>, now: Option<Phase>) {
    for phase in PHASES {
        let value = f64::from(u8::from(now == Some(phase)));
        gauge!(PHASE, "breaker" => Arc::clone(name), "phase" => phase.name()).set(value);
    }
}

/// Adds what was counted since `before`. Never a total: a breaker that was removed and made again goes on
/// with the same series.
pub(super) fn counts(name: &Arc<str>, now: Counts, before: Counts) {
    calls(CALLS, name, now.calls, before.calls);
    calls(PROBES, name, now.probes, before.probes);
    let rejections = now.rejections.by_phase();
    for ((phase, now), (_, before)) in rejections.into_iter().zip(before.rejections.by_phase()) {
        counter!(REJECTIONS, "breaker" => Arc::clone(name), "phase" => phase.name())
            .increment(now.saturating_sub(before));
    }
}

fn calls(metric: &'static str, name: &Arc<str>, now: CallCounts, before: CallCounts) {
    for ((outcome, now), (_, before)) in now.named().into_iter().zip(before.named()) {
        counter!(metric, "breaker" => Arc::clone(name), "outcome" => outcome)
            .increment(now.saturating_sub(before));
    }
}

pub(super) fn transition(name: &Arc<str>, transition: &Transition, lasted: Duration) {
    let (from, to) = (transition.from.name(), transition.to.name());
    counter!(
        TRANSITIONS,
        "breaker" => Arc::clone(name),
        "from" => from,
        "to" => to,
        "cause" => transition.cause.name(),
    )
    .increment(1);
    histogram!(PHASE_DURATION, "breaker" => Arc::clone(name), "phase" => from).record(lasted);
}
