//! How healthy a service is, by the breakers before its dependencies.

use nanobreaker_core::Phase;

use crate::observe::breaker::MonitoredBreaker;

/// How healthy a service is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum HealthStatus {
    /// No breaker rejects calls.
    Up,
    /// Some breaker rejects calls, but none that the service can't do without.
    Degraded,
    /// A breaker rejects calls that the service can't do without.
    Down,
}

/// How healthy a service is, and which of its dependencies are not.
///
/// For dashboards and load balancers. Think twice before an orchestrator restarts a service on it: a
/// restart heals no dependency, and starts with an empty window.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Health {
    /// All in all.
    pub status: HealthStatus,
    /// The breakers that reject calls: name and phase, by name.
    pub rejecting: Vec<(String, Phase)>,
}

impl Health {
    pub(super) fn of(breakers: &[MonitoredBreaker], required: &[&str]) -> Self {
        let rejecting: Vec<_> = breakers
            .iter()
            .filter_map(|breaker| {
                let snapshot = breaker.snapshot();
                let rejects = !snapshot.in_shadow && rejects(snapshot.phase);
                rejects.then(|| (breaker.name().to_owned(), snapshot.phase))
            })
            .collect();
        let is_required = |(name, _): &(String, Phase)| required.contains(&name.as_str());
        let status = if rejecting.is_empty() {
            HealthStatus::Up
        } else if rejecting.iter().any(is_required) {
            HealthStatus::Down
        } else {
            HealthStatus::Degraded
        };
        Self { status, rejecting }
    }
}

const fn rejects(phase: Phase) -> bool {
    match phase {
        Phase::Open | Phase::HalfOpen | Phase::Recovering | Phase::Isolated => true,
        Phase::Closed | Phase::Disabled => false,
    }
}
