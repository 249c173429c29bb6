//! What people, and dependencies that say when they will be back, can ask of a breaker.

use crate::breaker::Breaker;
use crate::clock::Clock;
use crate::observer::{Cause, Observer};
use crate::phase::Phase;
use crate::state::State;
use crate::sync::{Ordering, Raw};
use crate::window::Window;

impl<W: Window, C: Clock, O: Observer> Breaker<W, C, O> {
    /// Trips the breaker as if its window had. Returns whether it opened: one that is open, isolated
    /// or disabled stays as it is.
    pub fn trip(&self) -> bool {
        self.step_by(Some(Cause::TripRequested), |state| {
            lets_calls_pass(state).then(|| self.tripped(state, self.now()))
        })
    }

    /// Opens the breaker for the time that the dependency itself asked for, as with HTTP's
    /// `Retry-After`: `ms` milliseconds, but from 1 to the configured
    /// [`max_open_ms`](crate::ConfigBuilder::max_open_ms), and without jitter.
    ///
    /// One that is open already stays open for that long from now, if that is later; observers are
    /// not told, since that is no transition. Returns whether anything changed: an isolated or
    /// disabled breaker stays as it is.
    ///
    /// ```
    /// # use nanobreaker_core::{Breaker, Config, ManualClock, window::Consecutive};
    /// let config = Config::builder().open_for_ms(1_000).max_open_ms(60_000).build()?;
    /// let breaker = Breaker::new(Consecutive::new(5)?, config, ManualClock::new(0));
    /// assert!(breaker.trip_for_ms(30_000));
    /// assert_eq!(breaker.allow().unwrap_err().retry_after_ms(), Some(30_000));
    /// # Ok::<(), nanobreaker_core::ConfigError>(())
    /// ```
    pub fn trip_for_ms(&self, ms: u64) -> bool {
        let span = self.config.longest_open_span();
        let ms = ms.clamp(1, u64::from(span.ms())) as u32;
        self.step_by(Some(Cause::TripRequested), |state| {
            let now = self.now();
            let retry_at = span.deadline(now, ms);
            if lets_calls_pass(state) {
                Some(self.opened(state, now, retry_at, true))
            } else if state.phase() == Phase::Open && self.is_over_before(state, now, ms) {
                Some(state.postponed(retry_at, true))
            } else {
                None
            }
        })
    }

    /// Holds the breaker open until [`reset`](Self::reset), whatever comes. Returns whether anything
    /// changed.
    pub fn isolate(&self) -> bool {
        self.step_by(Some(Cause::Isolated), |state| {
            (state.phase() != Phase::Isolated).then(|| state.isolated())
        })
    }

    /// Lets all calls pass and judges none, until [`reset`](Self::reset). Returns whether anything
    /// changed.
    pub fn disable(&self) -> bool {
        self.step_by(Some(Cause::Disabled), |state| {
            (state.phase() != Phase::Disabled).then(|| state.disabled())
        })
    }

    /// The dependency is repaired: closed, with an empty window and no streak. Permits given out
    /// before are stale from here on. The observe switch stays as it is.
    pub fn reset(&self) {
        self.step_by(Some(Cause::Reset), |state| Some(state.reset()));
    }

    /// Switches observing on or off. While observing the breaker judges as ever, but rejects no one:
    /// calls that it would have rejected pass, and their outcomes are not counted.
    pub fn observe(&self, on: bool) {
        self.step_by(None, |state| {
            (state.is_observing() != on).then(|| state.observing(on))
        });
    }

    /// Gives this instance a random number of its own, so that jitter and the ramp's pattern differ
    /// between the members of a fleet: a serial number, a hardware random number.
    pub fn seed(&self, seed: u32) {
        // Relaxed: any reader is content with the old or the new value.
        self.sequence.store(seed as Raw, Ordering::Relaxed);
    }

    fn is_over_before(&self, state: State, now: Raw, ms: u32) -> bool {
        let span = self.open_span_of(state);
        // A time further ahead than its span, after the clock was set back, counts as one span: that
        // is what the next call makes of it.
        state.open_time_left(now, span).ms(span) < ms
    }
}

/// Whether calls, or probes, may pass in this state on the breaker's own judgement.
const fn lets_calls_pass(state: State) -> bool {
    matches!(
        state.phase(),
        Phase::Closed | Phase::Recovering | Phase::HalfOpen
    )
}
