//! What people, and dependencies that say when they will be back, can ask of a breaker.

use crate::breaker::timing::span_of;
use crate::state::{Code, Left, State};
use crate::sync::{Ordering, Raw};
use crate::window::Window;
use crate::{Breaker, Cause, Clock, Observer, Phase};

impl<W: Window, C: Clock, O: Observer> Breaker<W, C, O> {
    /// Trips the breaker as if its window had. Returns whether it opened: one that is open, isolated
    /// or disabled stays as it is.
    pub fn trip(&self) -> bool {
        self.step_by(|state, config| {
            lets_calls_pass(state).then(|| self.fail(state, Cause::TripRequested, config))
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
        self.open_for(ms, Code::OPEN_ASKED, Cause::TripRequested, lets_calls_pass)
    }

    /// Opens the breaker on hearsay: others found the dependency broken. For `ms` milliseconds, but
    /// from 1 to twice the configured [`max_open_ms`](crate::ConfigBuilder::max_open_ms) and ten seconds,
    /// so that those who wait for the one who found out wait longer than it does itself.
    ///
    /// Only a breaker that is closed or recovering opens. One that is open stays open for that long from
    /// now, if that is later. The streak stays as it is, and no latch holds. Returns whether anything
    /// changed.
    pub fn advise_ms(&self, ms: u64) -> bool {
        self.open_for(ms, Code::OPEN_ADVISED, Cause::Advised, State::judges_by_window)
    }

    /// Opens for `ms`, as `code` says, what `may_open`. An open breaker stays open for that long, if that is longer.
    fn open_for(&self, ms: u64, code: Code, cause: Cause, may_open: fn(State) -> bool) -> bool {
        let ms = u32::try_from(ms).unwrap_or(u32::MAX).max(1);
        self.step_by(|state, config| {
            let ms = ms.min(span_of(state.in_phase(code), config).ms());
            let opens = may_open(state);
            if opens && code == Code::OPEN_ASKED && config.latch() {
                return Some(self.fail(state, cause, config));
            }
            let (open, cause) = if opens {
                (self.opened(state, code, config), Some(cause))
            } else if state.phase() == Phase::Open && self.left_ms(state, config) < ms {
                (state.in_phase(code), None)
            } else {
                return None;
            };
            Some(self.step(state, open, cause, Some(ms), config))
        })
    }

    /// Ends an open time: the next call is a probe. No transition, and nothing in any other phase.
    /// Returns whether anything changed.
    pub fn recover(&self) -> bool {
        self.step_by(|state, config| {
            let is_pending = state.phase() == Phase::Open && self.left(state, config) != Left::Due;
            is_pending.then(|| self.step(state, state.in_phase(Code::OPEN_ASKED), None, Some(0), config))
        })
    }

    /// Holds the breaker open until [`reset`](Self::reset), whatever comes. Returns whether anything
    /// changed.
    pub fn isolate(&self) -> bool {
        self.hold(Code::ISOLATED, Cause::Isolated)
    }

    /// Lets all calls pass and judges none, until [`reset`](Self::reset). Returns whether anything
    /// changed.
    pub fn disable(&self) -> bool {
        self.hold(Code::DISABLED, Cause::Disabled)
    }

    fn hold(&self, code: Code, cause: Cause) -> bool {
        self.change(Some(cause), |state| (state.code() != code).then(|| state.entered(code)))
    }

    /// Makes a move that sets no time, where `change` knows one.
    fn change(&self, cause: Option<Cause>, change: impl Fn(State) -> Option<State>) -> bool {
        self.step_by(|state, config| change(state).map(|to| self.step(state, to, cause, None, config)))
    }

    /// The dependency is repaired: closed, with an empty window and no streak. Permits given out
    /// before are stale from here on. The shadow switch stays as it is.
    pub fn reset(&self) {
        self.change(Some(Cause::Reset), |state| Some(state.reset()));
    }

    /// Switches shadow on or off. In shadow the breaker judges as ever, but rejects no one: calls that
    /// it would have rejected pass, and their outcomes are not counted.
    pub fn shadow(&self, on: bool) {
        self.change(None, |state| (state.is_in_shadow() != on).then(|| state.in_shadow(on)));
    }

    /// Gives this instance a random number of its own, so that jitter and the ramp's pattern differ
    /// between the members of a fleet: a serial number, a hardware random number.
    pub fn seed(&self, seed: u32) {
        // Relaxed: any reader is content with the old or the new value.
        self.sequence.store(seed as Raw, Ordering::Relaxed);
    }
}

/// Whether calls, or probes, may pass in this state on the breaker's own judgement.
const fn lets_calls_pass(state: State) -> bool {
    matches!(state.phase(), Phase::Closed | Phase::Recovering | Phase::HalfOpen)
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use crate::window::Consecutive;
    use crate::{Breaker, Config, ManualClock, Observer, Phase, Transition};

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

    fn failing_at_once(max_open_ms: u64) -> Breaker<Consecutive, ManualClock> {
        let config = Config::builder().open_for_ms(1_000).max_open_ms(max_open_ms);
        Breaker::new(Consecutive::new(1).unwrap(), config.build().unwrap(), ManualClock::new(0))
    }

    #[test]
    fn advice_opens_a_closed_breaker_and_leaves_its_streak_alone() {
        let breaker = failing_at_once(2_000);
        assert!(breaker.advise_ms(500));
        assert_eq!((breaker.phase(), breaker.snapshot().streak), (Phase::Open, 0));
        assert!(!breaker.advise_ms(400), "not later than it is already");
        assert!(breaker.advise_ms(u64::MAX));
        let left = breaker.snapshot().time_left_ms.unwrap();
        assert!((14_000..14_010).contains(&left), "twice the cap and ten seconds: {left}");
    }

    #[test]
    fn advice_changes_nothing_where_probes_decide_or_people_do() {
        let breaker = failing_at_once(2_000);
        breaker.allow().unwrap().failure();
        breaker.clock().advance(1_000);
        let probe = breaker.allow().unwrap();
        assert!(!breaker.advise_ms(5_000));
        probe.success();
        breaker.isolate();
        assert!(!breaker.advise_ms(5_000));
        breaker.disable();
        assert!(!breaker.advise_ms(5_000));
        assert!(!breaker.recover());
        assert_eq!(breaker.phase(), Phase::Disabled);
    }

    #[test]
    fn recovery_makes_the_next_call_a_probe_in_the_same_generation() {
        let breaker = failing_at_once(2_000);
        assert!(!breaker.recover(), "closed");
        breaker.allow().unwrap().failure();
        let generation = breaker.snapshot().generation;
        breaker.clock().advance(123);
        assert!(breaker.recover());
        assert!(!breaker.recover(), "over already");
        assert!(breaker.snapshot().ready_to_probe());
        let probe = breaker.allow().unwrap();
        assert!(probe.is_probe());
        assert_eq!(probe.generation(), generation);
    }
}
