//! Replaces a breaker's settings while calls go on.

use crate::breaker::Breaker;
use crate::clock::Clock;
use crate::config::Config;
use crate::observer::Observer;
use crate::phase::Phase;
use crate::state::State;
use crate::sync::Raw;
use crate::window::{Adjustable, Replaceable, Verdict};

impl<W: Replaceable, C: Clock, O: Observer> Breaker<Adjustable<W>, C, O> {
    /// Puts other settings in place while calls go on: `config`, and the rule of `window` (what that
    /// window holds doesn't matter). Phase, generation, streak, probes in flight and permits stay as
    /// they are.
    ///
    /// * The calls in the window stay and are judged by the new rule at once: five recent failures
    ///   trip when the threshold is set to five. They stay too where they have to move (another size
    ///   or span), and a window of another kind starts empty; an outcome that is recorded in that very
    ///   moment counts once or not at all, whatever it was answered (where it was half in a window
    ///   of many calls, it counts as a success).
    /// * A failure that is recorded while a threshold falls may be judged by the old one: then the
    ///   next failure trips.
    /// * An open breaker stays open for what was left, at most for its new open time.
    /// * Probes in flight get a new lease.
    ///
    /// Calls are never held up: readers may see the new settings one after another, not all at once.
    ///
    /// Returns whether it did: not where another thread is adjusting this breaker right now.
    ///
    /// ```
    /// use nanobreaker_core::window::{Adjustable, AnyWindow};
    /// use nanobreaker_core::{Breaker, Config, ManualClock, Phase};
    ///
    /// let window = Adjustable::new(AnyWindow::<8>::failures(5, 10_000)?);
    /// let breaker = Breaker::new(window, Config::DEFAULT, ManualClock::new(0));
    /// for _ in 0..3 {
    ///     breaker.allow()?.failure();
    /// }
    /// let config = Config::builder().open_for_ms(2_000).build()?;
    /// assert!(breaker.adjust(&AnyWindow::failures(4, 10_000)?, config));
    /// breaker.allow()?.failure();
    /// assert_eq!(breaker.snapshot().phase, Phase::Open);
    /// assert_eq!(breaker.snapshot().time_left_ms, Some(2_000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn adjust(&self, window: &W, config: Config) -> bool {
        if !self.window.enter() {
            return false;
        }
        let state = self.load();
        let left_ms = self.time_left_ms(state);
        self.window.configure(&config);
        if let Some(next) = self.fitted(state, left_ms, &config) {
            // Where another move came first, that one knew the new configuration, or at worst waits
            // for twice its span, see `Span`.
            let _ = self.step(state, next, None);
        }
        let state = self.load();
        let verdict = self.window.adopt(window, &self.call(state.generation()));
        self.window.leave();
        if verdict == Verdict::Trips && state.judges_by_window() {
            self.trip_in(state.generation());
        }
        true
    }

    /// `state` with its time in the unit, and within the bounds, of `config`; `None` where it has
    /// none.
    fn fitted(&self, state: State, left_ms: Option<u32>, config: &Config) -> Option<State> {
        let now: Raw = self.now();
        match state.phase() {
            Phase::Open => {
                let span = self.open_span_of(state);
                let left_ms = left_ms.unwrap_or(0).min(span.ms());
                let retry_at = span.deadline(now, left_ms);
                Some(state.postponed(retry_at, state.open_time_was_asked()))
            }
            Phase::HalfOpen => Some(state.with_lease(config.lease().late_deadline(now))),
            Phase::Closed | Phase::Recovering | Phase::Isolated | Phase::Disabled => None,
        }
    }
}

#[cfg(test)]
mod tests;
