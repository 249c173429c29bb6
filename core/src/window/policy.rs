//! A window of the user's own.

use crate::state::State;
use crate::window::Evidence;
use crate::window::call::Call;
use crate::window::judge::{Judge, Plain, Verdict};
use crate::{Clock, Outcome};

/// A rule of one's own that says when to trip; [`Custom`] makes it a window.
///
/// It is asked by any number of threads at once. Its generation tells what to forget: outcomes of an
/// earlier one must not count in a later one. An outcome of a generation that is over never arrives.
///
/// Generations have numbers that come round after 4,096 of them, or 256 where words are 32 bits wide. A rule that
/// was asked in none of those between can't tell the same number from the last time it came.
pub trait Policy {
    /// Takes in the outcome of one call that counts (a success, a slow call, a failure), of a call
    /// admitted in `generation`. Returns whether the breaker is to trip.
    fn trips(&self, outcome: Outcome, generation: u16) -> bool;
}

/// A window whose rule is the user's own.
///
/// The promises about lost and early trips are then that rule's own matter.
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering};
/// use nanobreaker_core::window::{Custom, Policy};
/// use nanobreaker_core::{Breaker, Config, ManualClock, Outcome, Phase};
///
/// /// Trips on every failure of a generation's first hundred calls.
/// struct Fragile(AtomicU32);
/// impl Policy for Fragile {
///     fn trips(&self, outcome: Outcome, generation: u16) -> bool {
///         let tag = u32::from(generation) << 16;
///         let seen = self.0.load(Ordering::Relaxed);
///         let calls = if seen >> 16 == tag >> 16 { seen & 0xFFFF } else { 0 };
///         self.0.store(tag | calls.saturating_add(1), Ordering::Relaxed);
///         calls < 100 && outcome == Outcome::Failure
///     }
/// }
/// let window = Custom(Fragile(AtomicU32::new(0)));
/// let breaker = Breaker::new(window, Config::DEFAULT, ManualClock::new(0));
/// breaker.allow()?.failure();
/// assert_eq!(breaker.phase(), Phase::Open);
/// # Ok::<(), nanobreaker_core::Rejected>(())
/// ```
#[derive(Debug)]
pub struct Custom<P>(pub P);

impl<P: Policy> Plain for Custom<P> {}

impl<P: Policy> Judge for Custom<P> {
    #[inline]
    fn judge<C: Clock>(&self, outcome: Outcome, call: &Call<'_, C>) -> Verdict {
        Verdict::of(self.0.trips(outcome, call.generation()))
    }

    fn evidence<C: Clock>(&self, _: &Call<'_, C>) -> Result<Evidence, State> {
        Ok(Evidence { failed: None, slow: None })
    }

    fn sweep<C>(&self, _: &Call<'_, C>) {}
}
