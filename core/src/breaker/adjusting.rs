//! Replaces a breaker's settings while calls go on.

use crate::breaker::opening::span_of;
use crate::breaker::timing::Now;
use crate::breaker::{Move, insist};
use crate::state::{Left, Opening, State};
use crate::window::{Adjustable, Checked, Lanes};
use crate::{AdjustError, Breaker, Clock, Config, Observer, Phase, Settings};

impl<const WORDS: usize, const SLOW: usize, L: Lanes, C: Clock, O: Observer>
    Breaker<Adjustable<WORDS, SLOW, L>, C, O>
{
    /// Puts other settings in place while calls go on. They take effect in one exchange, all at once:
    /// each other move comes before it or after it. Settings that are in place already, or that come to
    /// the same, change nothing.
    ///
    /// * Phase, shadow switch and streak stay as they are; the generation steps. Observers are not told,
    ///   since that is no transition.
    /// * An open breaker stays open for what was left, at most for its new open time. A ramp and the time
    ///   since closing go on likewise; of one that was over it is known only that it was.
    /// * The window starts empty. Outcomes of calls that are under way are stale.
    /// * A half-open round begins anew: new probes are admitted beside those under way.
    ///
    /// # Errors
    ///
    /// [`AdjustError::Settings`] where a setting is outside its limits, [`AdjustError::Busy`] where
    /// another thread or interrupt is adjusting this breaker right now. A thread that dies in the middle
    /// of an adjustment without unwinding keeps others from adjusting; calls are never held up.
    ///
    /// ```
    /// use nanobreaker_core::window::Adjustable;
    /// use nanobreaker_core::{Breaker, ManualClock, Phase, Settings, WindowSettings};
    ///
    /// let mut settings = Settings::DEFAULT;
    /// let window = Adjustable::<8>::new(&settings)?;
    /// let breaker = Breaker::new(window, (), ManualClock::new(0));
    /// settings.window = WindowSettings::Consecutive { threshold: 2 };
    /// settings.opening.open_for_ms = 2_000;
    /// breaker.adjust(&settings)?;
    /// breaker.allow()?.failure();
    /// breaker.allow()?.failure();
    /// assert_eq!(breaker.phase(), Phase::Open);
    /// assert_eq!(breaker.snapshot().time_left_ms, Some(2_000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn adjust(&self, settings: &Settings) -> Result<(), AdjustError> {
        let checked = Adjustable::<WORDS, SLOW, L>::check(settings)?;
        // Given back when it is dropped, so also where the clock panics.
        let _turn = self.window.take_turn().ok_or(AdjustError::Busy)?;
        // Which cell is in force is known to whoever has the turn.
        let seen = self.load();
        if self.window.is_in_force(seen, &checked) {
            return Ok(());
        }
        self.window.prepare(seen, &checked);
        self.step_by(|state, config| Some(self.adjusted(state, config, &checked)));
        Ok(())
    }

    /// Where its time windows count the good calls of many cores.
    pub const fn lanes(&self) -> &L {
        self.window.lanes()
    }

    /// The limits for those who measure calls, in milliseconds, as they are in force in the generation of
    /// a call that is to begin: after how long a call is slow, and after how long without an answer it has
    /// failed; 0 is never.
    #[inline]
    pub fn limits_ms(&self) -> [u32; 2] {
        insist(self.load(), |seen| self.window.read(&self.state, seen, |cell| cell.limits()))
    }

    /// Whether [`limits_ms`](Self::limits_ms) has any limit: a load less than that.
    #[inline]
    pub fn has_limits(&self) -> bool {
        self.window.measures(self.load())
    }

    /// `state` under the new configuration, with its time carried over in milliseconds.
    fn adjusted(&self, state: State, config: &Config, checked: &Checked) -> Move {
        let now = &self.now();
        let new = &checked.config;
        let adjusted = state.adjusted();
        match state.phase() {
            Phase::Open => Move::open_until(adjusted, self.reopened(state, now, config, new), now),
            Phase::HalfOpen => Move::to(adjusted.round_begun()),
            Phase::Recovering => {
                let elapsed = self.elapsed(state, now, config.ramp()).min(new.ramp_ms());
                Move::recovering(adjusted, elapsed, now, new)
            }
            Phase::Closed if state.flag() => {
                Move::closed(adjusted, self.elapsed(state, now, config.relapse()), now, new)
            }
            Phase::Closed | Phase::Isolated | Phase::Disabled => Move::to(adjusted),
        }
    }

    /// Open for what is left, within the new limits.
    fn reopened(&self, state: State, now: &Now, config: &Config, new: &Config) -> Opening {
        let span = span_of(state, new);
        let left_ms = match self.left(state, now, config) {
            Left::Due => 0,
            Left::Pending(ms) => ms.min(span.ms()),
            Left::Beyond => span.ms(),
        };
        let retry_at = match left_ms {
            // Rounded down: over, and not only soon.
            0 => span.units(now.ms),
            ms => span.deadline(now.ms, ms),
        };
        Opening { retry_at, kind: state.kind(), again: state.flag() }
    }
}

#[cfg(test)]
mod tests;
