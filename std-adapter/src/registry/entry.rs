//! A breaker in the registry, with when it was last asked for.

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};

use nanobreaker_core::{ConfigError, Phase};

use super::near::Found;
use crate::shared::{SharedBreaker, SharedBreakerBuilder};

pub(super) struct Entry<K> {
    pub(super) breaker: SharedBreaker,
    pub(super) found: Arc<Found<K>>,
    /// The registry's version when the settings were asked for that are in force.
    version: Mutex<u64>,
}

/// What is lost with a breaker, the least first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth {
    Closed,
    Open,
}

impl<K> Entry<K> {
    pub(super) fn new(key: K, breaker: SharedBreaker, epoch: &AtomicU32, version: u64) -> Self {
        let found = Found::new(key, breaker.reference(), epoch);
        Self { breaker, found: Arc::new(found), version: Mutex::new(version) }
    }

    /// Puts settings in place that were asked for at `version`, unless later ones are there already.
    pub(super) fn adjust(&self, builder: &SharedBreakerBuilder, version: u64) -> Result<(), ConfigError> {
        let mut there = self.version.lock().unwrap_or_else(PoisonError::into_inner);
        if *there <= version {
            self.breaker.adjust(builder)?;
            *there = version;
        }
        Ok(())
    }

    /// To be called when the registry has let go of it. The map may keep it for a while longer.
    pub(super) fn removed(&self) {
        self.found.let_go();
        #[cfg(feature = "monitor")]
        if let Some(watch) = self.breaker.observer().watch() {
            watch.end();
        }
    }

    /// What would be lost; `None` where it must stay.
    pub(super) fn worth(&self) -> Option<Worth> {
        let snapshot = self.breaker.own_snapshot();
        if !self.breaker.is_alone() || snapshot.in_shadow {
            return None;
        }
        match snapshot.phase {
            Phase::Closed => Some(Worth::Closed),
            Phase::Open | Phase::HalfOpen | Phase::Recovering => Some(Worth::Open),
            Phase::Isolated | Phase::Disabled => None,
        }
    }

    /// Epochs since it was last asked for.
    pub(super) fn age(&self, epoch: u32) -> u32 {
        epoch.wrapping_sub(self.found.used())
    }

    /// Whether it was last asked for before the epoch `than`, if that is one.
    pub(super) fn is_older_than(&self, than: Option<u32>) -> bool {
        // Half the range apart tells before from after.
        than.is_some_and(|than| {
            let ahead = than.wrapping_sub(self.found.used());
            ahead != 0 && ahead <= u32::MAX / 2
        })
    }
}
