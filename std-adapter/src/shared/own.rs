//! A breaker's state without what others lend it. While a group lets calls pass its members are in shadow: no
//! operator holds them, and after a restart the group knows nothing of it. A fleet's order ends with the fleet's word.

use nanobreaker_core::Snapshot;
#[cfg(feature = "state-file")]
use nanobreaker_core::window::Consecutive;
#[cfg(feature = "state-file")]
use nanobreaker_core::{Breaker, ManualClock};

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
        let (is_lent_shadow, is_held) = self.ordered();
        let is_lent_shadow = is_lent_shadow || self.slot.lets_pass();
        let saved = self.save();
        if !is_lent_shadow && !is_held {
            return (self.snapshot(), saved);
        }
        // By way of a breaker that nobody has lent anything. Neither of both can be refused.
        let window = Consecutive::new(1).ok();
        let without = window.map(|window| Breaker::new(window, self.config(), ManualClock::new(0)));
        let without = without.filter(|without| without.restore(saved, 0).is_ok());
        without.map_or((self.snapshot(), saved), |without| {
            without.shadow(!is_lent_shadow && without.snapshot().in_shadow);
            if is_held {
                without.reset();
            }
            (without.snapshot(), without.save())
        })
    }

    /// Whether its fleet's order has it in shadow, and whether one holds it. A process that starts again hears of an
    /// order that is still in force, and of its end.
    #[cfg(all(feature = "state-file", feature = "fleet"))]
    fn ordered(&self) -> (bool, bool) {
        let ordered = self.life().membership.as_ref().and_then(|membership| membership.obeys());
        ordered.map_or((false, false), |ordered| match ordered.phase() {
            None => (true, false),
            Some(phase) => (false, phase == self.phase()),
        })
    }

    /// No fleet orders anything.
    #[cfg(all(feature = "state-file", not(feature = "fleet")))]
    fn ordered(&self) -> (bool, bool) {
        (false, false)
    }
}
