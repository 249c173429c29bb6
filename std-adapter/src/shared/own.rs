//! A breaker's state without what its group lends it. While a group lets calls pass its members are in shadow: no
//! operator holds them, and after a restart the group knows nothing of it.

use nanobreaker_core::Snapshot;
#[cfg(feature = "state-file")]
use nanobreaker_core::window::Consecutive;
#[cfg(feature = "state-file")]
use nanobreaker_core::{Breaker, ManualClock};

use super::SharedBreaker;

impl SharedBreaker {
    /// How it stands by itself.
    pub(crate) fn own_snapshot(&self) -> Snapshot {
        let mut snapshot = self.snapshot();
        snapshot.in_shadow &= !self.slot.lets_pass();
        snapshot
    }

    /// The same as [`save`](nanobreaker_core::Breaker::save) has it.
    #[cfg(feature = "state-file")]
    pub(crate) fn save_own(&self) -> u64 {
        let saved = self.save();
        if !self.slot.lets_pass() {
            return saved;
        }
        // By way of a breaker that no group has put in shadow. Neither of both can be refused.
        let window = Consecutive::new(1).ok();
        let without = window.map(|window| Breaker::new(window, self.config(), ManualClock::new(0)));
        without.filter(|without| without.restore(saved, 0).is_ok()).map_or(saved, |without| {
            without.shadow(false);
            without.save()
        })
    }
}
