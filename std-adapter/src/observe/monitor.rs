//! Watches breakers.

#[cfg(feature = "metrics")]
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

#[cfg(feature = "tokio")]
use tokio::sync::broadcast;

use crate::observe::breaker::MonitoredBreaker;
use crate::observe::health::{Health, UnknownBreaker, known};
use crate::shared::{Life, SharedBreaker};
#[cfg(feature = "tokio")]
use crate::watch::Change;
#[cfg(feature = "metrics")]
use crate::watch::series::{Chosen, Series};
use crate::watch::{Changes, Watch};

/// Watches breakers: counts their calls, keeps their recent transitions, says how healthy they are.
/// Cheap to clone, all clones are the same monitor.
///
/// A breaker that is dropped, or removed from its registry, is watched no longer.
/// Being watched costs a call one addition to a counter of its thread, and a breaker 128 bytes for
/// each processor and 6 KB for its transitions.
///
/// ```
/// use nanobreaker::SharedBreaker;
/// use nanobreaker::observe::{HealthStatus, Monitor};
///
/// let monitor = Monitor::new();
/// let payments = monitor.watch(SharedBreaker::builder().name("payments").build()?);
/// payments.allow()?.success();
/// payments.trip();
///
/// let seen = monitor.find("payments").expect("it is watched");
/// assert_eq!(seen.counts().calls.success, 1);
/// assert_eq!(seen.recent().len(), 1);
/// assert_eq!(monitor.health().status, HealthStatus::Degraded);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    hub: Arc<Hub>,
}

/// What the monitor shares with what it watches.
#[derive(Debug, Default)]
struct Hub {
    watched: Mutex<Watched>,
    changes: Arc<Changes>,
    #[cfg(feature = "metrics")]
    chosen: Chosen,
}

#[derive(Default)]
struct Watched {
    breakers: Vec<Weak<Life>>,
    /// How many there may be before those that are gone are looked for.
    tidy_at: usize,
    /// Whose phase was published.
    #[cfg(feature = "metrics")]
    published: BTreeSet<Arc<str>>,
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} breakers", self.breakers.len())
    }
}

impl Hub {
    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The breakers that are watched, in no order. Collected first: one whose last handle goes meanwhile ends here,
    /// which is anyone's code, and so not under the lock.
    fn alive(&self) -> impl Iterator<Item = MonitoredBreaker> {
        let breakers: Vec<_> = self.lock().breakers.iter().filter_map(Weak::upgrade).collect();
        let breakers = breakers.into_iter().map(MonitoredBreaker);
        breakers.filter(|it| it.watch().is_some_and(|watch| !watch.has_ended()))
    }
}

impl Monitor {
    /// A monitor that watches nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A monitor that publishes these series of its breakers beside their usual ones:
    /// see [`publish`](Self::publish).
    ///
    /// ```
    /// use nanobreaker::observe::{Monitor, Series};
    ///
    /// let monitor = Monitor::with_series(&[Series::Probes, Series::Transitions]);
    /// # drop(monitor);
    /// ```
    #[cfg(feature = "metrics")]
    pub fn with_series(series: &[Series]) -> Self {
        Self { hub: Arc::new(Hub { chosen: series.iter().collect(), ..Hub::default() }) }
    }

    /// Watches `breaker` from here on, and gives it back. One that another monitor watches already
    /// stays with that one.
    pub fn watch(&self, breaker: SharedBreaker) -> SharedBreaker {
        let (name, changes) = (breaker.shared_name(), Arc::downgrade(&self.hub.changes));
        let watch = |meter| {
            Watch::new(
                name,
                meter,
                changes,
                #[cfg(feature = "metrics")]
                self.hub.chosen,
            )
        };
        if let Some(_watch) = breaker.observer().start_watch(watch) {
            #[cfg(feature = "metrics")]
            _watch.publish_counts();
            let mut watched = self.hub.lock();
            if watched.breakers.len() >= watched.tidy_at {
                watched.breakers.retain(|breaker| breaker.strong_count() > 0);
                watched.tidy_at = watched.breakers.len() * 2 + 16;
            }
            watched.breakers.push(Arc::downgrade(breaker.life()));
        }
        breaker
    }

    /// The breakers that are watched, by name.
    pub fn breakers(&self) -> Vec<MonitoredBreaker> {
        let mut breakers: Vec<_> = self.hub.alive().collect();
        breakers.sort_by(|a, b| a.name().cmp(b.name()));
        breakers
    }

    /// The breaker called `name`, or one of them.
    pub fn find(&self, name: &str) -> Option<MonitoredBreaker> {
        self.hub.alive().find(|breaker| breaker.name() == name)
    }

    /// How healthy the dependencies are, by the breakers before them.
    pub fn health(&self) -> Health {
        Health::of(&self.breakers(), &[])
    }

    /// The same, where the service can't do without the dependencies called `required`. Their breakers must
    /// be watched already, so make them when the process starts, and keep a handle.
    ///
    /// # Errors
    ///
    /// [`UnknownBreaker`], with the nearest name, where none of these names is watched. Tell it to people
    /// rather than to a balancer as "down".
    pub fn health_of(&self, required: &[&str]) -> Result<Health, UnknownBreaker> {
        let breakers = self.breakers();
        known(&breakers, required)?;
        Ok(Health::of(&breakers, required))
    }

    /// Every transition of every watched breaker from here on. A receiver that falls more than 256
    /// behind misses the oldest, and is told how many.
    ///
    /// ```
    /// # use nanobreaker::{Phase, SharedBreaker, observe::Monitor};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let monitor = Monitor::new();
    /// let mut changes = monitor.changes();
    /// let payments = monitor.watch(SharedBreaker::builder().name("payments").build()?);
    /// payments.trip();
    /// let change = changes.recv().await?;
    /// assert_eq!((&*change.breaker, change.transition.to), ("payments", Phase::Open));
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "tokio")]
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.hub.changes.subscribe()
    }

    /// Names the breakers whose phase is published now; returns those that are gone since.
    #[cfg(feature = "metrics")]
    pub(super) fn swap_published(&self, now: BTreeSet<Arc<str>>) -> Vec<Arc<str>> {
        let mut watched = self.hub.lock();
        let before = std::mem::replace(&mut watched.published, now);
        before.difference(&watched.published).cloned().collect()
    }
}
