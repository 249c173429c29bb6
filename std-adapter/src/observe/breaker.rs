//! A watched breaker, whatever its clock.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use nanobreaker_core::{Clock, Config, Snapshot};

use crate::observe::counts::Counts;
use crate::observe::watch::{Change, Watch};
use crate::shared::{Shared, SharedBreaker};

/// What operators see of a breaker, and do to it.
pub(crate) trait Operate: Send + Sync {
    fn name(&self) -> &str;
    fn watch(&self) -> Option<&Watch>;
    fn snapshot(&self) -> Snapshot;
    fn config(&self) -> Config;
    fn trip(&self) -> bool;
    fn isolate(&self) -> bool;
    fn disable(&self) -> bool;
    fn reset(&self);
    fn observe(&self, on: bool);
}

impl<C: Clock + Send + Sync> Operate for Shared<C> {
    fn name(&self) -> &str {
        self.name()
    }

    fn watch(&self) -> Option<&Watch> {
        self.breaker().observer().watch()
    }

    fn snapshot(&self) -> Snapshot {
        self.breaker().snapshot()
    }

    fn config(&self) -> Config {
        self.breaker().config()
    }

    fn trip(&self) -> bool {
        self.breaker().trip()
    }

    fn isolate(&self) -> bool {
        self.breaker().isolate()
    }

    fn disable(&self) -> bool {
        self.breaker().disable()
    }

    fn reset(&self) {
        self.breaker().reset();
    }

    fn observe(&self, on: bool) {
        self.breaker().observe(on);
    }
}

/// A breaker that a [`Monitor`](crate::observe::Monitor) watches.
#[derive(Clone)]
pub struct MonitoredBreaker(pub(super) Arc<dyn Operate>);

impl MonitoredBreaker {
    /// Its name.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// How it stands now.
    pub fn snapshot(&self) -> Snapshot {
        self.0.snapshot()
    }

    /// Its configuration as it stands.
    pub fn config(&self) -> Config {
        self.0.config()
    }

    /// Since when it is watched, by the system's clock.
    pub fn watched_since(&self) -> SystemTime {
        self.0.watch().map_or(SystemTime::UNIX_EPOCH, Watch::since)
    }

    /// What it did since it is watched. Walks over the stripes: some loads for each processor.
    pub fn counts(&self) -> Counts {
        self.0.watch().map(Watch::counts).unwrap_or_default()
    }

    /// Its last 64 transitions, the oldest first.
    pub fn recent(&self) -> Vec<Change> {
        self.0.watch().map(Watch::recent).unwrap_or_default()
    }

    /// See [`Breaker::trip`](crate::Breaker::trip).
    pub fn trip(&self) -> bool {
        self.0.trip()
    }

    /// See [`Breaker::isolate`](crate::Breaker::isolate).
    pub fn isolate(&self) -> bool {
        self.0.isolate()
    }

    /// See [`Breaker::disable`](crate::Breaker::disable).
    pub fn disable(&self) -> bool {
        self.0.disable()
    }

    /// See [`Breaker::reset`](crate::Breaker::reset).
    pub fn reset(&self) {
        self.0.reset();
    }

    /// See [`Breaker::observe`](crate::Breaker::observe).
    pub fn observe(&self, on: bool) {
        self.0.observe(on);
    }
}

impl fmt::Debug for MonitoredBreaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MonitoredBreaker")
            .field("name", &self.name())
            .field("snapshot", &self.snapshot())
            .finish()
    }
}

impl<C: Clock + Send + Sync + 'static> SharedBreaker<C> {
    pub(super) fn operate(&self) -> Arc<dyn Operate> {
        self.shared()
    }
}
