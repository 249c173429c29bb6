//! Replaces a breaker's settings while calls go on.

use crate::breaker::insist;
use crate::breaker::timing::span_of;
use crate::state::{Code, State};
use crate::window::{Adjustable, Lanes};
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
        let _turn = self.window.turn.hold().ok_or(AdjustError::Busy)?;
        // Which cell is in force is known to whoever has the turn.
        let seen = self.load();
        if !self.window.prepare(seen, &checked) {
            return Ok(());
        }
        let new = &checked.config;
        self.step_by(|state, config| {
            let (adjusted, left_ms) = self.adjusted(state, config, new);
            Some(self.step(state, adjusted, None, left_ms, new))
        });
        Ok(())
    }

    /// Where its time windows count the good calls of many cores.
    pub const fn lanes(&self) -> &L {
        &self.window.lanes
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

    /// `state` under the new configuration, and what is left of its time, which is carried over in
    /// milliseconds: what is left of an open time, and how much of a ramp, or of the time since closing, is over.
    fn adjusted(&self, state: State, config: &Config, new: &Config) -> (State, Option<u32>) {
        let adjusted = state.adjusted();
        let (old, span) = (span_of(state, config), span_of(adjusted, new));
        let left_ms = match state.phase() {
            Phase::HalfOpen => return (adjusted.in_phase(Code::HALF_OPEN), None),
            Phase::Isolated | Phase::Disabled => return (adjusted, None),
            Phase::Closed if !state.flag() => return (adjusted, None),
            Phase::Open => self.left(state, config).ms(span).min(span.ms()),
            Phase::Recovering | Phase::Closed => {
                let over_ms = old.ms().saturating_sub(self.left_ms(state, config));
                span.ms().saturating_sub(over_ms)
            }
        };
        (adjusted, Some(left_ms))
    }
}

#[cfg(test)]
mod tests;
