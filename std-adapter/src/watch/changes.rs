//! Transitions of watched breakers, on their way to who wants to hear of all of them.

use std::sync::Arc;
use std::time::SystemTime;

use nanobreaker_core::Transition;
#[cfg(feature = "tokio")]
use tokio::sync::broadcast;

/// Changes that wait for a receiver that is behind.
#[cfg(feature = "tokio")]
const BACKLOG: usize = 256;

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
    /// Why somebody made it: see [`MonitoredBreaker::because`](crate::observe::MonitoredBreaker::because).
    pub reason: Option<Arc<str>>,
}

/// Where changes are sent to.
#[cfg(feature = "tokio")]
#[derive(Debug)]
pub(crate) struct Changes(broadcast::Sender<Change>);

#[cfg(feature = "tokio")]
impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::Sender::new(BACKLOG))
    }
}

#[cfg(feature = "tokio")]
impl Changes {
    pub(super) fn tell(&self, change: Change) {
        // Fails where nobody listens, which is fine.
        let _ = self.0.send(change);
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Change> {
        self.0.subscribe()
    }
}

/// Nobody can be told.
#[cfg(not(feature = "tokio"))]
#[derive(Debug, Default)]
pub(crate) struct Changes;

#[cfg(not(feature = "tokio"))]
impl Changes {
    #[allow(clippy::unused_self)]
    pub(super) fn tell(&self, _: Change) {}
}
