//! What each thread remembers of its last look-ups, before the map is asked.
//!
//! A look-up in the map hashes the key so that nobody can choose keys that collide, and enters the map's
//! reclamation. Here it is a fast hash and one comparison of keys. Whoever chooses keys that collide here
//! makes look-ups as slow as the map's, and no slower.
//!
//! Nothing here keeps a breaker alive: a place holds a reference with a version, and one whose breaker is
//! gone is as good as empty.

use std::any::Any;
use std::borrow::Borrow;
use std::cell::RefCell;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::shared::BreakerRef;

/// Places for each thread, in pairs: a key may stand in either of its pair. 48 KB.
const PLACES: usize = 2_048;

/// What a look-up finds.
pub(super) struct Found<K> {
    pub(super) key: K,
    pub(super) breaker: BreakerRef,
    /// The epoch in which it was last asked for.
    pub(super) used: AtomicU32,
    /// Whether the registry has let go of it. The map keeps what was removed for a while longer.
    pub(super) is_removed: AtomicBool,
}

impl<K> Found<K> {
    /// Notes that it was asked for: writes only the first time in an epoch.
    #[inline]
    pub(super) fn touch(&self, epoch: &AtomicU32) {
        // Relaxed: a stamp that is an epoch old is as good.
        let now = epoch.load(Ordering::Relaxed);
        if self.used.load(Ordering::Relaxed) != now {
            self.used.store(now, Ordering::Relaxed);
        }
    }
}

#[derive(Clone, Default)]
struct Place {
    registry: u32,
    /// The upper half of the key's hash.
    mark: u32,
    found: Option<Arc<dyn Any + Send + Sync>>,
}

thread_local! {
    static PLACES_HERE: RefCell<Vec<Place>> = RefCell::new(vec![Place::default(); PLACES]);
}

/// Tells one registry's places from another's.
pub(super) struct Near {
    registry: u32,
    hasher: foldhash::fast::RandomState,
}

impl Near {
    pub(super) fn new() -> Self {
        // 0 is an empty place's. After 2³² registries a number comes again; then keys are compared that
        // may be of another type, which is noticed, or of another registry that is gone by then.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            // Relaxed: the numbers only need to differ.
            registry: NEXT.fetch_add(1, Ordering::Relaxed) as u32,
            hasher: foldhash::fast::RandomState::default(),
        }
    }

    #[inline]
    pub(super) fn hash<Q: Hash + ?Sized>(&self, key: &Q) -> u64 {
        self.hasher.hash_one(key)
    }

    /// The breaker of `key`, if this thread remembers it and it is still there.
    #[inline]
    pub(super) fn get<K, Q>(&self, key: &Q, hash: u64, epoch: &AtomicU32) -> Option<BreakerRef>
    where
        K: Borrow<Q> + Send + Sync + 'static,
        Q: Eq + ?Sized,
    {
        PLACES_HERE
            .try_with(|places| {
                let places = places.try_borrow().ok()?;
                pair(hash).into_iter().find_map(|place| {
                    let place = places.get(place)?;
                    if place.registry != self.registry || place.mark != mark(hash) {
                        return None;
                    }
                    let found = place.found.as_ref()?.downcast_ref::<Found<K>>()?;
                    // Relaxed: a look-up beside a removal may find either.
                    let is_removed = found.is_removed.load(Ordering::Relaxed);
                    if is_removed || found.key.borrow() != key || !found.breaker.is_alive() {
                        return None;
                    }
                    found.touch(epoch);
                    Some(found.breaker)
                })
            })
            .ok()?
    }

    /// Remembers what was found, in the first of its pair; what stood there moves to the second.
    #[cold]
    pub(super) fn remember<K: Send + Sync + 'static>(&self, hash: u64, found: Arc<Found<K>>) {
        let place = Place { registry: self.registry, mark: mark(hash), found: Some(found) };
        let forgotten = PLACES_HERE.try_with(|places| {
            let mut places = places.try_borrow_mut().ok()?;
            let [first, second] = pair(hash);
            let moved = std::mem::replace(places.get_mut(first)?, place);
            Some(std::mem::replace(places.get_mut(second)?, moved))
        });
        // Here, after the places were given back: dropping a key is anyone's code.
        drop(forgotten);
    }
}

#[inline]
const fn mark(hash: u64) -> u32 {
    (hash >> 32) as u32
}

#[inline]
const fn pair(hash: u64) -> [usize; 2] {
    let first = hash as usize & (PLACES - 1);
    [first, first ^ 1]
}
