//! Metrics through the `metrics` facade.
//!
//! Transitions are published as they happen. Calls are counted in the watch's stripes, which the
//! facade's recorder never sees on a call's path, and published by [`Monitor::publish`].

use std::sync::Arc;
#[cfg(feature = "tokio")]
use std::time::Duration;

#[cfg(doc)]
use nanobreaker_core::Phase;

use crate::observe::breaker::MonitoredBreaker;
use crate::observe::monitor::Monitor;
use crate::watch::series;

/// Metrics, with the feature `metrics`.
///
/// | metric | kind | labels |
/// | ------ | ---- | ------ |
/// | `nanobreaker_calls_total` | counter | `breaker`, `outcome`: success, slow, failure, slow_failure, ignored, cancelled |
/// | `nanobreaker_probes_total` | counter | `breaker`, `outcome` |
/// | `nanobreaker_rejections_total` | counter | `breaker`, `phase` |
/// | `nanobreaker_transitions_total` | counter | `breaker`, `from`, `to`, `cause` |
/// | `nanobreaker_phase` | gauge | `breaker`, `phase`: 1 for the one that it is in |
/// | `nanobreaker_phase_duration_seconds` | histogram | `breaker`, `phase` that ended |
///
/// A recorder keeps a series for each name that it ever saw, also of breakers that are gone, whose
/// phases are then all 0. Where names are without bound (a registry by user), let the recorder forget
/// the idle ones, as the Prometheus exporter does with an `idle_timeout`, or don't watch those breakers.
///
/// Phases and causes have the names that [`Phase`] and [`Cause`](crate::Cause) display.
impl Monitor {
    /// Publishes calls, probes, rejections and phases: before each scrape, or
    /// every so often (`publish_every`). Transitions are published without it.
    pub fn publish(&self) {
        let breakers = self.breakers();
        for breaker in &breakers {
            if let Some(watch) = breaker.watch() {
                watch.publish_counts();
                series::phase(watch.name(), Some(breaker.snapshot().phase));
            }
        }
        let watches = breakers.iter().filter_map(MonitoredBreaker::watch);
        let names = watches.map(|watch| Arc::clone(watch.name())).collect();
        for gone in self.swap_published(names) {
            series::phase(&gone, None);
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
