//! What is kept about one breaker while it is watched. A breaker knows this, and nothing of who watches.

mod changes;
mod counts;
#[cfg(feature = "metrics")]
pub(crate) mod series;

use std::collections::VecDeque;
#[cfg(feature = "admin")]
use std::sync::atomic::AtomicU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Instant, SystemTime};

use nanobreaker_core::{Phase, Transition};

use crate::reason;
pub use changes::Change;
pub(crate) use changes::Changes;
pub(crate) use counts::Meter;
pub use counts::{CallCounts, Counts, RejectionCounts};

/// Transitions that are kept.
const RECENT: usize = 64;

/// The number of the next watch.
#[cfg(feature = "admin")]
static NEXT: AtomicU64 = AtomicU64::new(1);

#[derive(Debug)]
pub(crate) struct Watch {
    #[cfg(feature = "admin")]
    id: u64,
    name: Arc<str>,
    since: SystemTime,
    meter: Arc<Meter>,
    /// What the meter had counted before.
    before: Counts,
    history: Mutex<History>,
    changes: Weak<Changes>,
    ended: AtomicBool,
    #[cfg(feature = "metrics")]
    published: Mutex<Counts>,
    #[cfg(feature = "metrics")]
    chosen: series::Chosen,
}

#[derive(Debug)]
struct History {
    phase_began: Instant,
    changes: VecDeque<Change>,
    /// All that there were.
    #[cfg(feature = "admin")]
    made: u64,
    trips: u64,
}

impl Watch {
    pub(crate) fn new(
        name: Arc<str>,
        meter: Arc<Meter>,
        changes: Weak<Changes>,
        #[cfg(feature = "metrics")] chosen: series::Chosen,
    ) -> Self {
        Self {
            // Relaxed: each gets another one, in whatever order.
            #[cfg(feature = "admin")]
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            name,
            since: SystemTime::now(),
            before: meter.counts(),
            meter,
            history: Mutex::new(History {
                phase_began: Instant::now(),
                changes: VecDeque::with_capacity(RECENT),
                #[cfg(feature = "admin")]
                made: 0,
                trips: 0,
            }),
            changes,
            ended: AtomicBool::new(false),
            #[cfg(feature = "metrics")]
            published: Mutex::default(),
            #[cfg(feature = "metrics")]
            chosen,
        }
    }

    /// From here on the monitor does not show the breaker any more, though it may live on.
    #[cfg(feature = "registry")]
    pub(crate) fn end(&self) {
        // Relaxed: whoever looks at this moment sees it once more.
        self.ended.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    #[cfg(feature = "metrics")]
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(crate) fn since(&self) -> SystemTime {
        self.since
    }

    pub(crate) fn counts(&self) -> Counts {
        let trips = self.history().trips;
        Counts { trips, ..self.meter.counts().since(self.before) }
    }

    /// Its number, which no other in this process has.
    #[cfg(feature = "admin")]
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// How many transitions there were, and those that are kept of the ones after the first `known`.
    #[cfg(feature = "admin")]
    pub(crate) fn recent_after(&self, known: u64) -> (u64, Vec<Change>) {
        let history = self.history();
        let new = usize::try_from(history.made.saturating_sub(known)).unwrap_or(usize::MAX);
        let kept = history.changes.len();
        (history.made, history.changes.iter().skip(kept.saturating_sub(new)).cloned().collect())
    }

    pub(crate) fn recent(&self) -> Vec<Change> {
        self.history().changes.iter().cloned().collect()
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes what was counted since this was done last.
    #[cfg(feature = "metrics")]
    pub(crate) fn publish_counts(&self) {
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = self.counts();
        series::counts(&self.name, counts.since(*published), self.chosen);
        *published = counts;
    }

    pub(crate) fn transition(&self, transition: &Transition) {
        let change = Change {
            breaker: Arc::clone(&self.name),
            at: SystemTime::now(),
            transition: *transition,
            reason: reason::present(),
        };
        let _lasted = self.keep(&change);
        #[cfg(feature = "metrics")]
        series::transition(&self.name, transition, _lasted, self.chosen);
        if let Some(changes) = self.changes.upgrade() {
            changes.tell(change);
        }
    }

    /// Returns how long the phase lasted that ended.
    fn keep(&self, change: &Change) -> std::time::Duration {
        let mut history = self.history();
        if history.changes.len() == RECENT {
            history.changes.pop_front();
        }
        history.changes.push_back(change.clone());
        #[cfg(feature = "admin")]
        {
            history.made += 1;
        }
        history.trips += u64::from(change.transition.to == Phase::Open);
        let lasted = history.phase_began.elapsed();
        history.phase_began = Instant::now();
        lasted
    }
}

/// The last calls of a breaker that is gone are published, too.
#[cfg(feature = "metrics")]
impl Drop for Watch {
    fn drop(&mut self) {
        self.publish_counts();
    }
}
