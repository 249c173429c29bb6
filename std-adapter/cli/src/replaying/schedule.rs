//! The order in which things happened: calls overlap, and each counts when it ends.
//!
//! Calls come in the order of their starts. A heap holds the ends of those under way, so that every
//! end is played before the next start that comes after it. The schedule is the log's alone: it is
//! made once, however many configurations are played against it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::reading::Call;
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

/// A call under way, ordered by its end, then by its start: one number, so that one comparison tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UnderWay {
    rank: i128,
    slot: u32,
}

impl UnderWay {
    #[inline]
    fn new(end_us: i64, number: u64, slot: u32) -> Self {
        Self { rank: i128::from(end_us) << 64 | i128::from(number), slot }
    }

    #[inline]
    const fn end_us(&self) -> i64 {
        (self.rank >> 64) as i64
    }
}

/// Turns calls into events.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    under_way: BinaryHeap<Reverse<UnderWay>>,
    /// The calls under way, by their slots.
    calls: Vec<Call>,
    free: Vec<u32>,
    started: u64,
    troubles: Troubles,
}

impl Schedule {
    /// The next call begins: adds what ended before, and its start, to `events`.
    #[inline]
    pub(crate) fn start(&mut self, call: Call, events: &mut Vec<Event>) {
        self.end_until(call.start_us, events);
        let slot = match self.free.pop() {
            Some(slot) => {
                if let Some(place) = self.calls.get_mut(slot as usize) {
                    *place = call;
                }
                slot
            }
            None => {
                self.calls.push(call);
                self.calls.len() as u32 - 1
            }
        };
        self.started += 1;
        self.under_way.push(Reverse(UnderWay::new(call.end_us, self.started, slot)));
        events.push(Event { moment: Moment::Start, call, slot, trouble_since_us: None });
    }

    /// The log is over: adds the ends of all calls under way.
    pub(crate) fn finish(&mut self, events: &mut Vec<Event>) {
        self.end_until(i64::MAX, events);
    }

    fn end_until(&mut self, at_us: i64, events: &mut Vec<Event>) {
        while let Some(Reverse(next)) = self.under_way.peek()
            && next.end_us() <= at_us
        {
            let slot = next.slot;
            self.under_way.pop();
            self.free.push(slot);
            if let Some(call) = self.calls.get(slot as usize).copied() {
                events.push(Event {
                    moment: Moment::End,
                    call,
                    slot,
                    trouble_since_us: self.troubles.ended(&call),
                });
            }
        }
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

    fn events(calls: &[Call]) -> Vec<Event> {
        let mut schedule = Schedule::default();
        let mut events = Vec::new();
        for call in calls {
            schedule.start(*call, &mut events);
        }
        schedule.finish(&mut events);
        events
    }

    #[test]
    fn a_call_that_overlaps_others_ends_in_its_turn() {
        let order: Vec<_> = events(&[call(0, 10), call(1, 2), call(5, 0), call(10, 1)])
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
        ) {
            calls.sort_unstable();
            let calls: Vec<_> = calls.iter().map(|(start, length)| call(*start, *length)).collect();
            let events = events(&calls);
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
