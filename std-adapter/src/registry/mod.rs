//! Breakers by key: one a host, a tenant, an endpoint.
//!
//! A look-up is lock-free: in what the thread remembers, else in papaya's concurrent map. Nothing pins that
//! map while a call goes on. What is rare takes one lock: making a breaker and making room for it. No code
//! of others runs under that lock, so it may ask the registry.

mod entry;
mod near;
mod upkeep;

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, RandomState};
#[cfg(feature = "state-file")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nanobreaker_core::{Clock, ConfigError};
use nanobreaker_settings::millis;

use crate::clock::CoarseClock;
#[cfg(feature = "monitor")]
use crate::observe::Monitor;
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
/// [`sweep`](Self::sweep). When it is full, room is made for an eighth more: first those closed go
/// that were not asked for the longest, then those open. A breaker that an operator holds
/// ([isolated](nanobreaker_core::Phase::Isolated), disabled or in shadow) is never removed, nor one
/// that somebody [owns](Self::owned). Where nothing can be removed, calls for a new key pass unjudged, and
/// room is looked for again a tenth of a second later.
///
/// # Cost
///
/// A look-up takes no lock, counts nothing and, but for the first after a sweep, writes to nothing that
/// threads share. Each thread remembers its last two thousand in 48 KB. Making a breaker takes a lock, and
/// making room a walk over all of them, once for each eighth.
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
    upkeep: Mutex<Upkeep>,
}

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
    /// The most breakers that are kept, at least 1; 10,000 unless set. Each takes about 2.5 KB.
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

impl<K: Hash + Eq + Clone + Send + Sync + 'static> Registry<K> {
    /// A registry whose breakers are made by `configure`.
    pub fn builder(
        configure: impl Fn(&K) -> SharedBreakerBuilder + Send + Sync + 'static,
    ) -> RegistryBuilder<K> {
        RegistryBuilder {
            configure: Box::new(configure),
            when_kept: None,
            clock: Box::new(CoarseClock),
            max_breakers: 10_000,
            idle_after: Duration::from_secs(3_600),
        }
    }

    /// The breaker of `key`, made now if there is none. Counts as use.
    ///
    /// It is a reference that keeps nothing alive: ask again for the next call, or have it
    /// [owned](Self::owned).
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] where a breaker has to be made and its settings are outside their limits.
    #[inline]
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
        found.touch(&self.inner.epoch);
        let breaker = found.breaker;
        self.inner.near.remember(hash, found);
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

    fn lock(&self) -> MutexGuard<'_, Upkeep> {
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

    /// Puts the entry in the map if there is room. Returns the one that is in the map, or this one where it
    /// could not be kept; and whether this one was.
    fn keep(&self, key: K, entry: Arc<Entry<K>>, upkeep: &mut Upkeep, now_ms: u64) -> (Arc<Entry<K>>, bool) {
        let is_full = || self.map.len() >= self.max_breakers;
        if is_full() && upkeep.may_find_room(now_ms) {
            self.sweep(upkeep, now_ms);
            upkeep.looked_for_room(now_ms, !is_full());
        } else if upkeep.is_due(now_ms, self.idle_after_ms) {
            self.sweep(upkeep, now_ms);
        }
        let map = self.map.pin();
        if let Some(there) = map.get(&key) {
            return (Arc::clone(there), false);
        }
        let has_room = !is_full();
        if has_room {
            map.insert(key, Arc::clone(&entry));
        }
        (entry, has_room)
    }

    /// Removes what is idle, and where that leaves no room for one more, an eighth.
    fn sweep(&self, upkeep: &mut Upkeep, now_ms: u64) {
        // Relaxed: only whoever holds the lock steps it.
        let epoch = self.epoch.load(Ordering::Relaxed);
        let idle_before = upkeep.sweep(epoch, now_ms, self.idle_after_ms);
        let map = self.map.pin();
        let mut removable = Vec::new();
        for (key, entry) in &map {
            match entry.worth() {
                Some(_) if entry.is_older_than(idle_before) => {
                    if let Some(entry) = map.remove(key) {
                        entry.removed();
                    }
                }
                Some(worth) => removable.push((worth, entry.age(epoch), key)),
                None => {}
            }
        }
        let room = (self.max_breakers / 8).max(1);
        let excess = (self.map.len() + room).saturating_sub(self.max_breakers);
        if self.map.len() >= self.max_breakers {
            // Worth least first; among these, not asked for the longest first.
            removable.sort_unstable_by_key(|(worth, age, _)| (*worth, std::cmp::Reverse(*age)));
            for (_, _, key) in removable.into_iter().take(excess) {
                if let Some(entry) = map.remove(key) {
                    entry.removed();
                }
            }
        }
        self.epoch.store(epoch.wrapping_add(1), Ordering::Relaxed);
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

impl<K> fmt::Debug for RegistryBuilder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistryBuilder")
            .field("max_breakers", &self.max_breakers)
            .field("idle_after", &self.idle_after)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
