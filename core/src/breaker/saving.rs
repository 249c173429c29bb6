//! Keeps the state over a reset of the chip, or of the process.

use crate::breaker::timing::{Now, begun, lasting};
use crate::saved::Saved;
use crate::state::{Code, State};
use crate::window::Window;
use crate::{Breaker, Cause, Clock, Config, Observer, Phase, RestoreError, Snapshot};

impl<W: Window, C: Clock, O: Observer> Breaker<W, C, O> {
    /// The state as a plain integer, to be kept over a reset of the chip (in retained memory, in
    /// flash) and given to [`restore`](Self::restore) afterwards: phase, shadow switch, streak and
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
    /// after.restore(saved, 0)?;
    /// assert_eq!(after.phase(), Phase::Isolated);
    /// assert!(radio().restore(0, 0).is_err()); // memory that was never written
    /// # Ok::<(), nanobreaker_core::RestoreError>(())
    /// ```
    pub fn save(&self) -> u64 {
        let Snapshot { phase, in_shadow, streak, time_left_ms, .. } = self.snapshot();
        let left_ms = time_left_ms.filter(|_| phase == Phase::Open).unwrap_or(0);
        Saved { phase, in_shadow, streak, left_ms }.to_integer()
    }

    /// Puts the breaker into a state that [`save`](Self::save) returned `slept_ms` milliseconds ago, in
    /// a new generation. An open breaker stays open for what is left after that, at most for the longest
    /// time that anybody may ask of it. A closed one that has a streak counts as just closed. A streak that
    /// is longer than this target can hold is cut.
    ///
    /// # Errors
    ///
    /// A [`RestoreError`] where `saved` is no saved state; the breaker stays as it is.
    pub fn restore(&self, saved: u64, slept_ms: u64) -> Result<(), RestoreError> {
        let saved = Saved::from_integer(saved)?;
        let slept_ms = u32::try_from(slept_ms).unwrap_or(u32::MAX);
        self.step_by(|state, config| {
            let now = &self.now();
            let restored = restored(state, saved, slept_ms, now, config);
            Some(self.step(state, restored, Some(Cause::Restored), Some(now), config))
        });
        Ok(())
    }
}

fn restored(state: State, saved: Saved, slept_ms: u32, now: &Now, config: &Config) -> State {
    let state = state.in_shadow(saved.in_shadow).with_streak(saved.streak);
    match saved.phase {
        Phase::Closed | Phase::Recovering => {
            let closed = state.reset().with_streak(saved.streak);
            if saved.streak == 0 { closed } else { begun(closed.closed(), now, config) }
        }
        Phase::Open | Phase::HalfOpen => {
            let left_ms = saved.left_ms.saturating_sub(slept_ms).min(config.max_open_ms());
            lasting(state.opened(Code::OpenAsked), left_ms, now, config)
        }
        Phase::Isolated => state.isolated(),
        Phase::Disabled => state.disabled(),
    }
}

#[cfg(test)]
mod tests {
    use crate::window::Consecutive;
    use crate::{Breaker, Config, ManualClock, Phase};

    fn radio() -> Breaker<Consecutive, ManualClock> {
        // Short enough to be exact to the millisecond where words are 32 bits wide, too.
        let config = Config::builder().open_for_ms(50).max_open_ms(200);
        Breaker::new(Consecutive::new(1).unwrap(), config.build().unwrap(), ManualClock::new(0))
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
        after.restore(saved, 0).unwrap();
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
        after.restore(saved, 0).unwrap();
        assert!(after.snapshot().ready_to_probe());
        assert_eq!(after.record(token, crate::Outcome::Success), crate::Recorded::Stale);
    }

    #[test]
    fn an_open_time_longer_than_configured_is_cut() {
        let before = radio();
        assert!(before.trip_for_ms(200));
        let short = Config::builder().open_for_ms(100).build().unwrap();
        let after = Breaker::new(Consecutive::new(1).unwrap(), short, ManualClock::new(0));
        after.restore(before.save(), 0).unwrap();
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
            after.restore(saved, 0).unwrap();
            after.clock().advance(healthy_ms);
            fail(&after);
            assert_eq!(after.snapshot().streak, streak);
        }
    }

    #[test]
    fn a_damaged_integer_changes_nothing() {
        let breaker = radio();
        fail(&breaker);
        let before = breaker.snapshot();
        assert!(breaker.restore(before.generation.into(), 0).is_err());
        assert_eq!(breaker.snapshot(), before);
    }
}
