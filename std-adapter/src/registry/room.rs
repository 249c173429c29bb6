//! Makes room in a registry: for what is idle there is none, and where it is full one goes for each that comes.
//!
//! Who goes is found by a walk over all, which is too long for each new key of a full registry. So a walk lists the
//! next eighth. One that was asked for since stays, and so those that are in use stay even where all the room is theirs.

use std::cmp::Reverse;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Inner;
use super::entry::Entry;
use super::upkeep::Upkeep;

impl<K: Hash + Eq + Clone> Inner<K> {
    /// Puts the entry in the map if there is room. Returns the one that is in the map, or this one where it
    /// could not be kept; and whether this one was.
    pub(super) fn keep(
        &self,
        key: K,
        entry: Arc<Entry<K>>,
        upkeep: &mut Upkeep<K>,
        now_ms: u64,
    ) -> (Arc<Entry<K>>, bool) {
        if upkeep.is_due(now_ms, self.idle_after_ms) {
            self.sweep(upkeep, now_ms);
        }
        let map = self.map.pin();
        if let Some(there) = map.get(&key) {
            return (Arc::clone(there), false);
        }
        let has_room = !self.is_full() || self.make_room(upkeep, now_ms);
        if has_room {
            map.insert(key, Arc::clone(&entry));
            upkeep.made += 1;
            if upkeep.made >= self.eighth() {
                self.step_epoch(upkeep);
            }
        } else {
            entry.found.let_go();
        }
        (entry, has_room)
    }

    fn eighth(&self) -> usize {
        (self.max_breakers / 8).max(1)
    }

    /// Begins an epoch: those that are asked for from now on have been asked for later than all others.
    fn step_epoch(&self, upkeep: &mut Upkeep<K>) {
        upkeep.made = 0;
        // Relaxed: only whoever holds the lock steps it, and a look-up beside it may have either.
        let epoch = self.epoch.load(Ordering::Relaxed);
        self.epoch.store(epoch.wrapping_add(1), Ordering::Relaxed);
    }

    fn is_full(&self) -> bool {
        self.map.len() >= self.max_breakers
    }

    /// Makes room for one more; returns whether there is some.
    fn make_room(&self, upkeep: &mut Upkeep<K>, now_ms: u64) -> bool {
        if self.remove_next(upkeep) {
            return true;
        }
        if !upkeep.may_find_room(now_ms) {
            return false;
        }
        self.sweep(upkeep, now_ms);
        let found = !self.is_full() || self.remove_next(upkeep);
        upkeep.looked_for_room(now_ms, found);
        found
    }

    /// Removes the next of those that the last walk listed, unless it was asked for since or is worth more by now.
    fn remove_next(&self, upkeep: &mut Upkeep<K>) -> bool {
        let map = self.map.pin();
        let epoch = self.epoch.load(Ordering::Relaxed);
        while let Some((worth, found)) = upkeep.next_to_go.pop() {
            let may_go = map.get(&found.key).filter(|entry| {
                Arc::ptr_eq(&entry.found, &found)
                    && entry.age(epoch) > 0
                    && entry.worth().is_some_and(|now| now <= worth)
            });
            if may_go.is_some()
                && let Some(entry) = map.remove(&found.key)
            {
                entry.removed();
                return true;
            }
        }
        false
    }

    /// Removes what is idle, and where that leaves no room lists what goes next.
    pub(super) fn sweep(&self, upkeep: &mut Upkeep<K>, now_ms: u64) {
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
                Some(worth) => removable.push((worth, Reverse(entry.age(epoch)), &entry.found)),
                None => {}
            }
        }
        upkeep.next_to_go.clear();
        if self.is_full() {
            // Worth least first; among these, not asked for the longest first. The rest need no order.
            let order = |(worth, age, _): &(_, _, _)| (*worth, *age);
            let listed = self.eighth().min(removable.len());
            if listed < removable.len() {
                removable.select_nth_unstable_by_key(listed, order);
            }
            removable.truncate(listed);
            removable.sort_unstable_by_key(order);
            let listed = removable.into_iter().rev().map(|(worth, _, found)| (worth, Arc::clone(found)));
            upkeep.next_to_go.extend(listed);
        }
        self.step_epoch(upkeep);
    }
}
