//! Collects the limits of a registry.

use std::fmt;
use std::hash::{Hash, RandomState};
#[cfg(feature = "state-file")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nanobreaker_core::Clock;
use nanobreaker_settings::millis;

use super::near::Near;
use super::upkeep::Upkeep;
use super::{Configure, Inner, Registry, WhenKept};
use crate::clock::CoarseClock;
#[cfg(feature = "monitor")]
use crate::observe::Monitor;

/// Collects the limits of a [`Registry`].
#[must_use = "call build() to get the registry"]
pub struct RegistryBuilder<K> {
    configure: Configure<K>,
    when_kept: Option<WhenKept>,
    clock: Box<dyn Clock + Send + Sync>,
    max_breakers: usize,
    idle_after: Duration,
}

impl<K> RegistryBuilder<K> {
    pub(super) fn new(configure: Configure<K>) -> Self {
        Self {
            configure,
            when_kept: None,
            clock: Box::new(CoarseClock),
            max_breakers: 10_000,
            idle_after: Duration::from_secs(3_600),
        }
    }

    /// The most breakers that are kept, at least 1; 10,000 unless set. Each takes about 2.5 KB. Leave room for the
    /// keys that come up within [`idle_after`](Self::idle_after): where all the room is in use, a new key takes
    /// that of one in use.
    pub fn max_breakers(mut self, most: usize) -> Self {
        self.max_breakers = most.max(1);
        self
    }

    /// For how long nobody must have asked for a breaker for it to be removed; an hour unless set.
    /// It may stay for up to half as long again.
    pub fn idle_after(mut self, idle: Duration) -> Self {
        self.idle_after = idle;
        self
    }

    /// Measures idle times by `clock`, for tests.
    pub fn clock(mut self, clock: impl Clock + Send + Sync + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// Lets `monitor` watch every breaker for as long as the registry keeps it.
    #[cfg(feature = "monitor")]
    pub fn monitor(mut self, monitor: &Monitor) -> Self {
        let monitor = monitor.clone();
        self.when_kept = Some(Box::new(move |breaker| drop(monitor.watch(breaker.clone()))));
        self
    }

    /// The registry, empty.
    pub fn build(self) -> Registry<K>
    where
        K: Hash + Eq,
    {
        let upkeep = Mutex::new(Upkeep::starting_at(self.clock.now_ms()));
        Registry {
            inner: Arc::new(Inner {
                map: papaya::HashMap::with_hasher(RandomState::new()),
                near: Near::new(),
                configure: self.configure,
                when_kept: self.when_kept,
                #[cfg(feature = "state-file")]
                kept_in: OnceLock::new(),
                clock: self.clock,
                max_breakers: self.max_breakers,
                idle_after_ms: millis(self.idle_after),
                epoch: AtomicU32::new(0),
                version: AtomicU64::new(0),
                upkeep,
            }),
        }
    }
}

impl<K> fmt::Debug for RegistryBuilder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistryBuilder")
            .field("max_breakers", &self.max_breakers)
            .field("idle_after", &self.idle_after)
            .finish_non_exhaustive()
    }
}
