//! Metrics through the `metrics` facade.
//!
//! Calls are counted in the watch's stripes, which the facade's recorder never sees on a call's path, and
//! published by [`Monitor::publish`].

use std::sync::Arc;
#[cfg(feature = "tokio")]
use std::time::Duration;

#[cfg(doc)]
use nanobreaker_core::{Cause, Evidence, Outcome, Phase};

use crate::observe::breaker::MonitoredBreaker;
use crate::observe::monitor::Monitor;
use crate::watch::series;
#[cfg(doc)]
use crate::watch::series::Series;

/// Metrics, with the feature `metrics`. These series each breaker has:
///
/// | metric | kind | labels |
/// | ------ | ---- | ------ |
/// | `nanobreaker_calls_total` | counter | `breaker`, `outcome`: success, slow, failure, slow_failure |
/// | `nanobreaker_rejections_total` | counter | `breaker` |
/// | `nanobreaker_trips_total` | counter | `breaker`: transitions to open |
/// | `nanobreaker_phase` | gauge | `breaker`: -1 disabled, 0 closed, 1 recovering, 2 half-open, 3 open, 4 isolated; above 0 it rejects calls |
/// | `nanobreaker_evidence_ratio` | gauge | `breaker`: how much of what trips its window has counted, 0 to 1 (see [`Evidence`]) |
///
/// And these the breakers of a monitor that is asked for them, by
/// [`with_series`](Self::with_series):
///
/// | metric | kind | labels | group |
/// | ------ | ---- | ------ | ----- |
/// | `nanobreaker_calls_total` | counter | `breaker`, `outcome`: ignored, cancelled | [`Unjudged`](Series::Unjudged) |
/// | `nanobreaker_probes_total` | counter | `breaker`, `outcome` | [`Probes`](Series::Probes) |
/// | `nanobreaker_rejections_by_phase_total` | counter | `breaker`, `phase` | [`RejectionsByPhase`](Series::RejectionsByPhase) |
/// | `nanobreaker_transitions_total` | counter | `breaker`, `from`, `to`, `cause` | [`Transitions`](Series::Transitions) |
/// | `nanobreaker_phase_duration_seconds` | histogram | `breaker`, `phase` that ended | [`Durations`](Series::Durations) |
///
/// Phases, outcomes and causes have the names that [`Phase`], [`Outcome`] and [`Cause`] display.
///
/// # From the first event to the last
///
/// Counters are there at 0 as soon as a breaker is watched, so that `increase()` sees its first trip, if a
/// scrape came before it. Transitions that restore a saved state are the exception. Install the recorder
/// first, and make breakers when the process starts, not with their first call.
///
/// Breakers of the same name share their series: what they count adds up, also where one was removed from a
/// registry and made again. The gauges show one of them.
///
/// Of a breaker that is gone the last calls are counted, its gauges become NaN, which no alert compares, and
/// then its series stay as they are. Where names are without bound (a registry by user) have them end: by the
/// Prometheus exporter's `idle_timeout`, longer than some scrapes take. Each `publish` touches every
/// series of a living breaker but the histogram's, so only those that are gone end. One that comes back
/// later begins at 0 again, as after a restart.
impl Monitor {
    /// Publishes everything that is counted, and gauges: before each scrape, or
    /// every so often (`publish_every`). The groups `Transitions` and `Durations` are published without
    /// it, when a transition is made.
    pub fn publish(&self) {
        let breakers = self.breakers();
        for breaker in &breakers {
            if let Some(watch) = breaker.watch() {
                watch.publish_counts();
                series::state(watch.name(), breaker.snapshot().phase, breaker.evidence());
            }
        }
        let watches = breakers.iter().filter_map(MonitoredBreaker::watch);
        let names = watches.map(|watch| Arc::clone(watch.name())).collect();
        for gone in self.swap_published(names) {
            series::gone(&gone);
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
