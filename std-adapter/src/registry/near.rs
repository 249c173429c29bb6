//! What each thread remembers of its last look-ups, before the map is asked.
//!
//! A look-up in the map hashes the key so that nobody can choose keys that collide, and enters the map's
//! reclamation. Here it is a fast hash and one comparison of keys. Whoever chooses keys that collide here
//! makes look-ups as slow as the map's, and no slower.
//!
//! Nothing here keeps a breaker alive: a place holds a reference with a version, and one that the registry has let go
//! of is as good as empty.

use std::any::Any;
use std::borrow::Borrow;
use std::cell::RefCell;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::shared::BreakerRef;

/// Places for each thread: a key may stand in either of two. 48 KB.
const PLACES: usize = 2_048;

/// How many keys move to their other place, at the most, to make room for one. While no more than half of the
/// places are taken, hardly any key is forgotten for another. Few, since a thread that asks for more keys than there
/// are places moves as many at each look-up.
const MOVES: usize = 4;

/// What a look-up finds.
pub(super) struct Found<K> {
    pub(super) key: K,
    pub(super) breaker: BreakerRef,
    /// The epoch in which it was last asked for, or [`LET_GO`]: so one comparison tells both. Relaxed throughout: a
    /// stamp that is an epoch old is as good, and a look-up beside a removal may find either.
    used: AtomicU64,
}

/// No epoch: the registry has let go of it. The map keeps what was removed for a while longer.
const LET_GO: u64 = u64::MAX;

impl<K> Found<K> {
    pub(super) fn new(key: K, breaker: BreakerRef, epoch: &AtomicU32) -> Self {
        let used = AtomicU64::new(epoch.load(Ordering::Relaxed).into());
        Self { key, breaker, used }
    }

    /// Notes that it was asked for, unless the registry has let go of it; returns whether it has not. Writes only the
    /// first time in an epoch.
    #[inline]
    pub(super) fn touch(&self, epoch: &AtomicU32) -> bool {
        let now = epoch.load(Ordering::Relaxed).into();
        self.used.load(Ordering::Relaxed) == now || self.stamp(now)
    }

    #[cold]
    fn stamp(&self, now: u64) -> bool {
        let is_here = |used: u64| (used != LET_GO).then_some(now);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_here).is_ok()
    }

    pub(super) fn let_go(&self) {
        self.used.store(LET_GO, Ordering::Relaxed);
    }

    /// The epoch in which it was last asked for.
    pub(super) fn used(&self) -> u32 {
        self.used.load(Ordering::Relaxed) as u32
    }
}

#[derive(Clone, Default)]
struct Place {
    /// Whose it is; 0 while it is empty.
    tag: Tag,
    found: Option<Arc<dyn Any + Send + Sync>>,
}

/// A registry's number, and below it the upper half of the key's hash, which tells where the key may stand.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Tag(u64);

impl Tag {
    #[inline]
    const fn new(registry: u32, hash: u64) -> Self {
        Self((registry as u64) << 32 | hash >> 32)
    }

    #[inline]
    const fn pair(self) -> [usize; 2] {
        let mark = self.0 as u32 as usize;
        [mark % PLACES, mark / PLACES % PLACES]
    }
}

thread_local! {
    static PLACES_HERE: RefCell<Box<[Place; PLACES]>> = RefCell::new(empty());
}

fn empty() -> Box<[Place; PLACES]> {
    let places: Box<[Place]> = vec![Place::default(); PLACES].into();
    let Ok(places) = places.try_into() else { unreachable!("there are as many") };
    places
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

    /// The breaker of `key`, if this thread remembers it and the registry still has it.
    #[inline]
    pub(super) fn get<K, Q>(&self, key: &Q, hash: u64, epoch: &AtomicU32) -> Option<BreakerRef>
    where
        K: Borrow<Q> + Send + Sync + 'static,
        Q: Eq + ?Sized,
    {
        PLACES_HERE
            .try_with(|places| {
                let places = places.try_borrow().ok()?;
                let tag = Tag::new(self.registry, hash);
                let [first, second] = tag.pair();
                let place = if places[first].tag == tag { &places[first] } else { &places[second] };
                if place.tag != tag {
                    return None;
                }
                let found = place.found.as_ref()?.downcast_ref::<Found<K>>()?;
                (found.key.borrow() == key && found.touch(epoch)).then_some(found.breaker)
            })
            .ok()?
    }

    /// Remembers what was found; what stood there moves to its other place, and so on.
    #[cold]
    pub(super) fn remember<K: Send + Sync + 'static>(&self, hash: u64, found: Arc<Found<K>>) {
        let place = Place { tag: Tag::new(self.registry, hash), found: Some(found) };
        let forgotten = PLACES_HERE.try_with(|places| Some(put(&mut **places.try_borrow_mut().ok()?, place)));
        // Here, after the places were given back: dropping a key is anyone's code.
        drop(forgotten);
    }
}

/// Puts it into one of its places, and returns what had to go for it.
fn put(places: &mut [Place; PLACES], mut place: Place) -> Place {
    let tag = place.tag;
    let gives_way = |there: &Place| there.found.is_none() || there.tag == tag;
    let [first, second] = tag.pair();
    let mut at = if !gives_way(&places[first]) && gives_way(&places[second]) { second } else { first };
    for _ in 0..MOVES {
        place = std::mem::replace(&mut places[at], place);
        if gives_way(&place) {
            break;
        }
        let [first, second] = place.tag.pair();
        at = if at == first { second } else { first };
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step of a generator of numbers that look random.
    fn next(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state
    }

    #[test]
    fn keys_for_half_of_the_places_find_room_and_each_stands_in_one_of_its_two() {
        let mut places = empty();
        let (mut state, mut forgotten) = (1, 0);
        for _ in 0..PLACES / 2 {
            let place = Place { tag: Tag::new(1, next(&mut state)), found: Some(Arc::new(())) };
            forgotten += usize::from(put(&mut places, place).found.is_some());
        }
        assert!(forgotten <= 40, "{forgotten} of {} were forgotten", PLACES / 2);
        for (at, place) in places.iter().enumerate().filter(|(_, place)| place.found.is_some()) {
            assert!(place.tag.pair().contains(&at));
        }
    }

    #[test]
    fn what_is_remembered_again_takes_its_own_place() {
        let mut places = empty();
        let place = || Place { tag: Tag::new(1, (7 << 11 | 5) << 32), found: Some(Arc::new(())) };
        assert!(put(&mut places, place()).found.is_none());
        assert!(put(&mut places, place()).found.is_some());
        assert_eq!(places.iter().filter(|place| place.found.is_some()).count(), 1);
    }
}
