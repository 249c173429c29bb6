//! What is told to the recorder of the `metrics` facade: which series a breaker has.
//!
//! A counter is told what was counted since the last time, never a total: a breaker that was removed and
//! made again goes on with the same series. What was not counted is told as an addition of 0. So a series is
//! there, at 0, before the first event, and no recorder takes the series of a living breaker for an idle one.

use std::sync::Arc;
use std::time::Duration;

use metrics::{
    Counter, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use nanobreaker_core::{Cause, Evidence, Phase, Transition};

use super::counts::Counts;

const CALLS: &str = "nanobreaker_calls_total";
const REJECTIONS: &str = "nanobreaker_rejections_total";
const TRIPS: &str = "nanobreaker_trips_total";
const PHASE: &str = "nanobreaker_phase";
const EVIDENCE: &str = "nanobreaker_evidence_ratio";
const PROBES: &str = "nanobreaker_probes_total";
const REJECTIONS_BY_PHASE: &str = "nanobreaker_rejections_by_phase_total";
const TRANSITIONS: &str = "nanobreaker_transitions_total";
const PHASE_DURATION: &str = "nanobreaker_phase_duration_seconds";

const PHASES: [Phase; 6] =
    [Phase::Closed, Phase::Open, Phase::HalfOpen, Phase::Recovering, Phase::Isolated, Phase::Disabled];

const CAUSES: [Cause; 12] = [
    Cause::ThresholdReached,
    Cause::SlowThresholdReached,
    Cause::TripRequested,
    Cause::Advised,
    Cause::OpenTimeOver,
    Cause::ProbesSucceeded,
    Cause::ProbesFailed,
    Cause::ProbesLost,
    Cause::RampOver,
    Cause::Isolated,
    Cause::Disabled,
    Cause::Reset,
];

/// A group of series that a breaker has beside its usual ones, where a
/// [`Monitor`](crate::observe::Monitor::with_series) is asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Series {
    /// `nanobreaker_calls_total` for the outcomes `ignored` and `cancelled` as well: 2.
    Unjudged,
    /// `nanobreaker_probes_total`, by `outcome`: 6.
    Probes,
    /// `nanobreaker_rejections_by_phase_total`, by `phase`: 4.
    RejectionsByPhase,
    /// `nanobreaker_transitions_total`, by `from`, `to` and `cause`: about 40.
    Transitions,
    /// `nanobreaker_phase_duration_seconds`, a histogram by the `phase` that ended: 6 times its buckets and 2.
    Durations,
}

/// The groups that were asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chosen(u8);

impl Chosen {
    fn has(self, series: Series) -> bool {
        self.0 & (1 << series as u8) != 0
    }
}

impl<'a> FromIterator<&'a Series> for Chosen {
    fn from_iter<I: IntoIterator<Item = &'a Series>>(chosen: I) -> Self {
        Self(chosen.into_iter().fold(0, |bits, series| bits | (1 << *series as u8)))
    }
}

/// Tells the recorder what the metrics mean. Call it once, after the recorder was installed.
pub fn describe_metrics() {
    describe_counter!(CALLS, "Calls that were made, by how they ended.");
    describe_counter!(REJECTIONS, "Calls that were rejected.");
    describe_counter!(TRIPS, "Transitions to open.");
    describe_gauge!(
        PHASE,
        "-1 disabled, 0 closed, 1 recovering, 2 half-open, 3 open, 4 isolated: above 0 it rejects calls. NaN once the breaker is gone."
    );
    describe_gauge!(
        EVIDENCE,
        "How much of what trips the window has counted, of failed or of slow calls: 0 to 1. NaN once the breaker is gone."
    );
    describe_counter!(PROBES, "Probes of half-open breakers, by how they ended.");
    describe_counter!(REJECTIONS_BY_PHASE, "Calls that were rejected, by the breaker's phase.");
    describe_counter!(TRANSITIONS, "Transitions of breakers.");
    describe_histogram!(PHASE_DURATION, Unit::Seconds, "How long breakers stayed in a phase.");
}

/// How a breaker stands.
pub(crate) fn state(name: &Arc<str>, phase: Phase, evidence: Evidence) {
    gauges(name, level(phase), share(evidence));
}

/// Of a breaker that is gone.
pub(crate) fn gone(name: &Arc<str>) {
    gauges(name, f64::NAN, f64::NAN);
}

fn gauges(name: &Arc<str>, phase: f64, evidence: f64) {
    gauge!(PHASE, "breaker" => Arc::clone(name)).set(phase);
    gauge!(EVIDENCE, "breaker" => Arc::clone(name)).set(evidence);
}

