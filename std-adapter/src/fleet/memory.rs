//! An exchange inside one process: for tests, and where there is no store.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};
use tokio::time::Instant;

use super::exchange::{Exchange, ExchangeError};
use super::message::{Group, Heard, Reply, Report, Said};
use super::store::Store;

/// More messages than anyone may be behind; who is further behind asks for all that is in force.
const BEHIND: usize = 1_024;

/// An exchange whose store is memory of this process; its clones share that.
///
/// ```
/// use nanobreaker::SharedBreaker;
/// use nanobreaker::fleet::{Fleet, InMemory};
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
#[derive(Clone)]
pub struct InMemory(Arc<Inner>);

struct Inner {
    began: Instant,
    /// Names this memory: another one's epochs are others.
    run: u64,
    groups: Mutex<HashMap<Arc<str>, Meeting>>,
}

struct Meeting {
    store: Store,
    said: broadcast::Sender<Said>,
}

impl fmt::Debug for InMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InMemory").finish_non_exhaustive()
    }
}

impl InMemory {
    /// An empty store.
    pub fn new() -> Self {
        let inner = Inner { began: Instant::now(), run: fastrand::u64(..), groups: Mutex::default() };
        Self(Arc::new(inner))
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.0.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Meeting>> {
        self.0.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at<T>(&self, group: &Group, ask: impl FnOnce(&mut Meeting) -> T) -> T {
        let mut groups = self.lock();
        let meeting = groups
            .entry(Arc::clone(&group.name))
            .or_insert_with(|| Meeting { store: Store::default(), said: broadcast::channel(BEHIND).0 });
        ask(meeting)
    }

    fn reply(&self, said: Vec<Said>) -> Reply {
        Reply { run: self.0.run, said }
    }
}

impl Default for InMemory {
    fn default() -> Self {
        Self::new()
    }
}

impl Exchange for InMemory {
    async fn report(&self, group: &Arc<Group>, reports: &[Report]) -> Result<Reply, ExchangeError> {
        let now_ms = self.now_ms();
        let said = self.at(group, |meeting| {
            for report in reports {
                if let Some(said) = meeting.store.report(now_ms, group, report) {
                    // Nobody may be listening.
                    let _ = meeting.said.send(said);
                }
            }
            let findings = reports.iter().filter_map(|report| meeting.store.finding(now_ms, &report.breaker));
            findings.collect()
        });
        Ok(self.reply(said))
    }

    async fn sync(&self, group: &Arc<Group>) -> Result<Reply, ExchangeError> {
        let now_ms = self.now_ms();
        Ok(self.reply(self.at(group, |meeting| meeting.store.all(now_ms))))
    }

    async fn hear(&self, group: &Arc<Group>, ear: mpsc::Sender<Heard>) {
        let mut said = self.at(group, |meeting| meeting.said.subscribe());
        let run = self.0.run;
        let mut heard = Heard::Linked;
        while ear.send(heard).await.is_ok() {
            heard = match said.recv().await {
                Ok(what) => Heard::Said { run, what },
                Err(RecvError::Lagged(_)) => Heard::Linked,
                Err(RecvError::Closed) => return,
            };
        }
    }
}
