//! What is kept about one breaker while it is watched.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Instant, SystemTime};

use nanobreaker_core::{Outcome, Rejected, Token, Transition};

use crate::observe::counts::{Counts, Meter};
use crate::observe::monitor::Hub;

/// Transitions that are kept.
const RECENT: usize = 64;

/// A transition of a breaker that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Change {
    /// The breaker's name.
    pub breaker: Arc<str>,
    /// When, by the system's clock.
    pub at: SystemTime,
    /// The transition.
    pub transition: Transition,
}

#[derive(Debug)]
pub(crate) struct Watch {
    name: Arc<str>,
    since: SystemTime,
    meter: Meter,
    history: Mutex<History>,
    hub: Weak<Hub>,
    ended: AtomicBool,
    #[cfg(feature = "metrics")]
    published: Mutex<Counts>,
}

#[derive(Debug)]
struct History {
    phase_began: Instant,
    changes: VecDeque<Change>,
}

impl Watch {
    pub(super) fn new(name: Arc<str>, hub: Weak<Hub>) -> Self {
        Self {
            name,
            since: SystemTime::now(),
            meter: Meter::new(),
            history: Mutex::new(History {
                phase_began: Instant::now(),
                changes: VecDeque::with_capacity(RECENT),
            }),
            hub,
            ended: AtomicBool::new(false),
            #[cfg(feature = "metrics")]
            published: Mutex::default(),
        }
    }

    /// From here on the monitor does not show the breaker any more, though it may live on.
    #[cfg(feature = "registry")]
    pub(crate) fn end(&self) {
        // Relaxed: whoever looks at this moment sees it once more.
        self.ended.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    #[cfg(feature = "metrics")]
    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(super) fn since(&self) -> SystemTime {
        self.since
    }

    pub(super) fn counts(&self) -> Counts {
        self.meter.counts()
    }

    pub(super) fn recent(&self) -> Vec<Change> {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.changes.iter().cloned().collect()
    }

    /// What was counted since this was asked last.
    #[cfg(feature = "metrics")]
    pub(super) fn fresh_counts(&self, take: impl FnOnce(Counts, Counts)) {
        let mut published = self
            .published
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let counts = self.counts();
        take(counts, *published);
        *published = counts;
    }

    #[inline]
    pub(crate) fn recorded(&self, token: Token, outcome: Outcome) {
        self.meter.call(outcome, token.is_probe());
    }

    pub(crate) fn rejected(&self, rejected: &Rejected) {
        self.meter.rejection(rejected.phase);
    }

    pub(crate) fn transition(&self, transition: &Transition) {
        let change = Change {
            breaker: Arc::clone(&self.name),
            at: SystemTime::now(),
            transition: *transition,
        };
        let _lasted = self.keep(&change);
        #[cfg(feature = "metrics")]
        super::metrics::transition(&self.name, transition, _lasted);
        if let Some(hub) = self.hub.upgrade() {
            hub.tell(change);
        }
    }

    /// Returns how long the phase lasted that ended.
    fn keep(&self, change: &Change) -> std::time::Duration {
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        if history.changes.len() == RECENT {
            history.changes.pop_front();
        }
        history.changes.push_back(change.clone());
        let lasted = history.phase_began.elapsed();
        history.phase_began = Instant::now();
        lasted
    }
}

/// The last calls of a breaker that is gone are published, too.
#[cfg(feature = "metrics")]
impl Drop for Watch {
    fn drop(&mut self) {
        super::metrics::publish_counts(self);
    }
}