/// Of the window that is nearest to tripping.
fn share(Evidence { failed, slow, .. }: Evidence) -> f64 {
    let shares = [failed, slow].into_iter().flatten().map(|measured| measured.share_ppm());
    f64::from(shares.max().unwrap_or(0)) / 1e6
}

/// The higher the more it rejects.
const fn level(phase: Phase) -> f64 {
    match phase {
        Phase::Disabled => -1.0,
        Phase::Closed => 0.0,
        Phase::Recovering => 1.0,
        Phase::HalfOpen => 2.0,
        Phase::Open => 3.0,
        Phase::Isolated => 4.0,
    }
}

/// Adds what was counted, which may be nothing.
pub(super) fn counts(name: &Arc<str>, counted: Counts, chosen: Chosen) {
    let breaker = || Arc::clone(name);
    calls(CALLS, name, counted.calls.judged());
    counter!(REJECTIONS, "breaker" => breaker()).increment(counted.rejections.total());
    counter!(TRIPS, "breaker" => breaker()).increment(counted.trips);
    if chosen.has(Series::Unjudged) {
        calls(CALLS, name, counted.calls.unjudged());
    }
    if chosen.has(Series::Probes) {
        calls(PROBES, name, counted.probes.judged());
        calls(PROBES, name, counted.probes.unjudged());
    }
    if chosen.has(Series::RejectionsByPhase) {
        for (phase, count) in counted.rejections.by_phase() {
            counter!(REJECTIONS_BY_PHASE, "breaker" => breaker(), "phase" => phase.name()).increment(count);
        }
    }
    if chosen.has(Series::Transitions) {
        for (from, to, cause) in usual_transitions() {
            transitions(name, from, to, cause).increment(0);
        }
    }
    if chosen.has(Series::Durations) {
        for phase in PHASES {
            // To have asked for it is enough.
            let _ = histogram!(PHASE_DURATION, "breaker" => breaker(), "phase" => phase.name());
        }
    }
}

fn calls<const N: usize>(metric: &'static str, name: &Arc<str>, counted: [(&'static str, u64); N]) {
    for (outcome, count) in counted {
        counter!(metric, "breaker" => Arc::clone(name), "outcome" => outcome).increment(count);
    }
}

pub(super) fn transition(name: &Arc<str>, transition: &Transition, lasted: Duration, chosen: Chosen) {
    let Transition { from, to, cause, .. } = *transition;
    if chosen.has(Series::Transitions) {
        transitions(name, from, to, cause).increment(1);
    }
    if chosen.has(Series::Durations) {
        histogram!(PHASE_DURATION, "breaker" => Arc::clone(name), "phase" => from.name()).record(lasted);
    }
}

fn transitions(name: &Arc<str>, from: Phase, to: Phase, cause: Cause) -> Counter {
    counter!(
        TRANSITIONS,
        "breaker" => Arc::clone(name),
        "from" => from.name(),
        "to" => to.name(),
        "cause" => cause.name(),
    )
}

/// All that there can be, but for what [`Cause::Restored`] restores.
fn usual_transitions() -> impl Iterator<Item = (Phase, Phase, Cause)> {
    PHASES.into_iter().flat_map(|from| {
        PHASES.into_iter().flat_map(move |to| {
            let causes = CAUSES.into_iter().filter(move |cause| is_usual(from, to, *cause));
            causes.map(move |cause| (from, to, cause))
        })
    })
}

fn is_usual(from: Phase, to: Phase, cause: Cause) -> bool {
    use Phase::{Closed, Disabled, HalfOpen, Isolated, Open, Recovering};
    match (cause, to) {
        (Cause::ThresholdReached | Cause::SlowThresholdReached | Cause::Advised, Open) => {
            matches!(from, Closed | Recovering)
        }
        (Cause::TripRequested, Open) => matches!(from, Closed | Recovering | HalfOpen | Open),
        (Cause::OpenTimeOver, HalfOpen) => from == Open,
        (Cause::ProbesSucceeded, Closed | Recovering) => from == HalfOpen,
        (Cause::ProbesFailed | Cause::ProbesLost, Open) => from == HalfOpen,
        (Cause::RampOver, Closed) => from == Recovering,
        (Cause::Isolated, Isolated) | (Cause::Disabled, Disabled) => from != to,
        (Cause::Reset, Closed) => true,
        _ => false,
    }
}
