//! Metrics through the `metrics` facade.
//!
//! Transitions are published as they happen. Calls are counted in the watch's stripes, which the
//! facade's recorder never sees on a call's path, and published by [`Monitor::publish`].

use std::sync::Arc;
use std::time::Duration;

use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use nanobreaker_core::{Phase, Transition};

use crate::observe::counts::{CallCounts, Counts};
use crate::observe::monitor::Monitor;
use crate::observe::watch::Watch;

const CALLS: &str = "nanobreaker_calls_total";
const PROBES: &str = "nanobreaker_probes_total";
const REJECTIONS: &str = "nanobreaker_rejections_total";
const TRANSITIONS: &str = "nanobreaker_transitions_total";
const PHASE: &str = "nanobreaker_phase";
const PHASE_DURATION: &str = "nanobreaker_phase_duration_seconds";

const PHASES: [Phase; 6] = [
    Phase::Closed,
    Phase::Open,
    Phase::HalfOpen,
    Phase::Recovering,
    Phase::Isolated,
    Phase::Disabled,
];

/// Tells the recorder what the metrics mean. Call it once, after the recorder was installed.
pub fn describe_metrics() {
    describe_counter!(CALLS, "Calls that were made, by how they ended.");
    describe_counter!(PROBES, "Probes of half-open breakers, by how they ended.");
    describe_counter!(
        REJECTIONS,
        "Calls that were rejected, by the breaker's phase."
    );
    describe_counter!(TRANSITIONS, "Transitions of breakers.");
    describe_gauge!(
        PHASE,
        "1 for the phase that a breaker is in, 0 for the others."
    );
    describe_histogram!(
        PHASE_DURATION,
        Unit::Seconds,
        "How long breakers stayed in a phase."
    );
}

/// Metrics, with the feature `metrics`.
///
/// | metric | kind | labels |
/// | ------ | ---- | ------ |
/// | `nanobreaker_calls_total` | counter | `breaker`, `outcome`: success, slow, failure, ignored, cancelled |
/// | `nanobreaker_probes_total` | counter | `breaker`, `outcome` |
/// | `nanobreaker_rejections_total` | counter | `breaker`, `phase` |
/// | `nanobreaker_transitions_total` | counter | `breaker`, `from`, `to`, `reason` |
/// | `nanobreaker_phase` | gauge | `breaker`, `phase`: 1 for the one that it is in |
/// | `nanobreaker_phase_duration_seconds` | histogram | `breaker`, `phase` that ended |
///
/// A recorder keeps a series for each name that it ever saw, also of breakers that are gone, whose
/// phases are then all 0. Where names are without bound (a registry by user), let the recorder forget
/// the idle ones, as the Prometheus exporter does with an `idle_timeout`, or don't watch those breakers.
///
/// Phases and reasons have the names that [`Phase`] and [`Cause`](crate::Cause) display.
impl Monitor {
    /// Publishes calls, probes, rejections and phases: before each scrape, or
    /// every so often (`publish_every`). Transitions are published without it.
    pub fn publish(&self) {
        let breakers = self.breakers();
        for breaker in &breakers {
            if let Some(watch) = breaker.0.watch() {
                publish_counts(watch);
                publish_phase(watch.name(), Some(breaker.snapshot().phase));
            }
        }
        let watches = breakers.iter().filter_map(|breaker| breaker.0.watch());
        let names = watches.map(|watch| Arc::clone(watch.name())).collect();
        for gone in self.swap_published(names) {
            publish_phase(&gone, None);
        }
    }

    /// Publishes again and again; never returns. **Dropping** the future ends it.
    #[cfg(feature = "tokio")]
    pub async fn publish_every(&self, period: Duration) {
        loop {
            self.publish();
            tokio::time::sleep(period).await;
        }
    }
}

fn publish_phase(name: &Arc<str>, now: Option<Phase>) {
    for phase in PHASES {
        let value = f64::from(u8::from(now == Some(phase)));
        gauge!(PHASE, "breaker" => Arc::clone(name), "phase" => phase.name()).set(value);
    }
}

/// Adds what was counted since the last time. Never a total: a breaker that was removed and made
/// again goes on with the same series.
pub(super) fn publish_counts(watch: &Watch) {
    watch.fresh_counts(|now: Counts, before: Counts| {
        publish_calls(CALLS, watch.name(), now.calls, before.calls);
        publish_calls(PROBES, watch.name(), now.probes, before.probes);
        let rejections = now.rejections.by_phase();
        for ((phase, now), (_, before)) in rejections.into_iter().zip(before.rejections.by_phase())
        {
            counter!(REJECTIONS, "breaker" => Arc::clone(watch.name()), "phase" => phase.name())
                .increment(now.saturating_sub(before));
        }
    });
}

fn publish_calls(metric: &'static str, name: &Arc<str>, now: CallCounts, before: CallCounts) {
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
        "reason" => transition.cause.name(),
    )
    .increment(1);
    histogram!(PHASE_DURATION, "breaker" => Arc::clone(name), "phase" => from).record(lasted);
}
