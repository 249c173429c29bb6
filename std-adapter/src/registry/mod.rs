//! Breakers by key: one a host, a tenant, an endpoint.
//!
//! A look-up is lock-free: in what the thread remembers, else in papaya's concurrent map. Nothing pins that
//! map while a call goes on. What is rare takes one lock: making a breaker and making room for it. No code
//! of others runs under that lock but the keys' own, so it may ask the registry. What the map lets go is dropped with
//! the thread's last pin; whoever takes the lock has pinned the map before, so that this comes after.

mod builder;
mod entry;
mod near;
mod room;
mod upkeep;

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, RandomState};
#[cfg(feature = "state-file")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nanobreaker_core::{Clock, ConfigError};

pub use crate::registry::builder::RegistryBuilder;
use crate::registry::entry::Entry;
use crate::registry::near::Near;
use crate::registry::upkeep::Upkeep;
use crate::shared::{BreakerRef, SharedBreaker, SharedBreakerBuilder};
#[cfg(feature = "state-file")]
use crate::state_file::StateFile;

type WhenKept = Box<dyn Fn(&SharedBreaker) + Send + Sync>;
type Configure<K> = Box<dyn Fn(&K) -> SharedBreakerBuilder + Send + Sync>;

/// Breakers by key, made on first use; cheap to clone, all clones are the same registry.
///
/// It holds at most [`max_breakers`](RegistryBuilder::max_breakers). Breakers that nobody has asked
/// for in [`idle_after`](RegistryBuilder::idle_after) are removed as others are made, and by
/// [`sweep`](Self::sweep). When it is full, one goes for each that is made: first those closed that
/// were not asked for the longest, then those open. A breaker that an operator holds
/// ([isolated](nanobreaker_core::Phase::Isolated), disabled or in shadow) is never removed, nor one
/// that somebody [owns](Self::owned). Where nothing can be removed, calls for a new key pass unjudged, and
/// room is looked for again a tenth of a second later.
///
/// # Cost
///
/// A look-up takes no lock, counts nothing and, but for the first after a sweep, writes to nothing that
/// threads share. Each thread remembers its last two thousand in 48 KB. Making a breaker takes a lock, and
/// where the registry is full a walk over all of them finds those that go next, an eighth of all.
///
/// ```
/// use nanobreaker::{CallExt, Registry, SharedBreaker};
/// use std::time::Duration;
///
/// let hosts: Registry<String> = Registry::builder(|host: &String| {
///     let failures = if host.ends_with(".internal") { 3 } else { 10 };
///     SharedBreaker::builder()
///         .name(host.as_str())
///         .failures(failures, Duration::from_secs(10))
/// })
/// .max_breakers(10_000)
/// .build();
///
/// let answer = hosts.get_or_create("db.internal")?.call(|| Ok::<_, std::io::Error>(42));
/// assert_eq!(answer.unwrap(), 42);
/// assert_eq!(hosts.len(), 1);
/// # Ok::<(), nanobreaker::ConfigError>(())
/// ```
pub struct Registry<K> {
    inner: Arc<Inner<K>>,
}

struct Inner<K> {
    map: papaya::HashMap<K, Arc<Entry<K>>, RandomState>,
    near: Near,
    configure: Configure<K>,
    when_kept: Option<WhenKept>,
    #[cfg(feature = "state-file")]
    kept_in: OnceLock<StateFile>,
    clock: Box<dyn Clock + Send + Sync>,
    max_breakers: usize,
    idle_after_ms: u64,
    /// What entries are stamped with when they are asked for; stepped by each sweep.
    epoch: AtomicU32,
    /// Stepped when the configuration changes.
    version: AtomicU64,
    upkeep: Mutex<Upkeep<K>>,
}

