//! A breaker in the registry, with when it was last asked for.

use std::sync::atomic::{AtomicU32, Ordering};

use nanobreaker_core::{Clock, Phase};

use crate::shared::SharedBreaker;

pub(super) struct Entry<C: Clock> {
    pub(super) breaker: SharedBreaker<C>,
    /// The epoch in which it was last asked for.
    used: AtomicU32,
}

/// What is lost with a breaker, the least first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth {
    Closed,
    Open,
}

impl<C: Clock> Entry<C> {
    pub(super) fn new(breaker: SharedBreaker<C>, epoch: &AtomicU32) -> Self {
        Self {
            breaker,
            used: AtomicU32::new(epoch.load(Ordering::Relaxed)),
        }
    }

    /// Notes that it was asked for: writes only the first time in an epoch.
    #[inline]
    pub(super) fn touch(&self, epoch: &AtomicU32) {
        // Relaxed: a stamp that is an epoch old is as good.
        let now = epoch.load(Ordering::Relaxed);
        if self.used.load(Ordering::Relaxed) != now {
            self.used.store(now, Ordering::Relaxed);
        }
    }

    /// To be called when the registry has let go of it. The map may keep it for a while longer.
    pub(super) fn removed(&self) {
        #[cfg(feature = "monitor")]
        if let Some(watch) = self.breaker.observer().watch() {
            watch.end();
        }
    }

    /// What would be lost; `None` where it must stay.
    pub(super) fn worth(&self) -> Option<Worth> {
        let snapshot = self.breaker.snapshot();
        if self.breaker.handles() > 1 || snapshot.observing {
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
        epoch.wrapping_sub(self.used.load(Ordering::Relaxed))
    }

    /// Whether it was last asked for before the epoch `than`, if that is one.
    pub(super) fn is_older_than(&self, than: Option<u32>) -> bool {
        // Half the range apart tells before from after.
        than.is_some_and(|than| {
            let ahead = than.wrapping_sub(self.used.load(Ordering::Relaxed));
            ahead != 0 && ahead <= u32::MAX / 2
        })
    }
}
