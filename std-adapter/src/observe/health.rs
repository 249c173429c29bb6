//! How healthy a service is, by the breakers before its dependencies.

use nanobreaker_core::{Phase, Snapshot};
use nanobreaker_settings::nearest;

use crate::observe::breaker::MonitoredBreaker;

/// How healthy a service is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum HealthStatus {
    /// No breaker rejects calls.
    Up,
    /// Some breaker rejects calls, but none that the service can't do without rejects all of them.
    Degraded,
    /// A breaker that the service can't do without rejects every call: it is isolated, or open and not yet
    /// [ready to probe](nanobreaker_core::Snapshot::ready_to_probe).
    Down,
}

/// How healthy a service is, and which of its dependencies are not.
///
/// For dashboards and load balancers. A breaker that waits for a call to probe with is no reason to be down: an
/// instance that a balancer drained gets calls again, finds out by them, and is up or down for a reason.
/// Think twice before an orchestrator restarts a service on it: a
/// restart heals no dependency, and starts with an empty window.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Health {
    /// All in all.
    pub status: HealthStatus,
    /// The breakers that reject calls: name and phase, by name.
    pub rejecting: Vec<(String, Phase)>,
}

/// A breaker that a service can't do without, and that nobody watches: a name with a slip, or a breaker that
/// is not made yet, or no more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the breaker {name:?} is required, but there is none of that name among the {watched} that are watched{}", meant(.nearest.as_deref()))]
#[non_exhaustive]
pub struct UnknownBreaker {
    /// The name that was required.
    pub name: String,
    /// The name that is written most like it, if any is at all like it.
    pub nearest: Option<String>,
    /// How many breakers are watched.
    pub watched: usize,
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("; is it {nearest:?}?"))
}

impl Health {
    pub(super) fn of(breakers: &[MonitoredBreaker], required: &[&str]) -> Self {
        let mut health = Self { status: HealthStatus::Up, rejecting: Vec::new() };
        for breaker in breakers {
            let (name, snapshot) = (breaker.name(), breaker.snapshot());
            if !rejects(&snapshot) {
                continue;
            }
            health.rejecting.push((name.to_owned(), snapshot.phase));
            if rejects_all(&snapshot) && required.contains(&name) {
                health.status = HealthStatus::Down;
            } else if health.status == HealthStatus::Up {
                health.status = HealthStatus::Degraded;
            }
        }
        health
    }
}

/// An error for the first name of `required` that no breaker has.
pub(super) fn known(breakers: &[MonitoredBreaker], required: &[&str]) -> Result<(), UnknownBreaker> {
    let names = || breakers.iter().map(MonitoredBreaker::name);
    match required.iter().find(|required| !names().any(|name| name == **required)) {
        None => Ok(()),
        Some(name) => Err(UnknownBreaker {
            name: (*name).to_owned(),
            nearest: nearest(name, names()).map(str::to_owned),
            watched: breakers.len(),
        }),
    }
}

/// Whether calls are rejected, if not all of them.
pub(crate) fn rejects(snapshot: &Snapshot) -> bool {
    !snapshot.in_shadow && !matches!(snapshot.phase, Phase::Closed | Phase::Disabled)
}

fn rejects_all(snapshot: &Snapshot) -> bool {
    match snapshot.phase {
        Phase::Isolated => true,
        Phase::Open => !snapshot.ready_to_probe(),
        Phase::Closed | Phase::HalfOpen | Phase::Recovering | Phase::Disabled => false,
    }
}
