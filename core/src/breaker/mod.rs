//! The breaker: ties the state word, the window, the configuration and the clock together.
//!
//! Each file here is one side of it: [`admission`] answers `allow`, [`recording`] takes outcomes in,
//! [`opening`] opens, [`timing`] reads and sets times, [`operator`] is for people and for
//! dependencies that say what they want, [`saving`] keeps the state over a reset of the chip, and
//! [`adjusting`] replaces settings while calls go on. All of them decide with the pure functions of
//! `state` and make their moves through [`Breaker::step`], the one place where a transition happens and
//! its observer is told.
//!
//! # Orderings
//!
//! Everything that a decision needs is in the state word, but for settings that can change. So its loads
//! are relaxed, and the order of its changes is the order of moves. Only the flip that puts other
//! settings in force publishes memory, see [`Adjustable`](crate::window::Adjustable).

mod adjusting;
mod admission;
mod opening;
mod operator;
mod recording;
mod saving;
mod timing;

pub use recording::Calm;
pub use saving::RestoreError;

use core::borrow::Borrow;
use core::fmt;

use crate::permit::Kind;
use crate::state::State;
use crate::sync::{Ordering, Word, const_unless_loom};
use crate::window::{Call, Window, sweep, sweep_is_due};
use crate::{Cause, Clock, Config, Evidence, Observer, Permit, Phase, Snapshot, Token, Transition};

/// Guards one dependency.
///
/// Ask [`allow`](Self::allow) before a call, and spend the permit with the call's outcome. All
/// methods take `&self` and may be called from any thread or interrupt at once; share a breaker by
/// reference, by `Arc`, or as a `static`.
///
/// * `W` remembers recent calls and says when to trip: one of [`window`](crate::window).
/// * `C` is the clock.
/// * `O` is told of transitions; `()` is not interested.
///
/// # Cost
///
/// While closed: `allow` is one load; `record` of a success is one more and what the window takes
/// for a success. No store, no lock, no clock read with the failure ring, the consecutive window and the
/// cumulative sum after a success, and the calls window full of successes. A rejection reads the clock
/// and writes nothing.
///
/// Every method is lock-free where the target has a compare-and-swap for a whole word, which is 64
/// bits wide where that is lock-free and 32 bits elsewhere. On chips without any compare-and-swap
/// (Cortex-M0, RV32I without A) each exchange masks interrupts for about a dozen instructions, by the
/// backend that the binary selects for `portable-atomic`; its `critical-section` masks them for loads
/// as well, `unsafe-assume-single-core` does not.
///
/// A breaker orders no other memory: that one thread's [`reset`](Self::reset) or
/// [`isolate`](Self::isolate) was seen by another's [`allow`](Self::allow) does not mean that what the
/// first one wrote before is seen, too.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, Outcome, window::Failures};
///
/// let window = Failures::<5>::within_ms(10_000)?;
/// let config = Config::builder().open_for_ms(10_000).build()?;
/// let breaker = Breaker::new(window, config, ManualClock::new(0));
///
/// # fn charge() -> Result<(), ()> { Ok(()) }
/// match breaker.allow() {
///     Ok(permit) => {
///         let answer = charge();
///         permit.record(if answer.is_ok() { Outcome::Success } else { Outcome::Failure });
///     }
///     Err(rejected) => println!("payments are down, retry after {:?}", rejected.retry_after()),
/// }
/// # Ok::<(), nanobreaker_core::ConfigError>(())
/// ```
pub struct Breaker<W: Window, C, O = ()> {
    state: Word,
    /// The upper bits of the state's time, see [`Anchor`](crate::state::Anchor).
    anchor: Word,
    window: W,
    config: W::Settings,
    /// Starts at the instance's seed and steps with each call while recovering. Jitter and the ramp
    /// draw their numbers from it.
    sequence: Word,
    clock: C,
    observer: O,
}