impl<K: Hash + Eq + Clone + Send + Sync + 'static> Registry<K> {
    /// A registry whose breakers are made by `configure`.
    pub fn builder(
        configure: impl Fn(&K) -> SharedBreakerBuilder + Send + Sync + 'static,
    ) -> RegistryBuilder<K> {
        RegistryBuilder::new(Box::new(configure))
    }

    /// The breaker of `key`, made now if there is none. Counts as use.
    ///
    /// It is a reference that keeps nothing alive: ask again for the next call, or have it
    /// [owned](Self::owned).
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] where a breaker has to be made and its settings are outside their limits.
    // Always inline: its result would have to be written to memory, and read back from there.
    #[inline(always)]
    pub fn get_or_create<Q>(&self, key: &Q) -> Result<BreakerRef, ConfigError>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let hash = self.inner.near.hash(key);
        match self.inner.near.get::<K, Q>(key, hash, &self.inner.epoch) {
            Some(breaker) => Ok(breaker),
            None => self.look_up(key, hash),
        }
    }

    #[cold]
    #[inline(never)]
    fn look_up<Q>(&self, key: &Q, hash: u64) -> Result<BreakerRef, ConfigError>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let found = match self.inner.look(key, |entry| Arc::clone(&entry.found)) {
            Some(found) => found,
            None => Arc::clone(&self.inner.make(key.to_owned())?.found),
        };
        let breaker = found.breaker;
        if found.touch(&self.inner.epoch) {
            self.inner.near.remember(hash, found);
        }
        Ok(breaker)
    }

    /// The same as a handle that keeps the breaker: it stays in the registry for as long as somebody has
    /// one. Where the registry is full of breakers that must stay, it is the handle's alone.
    ///
    /// # Errors
    ///
    /// As [`get_or_create`](Self::get_or_create).
    pub fn owned<Q>(&self, key: &Q) -> Result<SharedBreaker, ConfigError>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let entry = match self.inner.look(key, Arc::clone) {
            Some(entry) => entry,
            None => self.inner.make(key.to_owned())?,
        };
        entry.found.touch(&self.inner.epoch);
        Ok(entry.breaker.clone())
    }

    /// The breaker of `key` if there is one. Does not count as use.
    pub fn get<Q>(&self, key: &Q) -> Option<BreakerRef>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.inner.look(key, |entry| entry.found.breaker)
    }

    /// How many breakers there are.
    pub fn len(&self) -> usize {
        self.inner.map.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Shows every breaker to `look`, in no order. Does not count as use. Breakers that come or go
    /// meanwhile may be among them.
    pub fn for_each(&self, mut look: impl FnMut(&K, &SharedBreaker)) {
        for entry in self.inner.entries() {
            look(&entry.found.key, &entry.breaker);
        }
    }

    /// Removes the breaker of `key`; handles that somebody keeps go on working. The next use makes a
    /// new one. Returns whether there was one.
    pub fn remove<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let map = self.inner.map.pin();
        map.remove(key).map(|entry| entry.removed()).is_some()
    }

    /// Removes the breakers that have been idle for long; returns how many. Making breakers does it
    /// by the way, so this is for registries in which no new keys come up.
    pub fn sweep(&self) -> usize {
        let before = self.len();
        let now_ms = self.inner.clock.now_ms();
        let _dropped_unlocked = self.inner.map.pin();
        self.inner.sweep(&mut self.inner.lock(), now_ms);
        before.saturating_sub(self.len())
    }

    /// Keeps the breakers' states in `file` over restarts, by their names: those that there are, and those
    /// that are made from now on, before their first call. Returns whether it does: a registry has one file,
    /// and stays with its first.
    #[cfg(feature = "state-file")]
    pub fn keep_in(&self, file: &StateFile) -> bool {
        if self.inner.kept_in.set(file.clone()).is_err() {
            return false;
        }
        self.for_each(|_, breaker| _ = file.restore(breaker));
        let inner = Arc::downgrade(&self.inner);
        file.add(Box::new(move |look| {
            let entries = inner.upgrade()?.entries();
            entries.iter().for_each(|entry| look(&entry.breaker));
            Some(())
        }));
        true
    }

    /// Asks `configure` again for every breaker and puts the settings in place while calls go on, as
    /// [`SharedBreaker::adjust`] does; no look-up waits. Breakers that are made meanwhile get the new
    /// settings too.
    ///
    /// # Errors
    ///
    /// The keys whose new settings are outside their limits; their breakers keep the old ones.
    pub fn adjust_all(&self) -> Result<(), Vec<(K, ConfigError)>> {
        // Release: who makes a breaker and sees the new version asks `configure` after this.
        let version = self.inner.version.fetch_add(1, Ordering::Release) + 1;
        let mut refused = Vec::new();
        for entry in self.inner.entries() {
            let key = &entry.found.key;
            if let Err(error) = entry.adjust(&(self.inner.configure)(key), version) {
                refused.push((key.clone(), error));
            }
        }
        if refused.is_empty() { Ok(()) } else { Err(refused) }
    }
}

impl<K: Hash + Eq + Clone> Inner<K> {
    /// What `take` takes of the entry of `key`, which must not wait: the map is pinned meanwhile.
    fn look<Q, T>(&self, key: &Q, take: impl FnOnce(&Arc<Entry<K>>) -> T) -> Option<T>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.map.pin().get(key).map(take)
    }

    /// All entries of this moment: collected, so that whoever looks at them does not pin the map.
    fn entries(&self) -> Vec<Arc<Entry<K>>> {
        self.map.pin().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Upkeep<K>> {
        // Whoever panicked there, in a clock, left nothing half-done.
        self.upkeep.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the breaker of `key` and keeps it if there is room.
    #[cold]
    fn make(&self, key: K) -> Result<Arc<Entry<K>>, ConfigError> {
        loop {
            // Acquire: see `adjust_all`.
            let version = self.version.load(Ordering::Acquire);
            let breaker = (self.configure)(&key).build()?;
            #[cfg(feature = "state-file")]
            if let Some(file) = self.kept_in.get() {
                file.restore(&breaker);
            }
            let entry = Arc::new(Entry::new(key.clone(), breaker, &self.epoch, version));
            let now_ms = self.clock.now_ms();
            let (kept, is_new) = {
                let _dropped_unlocked = self.map.pin();
                let mut upkeep = self.lock();
                if version != self.version.load(Ordering::Acquire) {
                    continue;
                }
                self.keep(key.clone(), Arc::clone(&entry), &mut upkeep, now_ms)
            };
            if is_new && let Some(tell) = &self.when_kept {
                tell(&kept.breaker);
            }
            return Ok(kept);
        }
    }
}

impl<K> Clone for Registry<K> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<K: Hash + Eq + Clone + Send + Sync + 'static> fmt::Debug for Registry<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("len", &self.len())
            .field("max_breakers", &self.inner.max_breakers)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
