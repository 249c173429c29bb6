//! What people, and dependencies that say when they will be back, can ask of a breaker.

use crate::breaker::Breaker;
use crate::clock::Clock;
use crate::observer::{Cause, Observer};
use crate::phase::Phase;
use crate::saved::{RestoreError, Saved, SavedPhase};
use crate::state::{Opening, State};
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
        let span = self.config().longest_open_span();
        let ms = ms.clamp(1, u64::from(span.ms())) as u32;
        self.step_by(Some(Cause::TripRequested), |state| {
            let now = self.now();
            let retry_at = span.deadline(now, ms);
            if lets_calls_pass(state) {
                Some(self.opened(state, now, true, |_| retry_at))
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

    /// The state as a plain integer, to be kept over a reset of the chip (in retained memory, in
    /// flash) and given to [`restore`](Self::restore) afterwards: phase, observe switch, streak and
    /// what is left of an open time. The window is not kept, nor are probes in flight.
    ///
    /// ```
    /// # use nanobreaker_core::{Breaker, Config, ManualClock, Phase, window::Consecutive};
    /// # let radio = || Breaker::new(Consecutive::new(1).unwrap(), Config::DEFAULT, ManualClock::new(0));
    /// let before = radio();
    /// before.isolate();
    /// let saved: u64 = before.save();
    ///
    /// let after = radio(); // the chip was reset
    /// after.restore(saved)?;
    /// assert_eq!(after.snapshot().phase, Phase::Isolated);
    /// assert!(radio().restore(0).is_err()); // memory that was never written
    /// # Ok::<(), nanobreaker_core::RestoreError>(())
    /// ```
    pub fn save(&self) -> u64 {
        let state = self.load();
        let phase = SavedPhase::of(state.phase());
        let left_ms = match state.phase() {
            Phase::Open => self.time_left_ms(state).unwrap_or(0),
            _ => 0,
        };
        Saved {
            phase,
            observing: state.is_observing(),
            streak: state.streak(),
            left_ms,
        }
        .to_integer()
    }

    /// Puts the breaker into a state that [`save`](Self::save) returned, in a new generation. An
    /// open breaker stays open for what was left, at most for the configured longest open time.
    ///
    /// # Errors
    ///
    /// A [`RestoreError`] where `saved` is no saved state; the breaker stays as it is.
    pub fn restore(&self, saved: u64) -> Result<(), RestoreError> {
        let saved = Saved::from_integer(saved)?;
        self.step_by(Some(Cause::Restored), |state| {
            Some(self.restored(state, saved))
        });
        Ok(())
    }

    fn restored(&self, state: State, saved: Saved) -> State {
        let now = self.now();
        let state = state.observing(saved.observing);
        match saved.phase {
            SavedPhase::Closed if saved.streak == 0 => state.reset(),
            SavedPhase::Closed => {
                let since = self.config().flap().units(now);
                state.reset().with_streak(saved.streak).closed(since)
            }
            SavedPhase::Open => {
                let span = self.config().longest_open_span();
                state.opened(Opening {
                    streak: saved.streak,
                    retry_at: span.deadline(now, saved.left_ms.min(span.ms())),
                    asked: true,
                })
            }
            SavedPhase::Isolated => state.isolated().with_streak(saved.streak),
            SavedPhase::Disabled => state.disabled().with_streak(saved.streak),
        }
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

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use crate::window::Consecutive;
    use crate::{Breaker, Config, ManualClock, Observer, Phase, Transition};

    fn radio() -> Breaker<Consecutive, ManualClock> {
        // Short enough to be exact to the millisecond where words are 32 bits wide, too.
        let config = Config::builder().open_for_ms(50).max_open_ms(200);
        Breaker::new(
            Consecutive::new(1).unwrap(),
            config.build().unwrap(),
            ManualClock::new(0),
        )
    }

    fn fail(breaker: &Breaker<Consecutive, ManualClock>) {
        breaker.allow().unwrap().failure();
    }

    #[test]
    fn a_crash_loop_goes_on_with_its_backoff() {
        let before = radio();
        fail(&before);
        before.clock().advance(50);
        fail(&before);
        assert_eq!(before.snapshot().streak, 1);
        before.clock().advance(25);
        let saved = before.save();

        let after = radio();
        after.restore(saved).unwrap();
        let snapshot = after.snapshot();
        assert_eq!((snapshot.phase, snapshot.streak), (Phase::Open, 1));
        assert_eq!(snapshot.time_left_ms, Some(75));
        after.clock().advance(75);
        fail(&after);
        assert_eq!(after.snapshot().streak, 2);
        assert_eq!(after.snapshot().time_left_ms, Some(200));
    }

    #[test]
    fn a_probe_that_was_out_at_the_reset_is_asked_for_again() {
        let before = radio();
        fail(&before);
        before.clock().advance(50);
        let token = before.allow_token().unwrap();
        let saved = before.save();

        let after = radio();
        after.restore(saved).unwrap();
        assert!(after.snapshot().ready_to_probe());
        assert_eq!(
            after.record(token, crate::Outcome::Success),
            crate::Recorded::Stale
        );
    }

    #[test]
    fn an_open_time_longer_than_configured_is_cut() {
        let before = radio();
        assert!(before.trip_for_ms(200));
        let short = Config::builder().open_for_ms(100).build().unwrap();
        let after = Breaker::new(Consecutive::new(1).unwrap(), short, ManualClock::new(0));
        after.restore(before.save()).unwrap();
        assert_eq!(after.snapshot().time_left_ms, Some(100));
    }

    #[test]
    fn a_streak_is_kept_while_closed_and_forgotten_after_a_healthy_time() {
        let before = radio();
        fail(&before);
        before.clock().advance(50);
        fail(&before);
        before.clock().advance(100);
        before.allow().unwrap().success();
        let saved = before.save();
        for (healthy_ms, streak) in [(50, 2), (51, 0)] {
            let after = radio();
            after.restore(saved).unwrap();
            after.clock().advance(healthy_ms);
            fail(&after);
            assert_eq!(after.snapshot().streak, streak);
        }
    }

    #[test]
    fn staying_open_for_longer_is_no_transition() {
        struct Count(Cell<u32>);
        impl Observer for Count {
            fn transition(&self, _: &Transition) {
                self.0.set(self.0.get() + 1);
            }
        }
        let breaker = Breaker::with_observer(
            Consecutive::new(1).unwrap(),
            Config::builder().max_open_ms(60_000).build().unwrap(),
            ManualClock::new(0),
            Count(Cell::new(0)),
        );
        assert!(breaker.trip_for_ms(1_000));
        let generation = breaker.snapshot().generation;
        assert!(breaker.trip_for_ms(30_000));
        assert!(!breaker.trip_for_ms(1_000), "not later than it is already");
        assert_eq!(breaker.observer().0.get(), 1);
        assert_eq!(breaker.snapshot().generation, generation);
        assert!(breaker.snapshot().time_left_ms > Some(29_000));
    }

    #[test]
    fn a_damaged_integer_changes_nothing() {
        let breaker = radio();
        fail(&breaker);
        let before = breaker.snapshot();
        assert!(breaker.restore(before.generation.into()).is_err());
        assert_eq!(breaker.snapshot(), before);
    }
}
