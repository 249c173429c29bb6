//! A watched breaker: what operators see of it, and do to it.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use nanobreaker_core::{Config, Evidence, Settings, Snapshot};

use crate::reason;
use crate::shared::Life;
use crate::watch::{Change, Counts, Watch};

/// A breaker that a [`Monitor`](crate::observe::Monitor) watches.
#[derive(Clone)]
pub struct MonitoredBreaker(pub(super) Arc<Life>);

impl MonitoredBreaker {
    pub(crate) fn watch(&self) -> Option<Arc<Watch>> {
        self.0.breaker().observer().watch()
    }

    /// Its number on the operators' page.
    #[cfg(feature = "admin")]
    pub(crate) fn id(&self) -> Option<u64> {
        self.watch().map(|watch| watch.id())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// How it stands now.
    pub fn snapshot(&self) -> Snapshot {
        self.0.breaker().snapshot()
    }

    /// How near its window is to tripping: see [`Breaker::evidence`](crate::Breaker::evidence).
    pub fn evidence(&self) -> Evidence {
        self.0.breaker().evidence()
    }

    /// Its configuration as it stands.
    pub fn config(&self) -> Config {
        self.0.breaker().config()
    }

    /// Its settings as they stand, the window's too.
    pub fn settings(&self) -> Settings {
        self.0.settings()
    }

    /// Since when it is watched, by the system's clock.
    pub fn watched_since(&self) -> SystemTime {
        self.watch().map_or(SystemTime::UNIX_EPOCH, |watch| watch.since())
    }

    /// What it did since it is watched. Walks over the stripes: some loads for each processor.
    pub fn counts(&self) -> Counts {
        self.watch().map(|watch| watch.counts()).unwrap_or_default()
    }

    /// Its last 64 transitions, the oldest first.
    pub fn recent(&self) -> Vec<Change> {
        self.watch().map(|watch| watch.recent()).unwrap_or_default()
    }

    /// Does something to it, for a reason that is kept with the transition: in [`recent`](Self::recent), in
    /// what is broadcast, in `tracing` events, and on the operators' page.
    ///
    /// ```
    /// # use nanobreaker::{SharedBreaker, observe::Monitor};
    /// let monitor = Monitor::new();
    /// let payments = monitor.watch(SharedBreaker::builder().name("payments").build()?);
    /// let seen = monitor.find("payments").expect("it is watched");
    /// assert!(seen.because("moving the database", |payments| payments.isolate()));
    /// assert_eq!(seen.recent()[0].reason.as_deref(), Some("moving the database"));
    /// # Ok::<(), nanobreaker::ConfigError>(())
    /// ```
    pub fn because<T>(&self, reason: &str, act: impl FnOnce(&Self) -> T) -> T {
        reason::during(reason, || act(self))
    }

    /// See [`Breaker::trip`](crate::Breaker::trip).
    pub fn trip(&self) -> bool {
        self.0.breaker().trip()
    }

    /// See [`Breaker::isolate`](crate::Breaker::isolate).
    pub fn isolate(&self) -> bool {
        self.0.breaker().isolate()
    }

    /// See [`Breaker::disable`](crate::Breaker::disable).
    pub fn disable(&self) -> bool {
        self.0.breaker().disable()
    }

    /// See [`Breaker::reset`](crate::Breaker::reset).
    pub fn reset(&self) {
        self.0.breaker().reset();
    }

    /// See [`Breaker::shadow`](crate::Breaker::shadow).
    pub fn shadow(&self, on: bool) {
        self.0.breaker().shadow(on);
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