impl<W: Window, C> Breaker<W, C> {
    const_unless_loom! {
        /// A closed breaker that tells no one of its transitions. `config` is a [`Config`], or `()` where
        /// the window is [`Adjustable`](crate::window::Adjustable).
        pub const fn new(window: W, config: W::Settings, clock: C) -> Self {
            Self::with_observer(window, config, clock, ())
        }
    }
}

impl<W: Window, C, O> Breaker<W, C, O> {
    const_unless_loom! {
        /// A closed breaker that tells `observer` of each transition.
        pub const fn with_observer(window: W, config: W::Settings, clock: C, observer: O) -> Self {
            Self {
                state: Word::new(State::NEW.0),
                anchor: Word::new(0),
                window,
                config,
                sequence: Word::new(0),
                clock,
                observer,
            }
        }
    }

    /// The clock.
    pub const fn clock(&self) -> &C {
        &self.clock
    }

    /// The observer.
    pub const fn observer(&self) -> &O {
        &self.observer
    }

    /// The phase that the breaker is in: one load.
    ///
    /// An open breaker whose time is over is still open until the next call;
    /// [`snapshot`](Self::snapshot) tells.
    pub fn phase(&self) -> Phase {
        self.load().phase()
    }

    /// The configuration that is in force.
    pub fn config(&self) -> Config {
        self.decide(self.load(), |_, config| Ok(*config))
    }

    /// The configuration that is in force in `seen`, or what the state is since it was replaced.
    #[inline]
    fn config_in(&self, seen: State) -> Result<W::Found<'_>, State> {
        self.window.config(&self.config, &self.state, seen)
    }

    /// [`insist`]s with the configuration that is in force in each state.
    #[inline]
    fn decide<A>(&self, seen: State, mut attempt: impl FnMut(State, &Config) -> Result<A, State>) -> A {
        insist(seen, |seen| attempt(seen, self.config_in(seen)?.borrow()))
    }

    #[inline]
    fn load(&self) -> State {
        State(self.state.load(Ordering::Relaxed))
    }

    /// The load that may lead into an exchange, see [`Word::first_load`].
    #[inline]
    fn first_load(&self) -> State {
        State(self.state.first_load(Ordering::Relaxed))
    }

    #[inline]
    fn call(&self, seen: State) -> Call<'_, C> {
        Call { word: &self.state, clock: &self.clock, seen }
    }
}

