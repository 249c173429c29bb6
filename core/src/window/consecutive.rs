//! Trips on K failures with no success between them.
//!
//! One word: the number of failures since the last success.

use crate::settings::{attempt, within};
use crate::sync::{Word, const_unless_loom};
use crate::window::Measured;
use crate::window::call::Call;
use crate::window::judge::Verdict;
use crate::window::ruled::{Room, Rows, Rule, Ruled};
use crate::window::tagged::{peek, update};
use crate::{Clock, ConfigError};

/// The largest threshold.
const MAX_THRESHOLD: u32 = u16::MAX as u32;

/// Trips on `threshold` failures with no success between them, however far apart in time.
///
/// For calls that come one after another: a sensor that is polled, a single connection. Where many
/// calls run at once one success in a thousand keeps it closed; take [`Failures`](super::Failures),
/// [`Cusum`](super::Cusum) or a rate there.
///
/// A success costs a load, and an exchange only where a failure came before; a failure one
/// exchange. The clock is read for neither.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, Phase, window::Consecutive};
///
/// let breaker = Breaker::new(Consecutive::new(2)?, Config::DEFAULT, ManualClock::new(0));
/// breaker.allow()?.failure();
/// breaker.allow()?.success();
/// breaker.allow()?.failure();
/// assert_eq!(breaker.phase(), Phase::Closed);
/// breaker.allow()?.failure();
/// assert_eq!(breaker.phase(), Phase::Open);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Consecutive = Ruled<ConsecutiveRule, [Word; 1]>;

impl Consecutive {
    const_unless_loom! {
        /// `threshold` failures in a row trip.
        ///
        /// # Errors
        ///
        /// `threshold` must be from 1 to 65,535.
        pub const fn new(threshold: u32) -> Result<Self, ConfigError> {
            Ok(Self { rule: attempt!(ConsecutiveRule::new(threshold)), memory: Word::zeroes() })
        }
    }
}

/// The rule of a [`Consecutive`] window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsecutiveRule {
    pub(super) threshold: u32,
}

impl ConsecutiveRule {
    pub(super) const fn new(threshold: u32) -> Result<Self, ConfigError> {
        let threshold = attempt!(within("threshold", threshold as u64, 1, MAX_THRESHOLD as u64));
        Ok(Self { threshold })
    }
}

impl Rule for ConsecutiveRule {
    #[inline]
    fn count<C: Clock>(&self, room: Room<'_, impl Rows>, bad: bool, call: &Call<'_, C>) -> Verdict {
        if !bad && peek(room.first, call.generation()) == 0 {
            return Verdict::Holds;
        }
        update(room.first, call, |count| {
            Ok(match count + 1 {
                _ if !bad => (0, Verdict::Holds),
                // The last failure is not stored. It trips the breaker, and so does each later failure of this
                // generation.
                failures if failures >= self.threshold.into() => (count, Verdict::Trips),
                failures => (failures, Verdict::Holds),
            })
        })
        .unwrap_or(Verdict::Stale)
    }

    fn measure<C: Clock>(&self, room: Room<'_, impl Rows>, call: &Call<'_, C>) -> Measured {
        Measured::Count { bad: peek(room.first, call.generation()) as u32, limit: self.threshold }
    }
}
