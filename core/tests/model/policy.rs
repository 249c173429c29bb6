//! A rule of one's own, for `Custom`: it trips from the third bad call of a generation on, however many good
//! ones come between.

use std::cell::Cell;

use nanobreaker_core::Outcome;
use nanobreaker_core::window::Policy;

use super::window::Verdicts;

const TRIPS_AT: u32 = 3;

/// The rule as a user writes it: only the generation that it is told says what to forget.
#[derive(Default)]
pub struct Third(Cell<(u16, u32)>);

impl Policy for Third {
    fn trips(&self, outcome: Outcome, generation: u16) -> bool {
        assert!(!matches!(outcome, Outcome::Ignored | Outcome::Cancelled), "{outcome:?} does not count");
        let (last, before) = self.0.get();
        let before = if last == generation { before } else { 0 };
        let bad = before + u32::from(outcome != Outcome::Success);
        self.0.set((generation, bad));
        bad > before && bad >= TRIPS_AT
    }
}

/// The rule as it is to work: what it counted last, and in which generation's number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counted {
    generation: u16,
    bad: u32,
}

impl Counted {
    /// Takes in one call. Numbers come round: what was counted last under the same one still counts.
    pub fn take_in(&mut self, bad: bool, generation: u16) -> Verdicts {
        if self.generation != generation {
            *self = Self { generation, bad: 0 };
        }
        self.bad += u32::from(bad);
        Verdicts::exactly(bad && self.bad >= TRIPS_AT)
    }
}