impl<W: Window, C: Clock, O: Observer> Breaker<W, C, O> {
    /// The breaker as it stands now: one load and, where its phase has a time, one clock read.
    ///
    /// ```
    /// # use nanobreaker_core::{Breaker, Config, ManualClock, Phase, window::Consecutive};
    /// let clock = ManualClock::new(0);
    /// let config = Config::builder().open_for_ms(1_000).build()?;
    /// let breaker = Breaker::new(Consecutive::new(1)?, config, &clock);
    /// breaker.allow()?.failure();
    /// assert_eq!(breaker.snapshot().time_left_ms, Some(1_000));
    /// clock.advance(1_000);
    /// let snapshot = breaker.snapshot();
    /// assert_eq!(snapshot.phase, Phase::Open);
    /// assert!(snapshot.ready_to_probe());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot(&self) -> Snapshot {
        let (state, config) = self.decide(self.load(), |state, config| Ok((state, *config)));
        let phase = state.phase();
        let count = |field: u8| if phase == Phase::HalfOpen { field } else { 0 };
        let in_flight = count(state.in_flight());
        let is_timed = matches!(phase, Phase::Open | Phase::Recovering) || in_flight > 0;
        Snapshot {
            phase,
            in_shadow: state.is_in_shadow(),
            generation: state.generation(),
            streak: state.streak(),
            time_left_ms: is_timed.then(|| self.left_ms(state, &config)),
            in_flight,
            succeeded: count(state.succeeded()),
            failed: count(state.failed()),
        }
    }

    /// How near the window is to tripping, and where it trips: some loads for each of its words, and for some
    /// windows a clock read. Nothing is written.
    ///
    /// It is what counts in the present generation, so nothing while open. Outcomes that other threads
    /// are recording may be in it or not. Where the clock was set back it may show less than the next
    /// call will count.
    ///
    /// ```
    /// # use nanobreaker_core::{Breaker, Config, ManualClock, Measured, window::Failures};
    /// let window = Failures::<5>::within_ms(10_000)?;
    /// let breaker = Breaker::new(window, Config::DEFAULT, ManualClock::new(0));
    /// breaker.allow()?.failure();
    /// breaker.allow()?.failure();
    /// let evidence = breaker.evidence().failed.unwrap();
    /// assert_eq!(evidence, Measured::Count { bad: 2, limit: 5 });
    /// assert_eq!(evidence.share_ppm(), 400_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn evidence(&self) -> Evidence {
        insist(self.load(), |seen| self.window.evidence(&self.call(seen)))
    }

    /// Every change of the state word is made here: one exchange, and where that was a transition the
    /// observer is told.
    ///
    /// `cause` says why, where it is a transition; in `ms` from now the time of `to` is over, where this move sets
    /// one; `config` is in force in `to`.
    // Inlined on large chips, as in `timing`: there the compiler sees which arguments each caller gives.
    #[cfg_attr(target_has_atomic = "64", inline(always))]
    fn step(&self, from: State, to: State, cause: Option<Cause>, ms: Option<u32>, config: &Config) -> Step {
        let timed = ms.map(|ms| self.timed(to, ms, config));
        let to = timed.map_or(to, |(to, ..)| to);
        // A move that flips the cell publishes the cell. All others are exchanges, too, so that who sees the bit
        // later sees the cell.
        self.state.exchange(from.0, to.0).map_err(State)?;
        if let Some((_, before, after)) = timed {
            self.anchor(before, after);
        }
        if from.generation() != to.generation() && sweep_is_due(to.generation()) {
            let call = self.call(to);
            self.window.sweep(&call);
            sweep(&self.anchor, &call);
        }
        if let Some(cause) = cause.filter(|_| O::LISTENS) {
            self.tell(from, to, cause, config);
        }
        Ok(to)
    }

    #[cold]
    fn tell(&self, from: State, to: State, cause: Cause, config: &Config) {
        // Of the probe that is admitted at the end of an open time: should the clock or the observer panic, its
        // drop gives the place back. Not before the step, since the place may be another's until then.
        let permit = (cause == Cause::OpenTimeOver).then(|| Permit::new(self, Token::new(to, Kind::Probe)));
        let open_for_ms = if to.phase() == Phase::Open { self.left_ms(to, config) } else { 0 };
        // Read after what is left: so the sum of both is never before a probe may go.
        let at_ms = self.clock.now_ms();
        self.observer.transition(&Transition {
            generation: to.generation(),
            from: from.phase(),
            to: to.phase(),
            cause,
            at_ms,
            open_for_ms,
            streak: to.streak(),
        });
        let _ = permit.map(Permit::into_token);
    }

    /// The loop around [`step`](Self::step): load; `attempt` a step; look again where it was refused. Returns
    /// whether a step was taken. Lock-free: a step is refused only where another one was taken.
    fn step_by(&self, mut attempt: impl FnMut(State, &Config) -> Option<Step>) -> bool {
        self.decide(self.first_load(), |seen, config| {
            attempt(seen, config).transpose().map(|step| step.is_some())
        })
    }
}

/// What the state word holds after a step: what the step led to, or, as an error, what another move had made of
/// it before.
type Step = Result<State, State>;

/// Tries until nothing else came first: `attempt` gets what the state word holds, and answers or tells what
/// it holds instead.
fn insist<A>(mut seen: State, mut attempt: impl FnMut(State) -> Result<A, State>) -> A {
    loop {
        match attempt(seen) {
            Ok(answer) => return answer,
            Err(now) => seen = now,
        }
    }
}

/// Shows what the state word says; reads no clock.
impl<W: Window, C, O> fmt::Debug for Breaker<W, C, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.load();
        f.debug_struct("Breaker")
            .field("phase", &state.phase())
            .field("in_shadow", &state.is_in_shadow())
            .field("generation", &state.generation())
            .field("streak", &state.streak())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
