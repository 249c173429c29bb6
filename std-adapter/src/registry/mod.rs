//! Breakers by key: one a host, a tenant, an endpoint.
//!
//! A lookup is lock-free, on papaya's concurrent map. What is rare takes one lock: making a breaker,
//! making room for it, and putting other settings in place.

mod entry;
mod upkeep;

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, RandomState};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nanobreaker_core::{Clock, ConfigError};

use crate::clock::CoarseClock;
#[cfg(feature = "monitor")]
use crate::observe::Monitor;
use crate::registry::entry::Entry;
use crate::registry::upkeep::Upkeep;
use crate::shared::{SharedBreaker, SharedBreakerBuilder, millis};

type WhenKept<C> = Box<dyn Fn(&SharedBreaker<C>) + Send + Sync>;
type Configure<K, C> = Box<dyn Fn(&K) -> SharedBreakerBuilder<C> + Send + Sync>;

/// Breakers by key, made on first use; cheap to clone, all clones are the same registry.
///
/// It holds at most [`max_breakers`](RegistryBuilder::max_breakers). Breakers that nobody has asked
/// for in [`idle_after`](RegistryBuilder::idle_after) are removed as others are made, and by
/// [`sweep`](Self::sweep). When it is full, room is made for an eighth more: first those closed go
/// that were not asked for the longest, then those open. A breaker that an operator holds
/// ([isolated](nanobreaker_core::Phase::Isolated), disabled or observing) is never removed, nor one
/// whose handle somebody keeps. Where nothing can be removed, a new key gets a breaker that is not
/// kept, and room is looked for again a tenth of a second later.
///
/// # Cost
///
/// A lookup takes no lock and, but for the first after a sweep, writes to nothing that threads share;
/// [`get`](Self::get) also counts a handle, [`with`](Self::with) does not. Making a breaker takes a
/// lock, and making room a walk over all of them, once for each eighth.
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
/// let answer = hosts.get("db.internal")?.call(|| Ok::<_, std::io::Error>(42));
/// assert_eq!(answer.unwrap(), 42);
/// assert_eq!(hosts.len(), 1);
/// # Ok::<(), nanobreaker::ConfigError>(())
/// ```
pub struct Registry<K, C: Clock = CoarseClock> {
    inner: Arc<Inner<K, C>>,
}

struct Inner<K, C: Clock> {
    map: papaya::HashMap<K, Entry<C>, RandomState>,
    configure: Configure<K, C>,
    when_kept: Option<WhenKept<C>>,
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
pub struct RegistryBuilder<K, C: Clock = CoarseClock> {
    configure: Configure<K, C>,
    when_kept: Option<WhenKept<C>>,
    clock: Box<dyn Clock + Send + Sync>,
    max_breakers: usize,
    idle_after: Duration,
}

impl<K, C: Clock> RegistryBuilder<K, C> {
    /// The most breakers that are kept, at least 1; 10,000 unless set. Each takes about 1.5 KB.
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
    pub fn monitor(mut self, monitor: &Monitor) -> Self
    where
        C: Send + Sync + 'static,
    {
        let monitor = monitor.clone();
        self.when_kept = Some(Box::new(move |breaker| {
            drop(monitor.watch(breaker.clone()))
        }));
        self
    }

