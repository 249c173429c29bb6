//! An exchange inside one process: for tests, and where there is no store.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use nanobreaker::fleet::message::{Group, Heard, Reply, Report, Said};
use nanobreaker::fleet::{Exchange, ExchangeError};
use nanobreaker::{Clock, TokioClock};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};

use crate::store::Store;

/// More messages than anyone may be behind; who is further behind asks for all that is in force.
const BEHIND: usize = 1_024;

/// An exchange whose store is memory of this process; its clones share that.
///
/// ```
/// use nanobreaker_fleet::nanobreaker::SharedBreaker;
/// use nanobreaker_fleet::{Fleet, InMemory};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = InMemory::new();
/// let fleet = Fleet::builder("checkout").exchange(store.clone()).start()?;
/// let payments = SharedBreaker::builder().name("payments").fleet(&fleet).build()?;
/// # drop(payments);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct InMemory(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    clock: TokioClock,
    /// Names this memory: another one's epochs are others.
    run: u64,
    groups: Mutex<HashMap<Arc<str>, Meeting>>,
}

#[derive(Debug)]
struct Meeting {
    store: Store,
    said: broadcast::Sender<Said>,
}

impl InMemory {
    /// An empty store.
    pub fn new() -> Self {
        let inner = Inner { clock: TokioClock::new(), run: fastrand::u64(..), groups: Mutex::default() };
        Self(Arc::new(inner))
    }

    /// Has the group's meeting do something, by its time.
    fn at<T>(&self, group: &Group, act: impl FnOnce(&mut Meeting, u64) -> T) -> T {
        let mut groups = self.0.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let meeting = groups
            .entry(Arc::clone(&group.name))
            .or_insert_with(|| Meeting { store: Store::default(), said: broadcast::channel(BEHIND).0 });
        act(meeting, self.0.clock.now_ms())
    }
}

impl Default for InMemory {
    fn default() -> Self {
        Self::new()
    }
}

impl Exchange for InMemory {
    async fn ask(&self, group: &Arc<Group>, reports: &[Report]) -> Result<Reply, ExchangeError> {
        let said = self.at(group, |Meeting { store, said }, now_ms| {
            // Nobody may be listening.
            let told = reports.iter().filter_map(|report| store.report(now_ms, group, report));
            told.for_each(|told| drop(said.send(told)));
            if reports.is_empty() {
                return store.all(now_ms);
            }
            reports.iter().filter_map(|report| store.finding(now_ms, &report.breaker)).collect()
        });
        Ok(Reply { run: self.0.run, said })
    }

    async fn hear(&self, group: &Arc<Group>, ear: mpsc::Sender<Heard>) {
        let mut said = self.at(group, |meeting, _| meeting.said.subscribe());
        let run = self.0.run;
        let mut heard = Heard::Linked;
        while ear.send(heard).await.is_ok() {
            heard = match said.recv().await {
                Ok(said) => Heard::Said(Reply { run, said: vec![said] }),
                Err(RecvError::Lagged(_)) => Heard::Linked,
                Err(RecvError::Closed) => return,
            };
        }
    }
}
