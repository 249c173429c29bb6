//! The order in which things happened: calls overlap, and each counts when it ends.
//!
//! Calls come in the order of their starts, many at a time. The ends that come before the last of these starts
//! are sorted and merged with them; the others wait in a heap for the calls that come next. So the many short
//! calls cost no heap. The schedule is the log's alone: it is made once, however many configurations are played
//! against it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::reading::{Call, sort_by_time};
use crate::replaying::trouble::Troubles;

/// Something that happened in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) moment: Moment,
    pub(crate) call: Call,
    /// Tells apart the calls under way; free again once the call ended.
    pub(crate) slot: u32,
    /// Of an end: since when the call's dependency has been in trouble, this call included.
    pub(crate) trouble_since_us: Option<i64>,
}

/// Which side of a call it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Start,
    End,
}

impl Event {
    pub(crate) const fn at_us(&self) -> i64 {
        match self.moment {
            Moment::Start => self.call.start_us,
            Moment::End => self.call.end_us,
        }
    }
}

/// The end of a call that ends after those that are taken in began, ordered by itself, then by the call's start.
type Later = Reverse<(i64, u64, u32)>;

/// The end of a call that comes before the last start of those that are taken in.
#[derive(Clone, Copy, Debug)]
struct Soon {
    end_us: i64,
    /// Of the call's slot among those that are known.
    index: u32,
}

/// Turns calls into events.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    later: BinaryHeap<Later>,
    /// The calls under way, by their slots.
    calls: Vec<Call>,
    free: Vec<u32>,
    started: u64,
    troubles: Troubles,
    /// Empty; their memory is used again.
    soon: Vec<Soon>,
    slots: Vec<u32>,
}

impl Schedule {
    /// The next calls begin: adds their starts, and what ends before the last of them, to `events`.
    pub(crate) fn take(&mut self, calls: &[Call], events: &mut Vec<Event>) {
        let Some(last_us) = calls.last().map(|call| call.start_us) else {
            return;
        };
        let (mut soon, mut slots) = (std::mem::take(&mut self.soon), std::mem::take(&mut self.slots));
        while let Some((end_us, slot)) = self.next_until(last_us) {
            soon.push(Soon { end_us, index: slots.len() as u32 });
            slots.push(slot);
        }
        let ends = (slots.len() as u32..).zip(calls).map(|(index, call)| Soon { end_us: call.end_us, index });
        soon.extend(ends.filter(|end| end.end_us <= last_us));
        // Those of one time stay in the order of their starts.
        sort_by_time(&mut soon, |end| end.end_us);
        let mut ends = soon.drain(..).peekable();
        for call in calls {
            // A call does not end before it began, even where it takes no time: its slot is not known yet.
            let has_ended = |end: &Soon| end.end_us <= call.start_us && (end.index as usize) < slots.len();
            while let Some(end) = ends.next_if(has_ended) {
                events.extend(self.end(slots[end.index as usize]));
            }
            let slot = self.begin(*call, last_us);
            slots.push(slot);
            events.push(Event { moment: Moment::Start, call: *call, slot, trouble_since_us: None });
        }
        events.extend(ends.filter_map(|end| self.end(slots[end.index as usize])));
        slots.clear();
        (self.soon, self.slots) = (soon, slots);
    }

    /// The log is over: adds the ends of all calls under way.
    pub(crate) fn finish(&mut self, events: &mut Vec<Event>) {
        while let Some((_, slot)) = self.next_until(i64::MAX) {
            events.extend(self.end(slot));
        }
    }

    /// A call begins: gives it a slot.
    #[inline]
    fn begin(&mut self, call: Call, last_us: i64) -> u32 {
        let slot = self.free.pop().unwrap_or(self.calls.len() as u32);
        match self.calls.get_mut(slot as usize) {
            Some(place) => *place = call,
            None => self.calls.push(call),
        }
        self.started += 1;
        if call.end_us > last_us {
            self.later.push(Reverse((call.end_us, self.started, slot)));
        }
        slot
    }

    /// The call in this slot ends.
    #[inline]
    fn end(&mut self, slot: u32) -> Option<Event> {
        let call = *self.calls.get(slot as usize)?;
        self.free.push(slot);
        Some(Event { moment: Moment::End, call, slot, trouble_since_us: self.troubles.ended(&call) })
    }

    /// The next end in the heap, if it comes until then, with its slot.
    fn next_until(&mut self, at_us: i64) -> Option<(i64, u32)> {
        let Reverse((end_us, _, slot)) = *self.later.peek()?;
        (end_us <= at_us).then_some(())?;
        self.later.pop();
        Some((end_us, slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nanobreaker::Outcome;
    use proptest::prelude::*;

    fn call(start_us: i64, duration_us: i64) -> Call {
        Call { start_us, end_us: start_us + duration_us, key: 0, outcome: Outcome::Success }
    }

    fn events(calls: &[Call], at_once: usize) -> Vec<Event> {
        let mut schedule = Schedule::default();
        let mut events = Vec::new();
        for some in calls.chunks(at_once) {
            schedule.take(some, &mut events);
        }
        schedule.finish(&mut events);
        events
    }

    #[test]
    fn a_call_that_overlaps_others_ends_in_its_turn() {
        let order: Vec<_> = events(&[call(0, 10), call(1, 2), call(5, 0), call(10, 1)], 4)
            .iter()
            .map(|event| (event.at_us(), event.moment, event.slot))
            .collect();
        use Moment::{End, Start};
        assert_eq!(
            order,
            [
                (0, Start, 0),
                (1, Start, 1),
                (3, End, 1),
                (5, Start, 1),
                (5, End, 1),
                (10, End, 0),
                (10, Start, 0),
                (11, End, 0),
            ]
        );
    }

    proptest! {
        #[test]
        fn time_never_runs_back_and_slots_are_never_shared(
            mut calls in proptest::collection::vec((0..1_000i64, 0..300i64), 0..200),
            at_once in 2..300usize,
        ) {
            calls.sort_unstable();
            let calls: Vec<_> = calls.iter().map(|(start, length)| call(*start, *length)).collect();
            let (events, one_by_one) = (events(&calls, at_once), events(&calls, 1));
            prop_assert_eq!(&events, &one_by_one);
            prop_assert_eq!(events.len(), calls.len() * 2);
            prop_assert!(events.is_sorted_by_key(Event::at_us));
            let mut taken = std::collections::HashSet::new();
            for event in events {
                match event.moment {
                    Moment::Start => prop_assert!(taken.insert(event.slot)),
                    Moment::End => prop_assert!(taken.remove(&event.slot)),
                }
            }
        }
    }
}