    /// The registry, empty.
    pub fn build(self) -> Registry<K, C>
    where
        K: Hash + Eq,
    {
        let upkeep = Mutex::new(Upkeep::starting_at(self.clock.now_ms()));
        Registry {
            inner: Arc::new(Inner {
                map: papaya::HashMap::with_hasher(RandomState::new()),
                configure: self.configure,
                when_kept: self.when_kept,
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

impl<K: Hash + Eq, C: Clock> Registry<K, C> {
    /// A registry whose breakers are made by `configure`, which must not ask the registry itself.
    pub fn builder(
        configure: impl Fn(&K) -> SharedBreakerBuilder<C> + Send + Sync + 'static,
    ) -> RegistryBuilder<K, C> {
        RegistryBuilder {
            configure: Box::new(configure),
            when_kept: None,
            clock: Box::new(CoarseClock),
            max_breakers: 10_000,
            idle_after: Duration::from_secs(3_600),
        }
    }

    /// The breaker of `key`, made now if there is none.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] where a breaker has to be made and its settings are outside their limits.
    #[inline]
    pub fn get<Q>(&self, key: &Q) -> Result<SharedBreaker<C>, ConfigError>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        self.with(key, SharedBreaker::clone)
    }

    /// What `use_it` makes of the breaker of `key`, which is made now if there is none. Spares the
    /// handle that [`get`](Self::get) counts.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    #[inline]
    pub fn with<Q, T>(
        &self,
        key: &Q,
        use_it: impl FnOnce(&SharedBreaker<C>) -> T,
    ) -> Result<T, ConfigError>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let map = self.inner.map.pin();
        if let Some(entry) = map.get(key) {
            entry.touch(&self.inner.epoch);
            return Ok(use_it(&entry.breaker));
        }
        self.inner.make(key.to_owned()).map(|made| use_it(&made))
    }

    /// The breaker of `key` if there is one. Does not count as use.
    pub fn find<Q>(&self, key: &Q) -> Option<SharedBreaker<C>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let map = self.inner.map.pin();
        map.get(key).map(|entry| entry.breaker.clone())
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
    pub fn for_each(&self, mut look: impl FnMut(&K, &SharedBreaker<C>)) {
        for (key, entry) in &self.inner.map.pin() {
            look(key, &entry.breaker);
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
        map.remove(key).map(Entry::removed).is_some()
    }

    /// Removes the breakers that have been idle for long; returns how many. Making breakers does it
    /// by the way, so this is for registries in which no new keys come up.
    pub fn sweep(&self) -> usize {
        let before = self.len();
        self.inner.sweep(&mut self.inner.lock());
        before.saturating_sub(self.len())
    }

    /// Asks `configure` again for every breaker and puts the settings in place while calls go on, as
    /// [`SharedBreaker::adjust`] does: no state is lost, and no lookup waits. Breakers that are made
    /// meanwhile get the new settings too.
    ///
    /// # Errors
    ///
    /// The keys whose new settings are outside their limits; their breakers keep the old ones.
    pub fn adjust_all(&self) -> Result<(), Vec<(K, ConfigError)>>
    where
        K: Clone,
    {
        let _upkeep = self.inner.lock();
        // Relaxed: read under the same lock.
        self.inner.version.fetch_add(1, Ordering::Relaxed);
        let mut refused = Vec::new();
        for (key, entry) in &self.inner.map.pin() {
            // Somebody else who is adjusting this one has its own settings in mind.
            if let Err(error) = entry.breaker.adjust(&(self.inner.configure)(key)) {
                refused.push((key.clone(), error));
            }
        }
        if refused.is_empty() {
            Ok(())
        } else {
            Err(refused)
        }
    }
}

impl<K: Hash + Eq, C: Clock> Inner<K, C> {
    fn lock(&self) -> MutexGuard<'_, Upkeep> {
        // Whoever panicked there, in `configure`, left nothing half-done.
        self.upkeep.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the breaker of `key` and keeps it if there is room.
    #[cold]
    fn make(&self, key: K) -> Result<SharedBreaker<C>, ConfigError> {
        let version = self.version.load(Ordering::Relaxed);
        let mut breaker = (self.configure)(&key).build()?;
        let mut upkeep = self.lock();
        if version != self.version.load(Ordering::Relaxed) {
            breaker = (self.configure)(&key).build()?;
        }
        let now_ms = self.clock.now_ms();
        let is_full = || self.map.len() >= self.max_breakers;
        if is_full() && upkeep.may_find_room(now_ms) {
            self.sweep(&mut upkeep);
            upkeep.looked_for_room(now_ms, !is_full());
        } else if upkeep.is_due(now_ms, self.idle_after_ms) {
            self.sweep(&mut upkeep);
        }
        let map = self.map.pin();
        if let Some(entry) = map.get(&key) {
            return Ok(entry.breaker.clone());
        }
        if !is_full() {
            if let Some(tell) = &self.when_kept {
                tell(&breaker);
            }
            let entry = Entry::new(breaker.clone(), &self.epoch);
            map.insert(key, entry);
        }
        Ok(breaker)
    }

    /// Removes what is idle, and where that leaves no room for one more, an eighth.
    fn sweep(&self, upkeep: &mut Upkeep) {
        // Relaxed: only whoever holds the lock steps it.
        let epoch = self.epoch.load(Ordering::Relaxed);
        let idle_before = upkeep.sweep(epoch, self.clock.now_ms(), self.idle_after_ms);
        let map = self.map.pin();
        let mut removable = Vec::new();
        for (key, entry) in &map {
            match entry.worth() {
                Some(_) if entry.is_older_than(idle_before) => {
                    map.remove(key).map(Entry::removed);
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
                map.remove(key).map(Entry::removed);
            }
        }
        self.epoch.store(epoch.wrapping_add(1), Ordering::Relaxed);
    }
}

impl<K, C: Clock> Clone for Registry<K, C> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
        }
    }
}

impl<K: Hash + Eq, C: Clock> fmt::Debug for Registry<K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("len", &self.len())
            .field("max_breakers", &self.inner.max_breakers)
            .finish_non_exhaustive()
    }
}

impl<K, C: Clock> fmt::Debug for RegistryBuilder<K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistryBuilder")
            .field("max_breakers", &self.max_breakers)
            .field("idle_after", &self.idle_after)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
