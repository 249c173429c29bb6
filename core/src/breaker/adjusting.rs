//! Replaces a breaker's settings while calls go on.

use core::fmt;

use crate::breaker::timing::Now;
use crate::breaker::{Breaker, Move};
use crate::clock::Clock;
use crate::observer::Observer;
use crate::phase::Phase;
use crate::settings::{Config, ConfigError, Settings};
use crate::state::{Code, Left, Opening, State};
use crate::sync::Raw;
use crate::window::{Adjustable, Checked};

/// Settings that were not put in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum AdjustError {
    /// A setting is outside its limits.
    Settings(ConfigError),
    /// Somebody else adjusts this breaker at this moment.
    Busy,
}

impl From<ConfigError> for AdjustError {
    fn from(error: ConfigError) -> Self {
        Self::Settings(error)
    }
}

impl fmt::Display for AdjustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::Busy => f.write_str("another thread is adjusting this breaker; try again"),
        }
    }
}

impl core::error::Error for AdjustError {}

impl<const WORDS: usize, const SLOW: usize, C: Clock, O: Observer> Breaker<Adjustable<WORDS, SLOW>, C, O> {
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
        let checked = Adjustable::<WORDS, SLOW>::check(settings)?;
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

    /// The limits for those who measure calls, in milliseconds, as they are in force in the generation of
    /// a call that is to begin: after how long a call is slow, and after how long without an answer it has
    /// failed; 0 is never.
    #[inline]
    pub fn limits_ms(&self) -> [u32; 2] {
        let mut seen = self.load();
        loop {
            match self.window.read(&self.state, seen, |cell| cell.limits()) {
                Ok(limits) => return limits,
                Err(now) => seen = now,
            }
        }
    }

    /// `state` under the new configuration, with its time carried over in milliseconds.
    fn adjusted(&self, state: State, config: &Config, checked: &Checked) -> Move {
        let now = &self.now();
        let new = &checked.config;
        let adjusted = state.adjusted();
        let (to, time) = match state.phase() {
            Phase::Open => {
                let opening = self.reopened(state, now, config, new);
                (adjusted.postponed(opening), now.sets(opening.retry_at))
            }
            Phase::HalfOpen => (adjusted.round_begun(), None),
            Phase::Recovering => {
                let elapsed = self.elapsed(state, now, config);
                let began = now.ms.wrapping_sub(elapsed.min(new.ramp_ms()) as Raw);
                let since = new.ramp().units(began);
                (adjusted.recovering(since), now.sets(since))
            }
            Phase::Closed if state.flag() => {
                let elapsed = self.elapsed(state, now, config);
                let closed = now.ms.wrapping_sub(elapsed as Raw);
                let since = new.relapse().units(closed);
                (adjusted.closed(since), now.sets(since))
            }
            Phase::Closed | Phase::Isolated | Phase::Disabled => (adjusted, None),
        };
        let cause = None;
        Move { to, cause, time }
    }

    /// Open for what is left, within the new limits.
    fn reopened(&self, state: State, now: &Now, config: &Config, new: &Config) -> Opening {
        let span = match state.kind() {
            Code::OpenAdvised => new.advised_span(),
            Code::OpenAsked => new.asked_span(),
            _ => new.open_span(state.streak()),
        };
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
