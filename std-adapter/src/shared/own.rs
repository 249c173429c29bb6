//! A breaker's state without what others lend it. While a group lets calls pass its members are in shadow: no
//! operator holds them, and after a restart the group knows nothing of it. A fleet's order ends with the fleet's word.

use nanobreaker_core::Snapshot;
#[cfg(feature = "state-file")]
use nanobreaker_core::window::Consecutive;
#[cfg(feature = "state-file")]
use nanobreaker_core::{Breaker, ManualClock, Phase};

use super::SharedBreaker;

impl SharedBreaker {
    /// How it stands by itself.
    #[cfg(feature = "registry")]
    pub(crate) fn own_snapshot(&self) -> Snapshot {
        let mut snapshot = self.snapshot();
        snapshot.in_shadow &= !self.slot.lets_pass();
        snapshot
    }

    /// What of it outlives a restart, and the same as [`save`](nanobreaker_core::Breaker::save) has it.
    #[cfg(feature = "state-file")]
    pub(crate) fn kept(&self) -> (Snapshot, u64) {
        let mut lent = self.lent();
        let saved = self.save();
        // An order may begin or end meanwhile.
        lent.extend(self.lent());
        if lent.is_empty() {
            return (self.snapshot(), saved);
        }
        // By way of a breaker that nobody has lent anything. Neither of both can be refused.
        let window = Consecutive::new(1).ok();
        let without = window.map(|window| Breaker::new(window, self.config(), ManualClock::new(0)));
        let without = without.filter(|without| without.restore(saved, 0).is_ok());
        without.map_or((self.snapshot(), saved), |without| {
            without.shadow(!lent.contains(&None) && without.snapshot().in_shadow);
            if lent.contains(&Some(without.phase())) {
                without.reset();
            }
            (without.snapshot(), without.save())
        })
    }

    /// What its group and its fleet's orders lend it: phases, and `None` is shadow. A process that starts again hears
    /// of an order that is still in force, and of its end.
    #[cfg(feature = "state-file")]
    fn lent(&self) -> Vec<Option<Phase>> {
        let mut lent = Vec::new();
        #[cfg(feature = "fleet")]
        if let Some(membership) = &self.life().membership {
            lent.extend(membership.ordered());
        }
        if self.slot.lets_pass() {
            lent.push(None);
        }
        lent
    }
}
