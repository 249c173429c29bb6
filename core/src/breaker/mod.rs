//! The breaker: ties the state word, the window, the configuration and the clock together.
//!
//! Each file here is one side of it: [`admission`] answers `allow`, [`recording`] takes outcomes in,
//! [`operator`] is for people and for dependencies that say what they want,
//! [`adjusting`] replaces settings while calls go on. All of them decide with
//! the pure functions of `state` and make their moves through [`Breaker::step`], the one place
//! where a transition happens and its observer is told.
//!
//! # Orderings
//!
//! The state word stands alone: everything that a decision needs is in it, and it guards no other
//! memory. So its own operations are relaxed, and the order of its changes is the order of moves.

mod adjusting;
mod admission;
mod operator;
mod recording;

use crate::clock::Clock;
use crate::config::Config;
use crate::observer::{Cause, Observer, Transition};
use crate::phase::Phase;
use crate::snapshot::Snapshot;
use crate::state::{Opening, Span, State};
use crate::sync::{Ordering, Raw, Word, const_unless_loom};
use crate::window::{Call, Window};

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
/// for a success. No store, no lock, no clock read with the failure ring, the consecutive window
/// after a success, and the calls window full of successes. A rejection reads the clock and writes
/// nothing.
///
/// Every method is lock-free where the target has a compare-and-swap for a whole word, which is 64
/// bits wide where that is lock-free and 32 bits elsewhere. On chips without any compare-and-swap
/// (Cortex-M0, RV32I without A) each exchange masks interrupts for about a dozen instructions, by the
/// backend that the binary selects for `portable-atomic`; its `critical-section` masks them for loads
/// as well, `unsafe-assume-single-core` does not.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, Outcome, window::Failures};
///
/// let window = Failures::<5>::new(5, 10_000)?;
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
#[derive(Debug)]
pub struct Breaker<W, C, O = ()> {
    state: Word,
    window: W,
    config: Config,
    /// Starts at the instance's seed and steps with each call while recovering. Jitter and the ramp
    /// draw their numbers from it.
    sequence: Word,
    clock: C,
    observer: O,
}

impl<W, C> Breaker<W, C> {
    const_unless_loom! {
        /// A closed breaker that tells no one of its transitions.
        pub const fn new(window: W, config: Config, clock: C) -> Self {
            Self::with_observer(window, config, clock, ())
        }
    }
}

impl<W, C, O> Breaker<W, C, O> {
    const_unless_loom! {
        /// A closed breaker that tells `observer` of each transition.
        pub const fn with_observer(window: W, config: Config, clock: C, observer: O) -> Self {
            Self {
                state: Word::new(State::NEW.raw()),
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

    #[inline]
    fn load(&self) -> State {
        // Relaxed: the state word stands alone.
        State::from_raw(self.state.load(Ordering::Relaxed))
    }

    /// The load that may lead into an exchange, see [`Word::first_load`].
    #[inline]
    fn first_load(&self) -> State {
        // Relaxed: the state word stands alone.
        State::from_raw(self.state.first_load(Ordering::Relaxed))
    }
}

impl<W: Window, C, O> Breaker<W, C, O> {
    /// The configuration as it stands: the one that the breaker was made with, unless its window is
    /// [`Adjustable`](crate::window::Adjustable) and was given another.
    #[inline]
    pub fn config(&self) -> Config {
        self.window.config().unwrap_or(self.config)
    }

    /// The span that bounds how far ahead an open state's time may lie.
    fn open_span_of(&self, state: State) -> Span {
        if state.open_time_was_asked() {
            self.config().longest_open_span()
        } else {
            self.config().open_span(state.streak())
        }
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
        let state = self.load();
        let half_open = state.phase() == Phase::HalfOpen;
        let count = |field: u8| if half_open { field } else { 0 };
        Snapshot {
            phase: state.phase(),
            observing: state.is_observing(),
            generation: state.generation(),
            streak: state.streak(),
            time_left_ms: self.time_left_ms(state),
            in_flight: count(state.in_flight()),
            succeeded: count(state.succeeded()),
            failed: count(state.failed()),
        }
    }

    fn time_left_ms(&self, state: State) -> Option<u32> {
        match state.phase() {
            Phase::Open | Phase::HalfOpen | Phase::Recovering => {
                self.time_left_at(state, self.now())
            }
            Phase::Closed | Phase::Isolated | Phase::Disabled => None,
        }
    }

    fn time_left_at(&self, state: State, now: Raw) -> Option<u32> {
        match state.phase() {
            Phase::Open => {
                let span = self.open_span_of(state);
                Some(state.open_time_left(now, span).ms(span))
            }
            Phase::HalfOpen if state.in_flight() > 0 => {
                let lease = self.config().lease();
                Some(state.lease_left(now, lease).ms(lease))
            }
            Phase::Recovering => {
                let ramp = self.config().ramp();
                Some(ramp.ms().saturating_sub(state.ramp_elapsed(now, ramp)))
            }
            Phase::HalfOpen | Phase::Closed | Phase::Isolated | Phase::Disabled => None,
        }
    }

    #[inline]
    fn now(&self) -> Raw {
        self.clock.now_ms() as Raw
    }

    #[inline]
    fn call(&self, generation: u16) -> Call<'_, C> {
        Call::new(&self.state, &self.clock, generation)
    }

    /// Every change of the state word is made here: one exchange, and where that was a transition the
    /// observer is told. Steps within a phase have no cause, or one that is not needed. Returns what
    /// the word holds instead where another move came first.
    fn step(&self, from: State, to: State, cause: Option<Cause>) -> Result<(), State> {
        // Relaxed: the state word stands alone.
        self.state
            .exchange(from.raw(), to.raw(), Ordering::Relaxed, Ordering::Relaxed)
            .map_err(State::from_raw)?;
        let moved = from.generation() != to.generation() || from.phase() != to.phase();
        match cause {
            Some(cause) if moved => self.tell(from, to, cause),
            _ => {}
        }
        Ok(())
    }

    #[cold]
    fn tell(&self, from: State, to: State, cause: Cause) {
        if from.generation() != to.generation() {
            self.window.sweep_if_due(&self.call(to.generation()));
        }
        if !O::LISTENS {
            return;
        }
        let at_ms = self.clock.now_ms();
        let open_for_ms = match to.phase() {
            Phase::Open => self.time_left_at(to, at_ms as Raw).unwrap_or(0),
            _ => 0,
        };
        self.observer.transition(&Transition {
            generation: to.generation(),
            from: from.phase(),
            to: to.phase(),
            cause,
            at_ms,
            open_for_ms,
            streak: to.streak(),
        });
    }

    /// The loop around [`step`](Self::step): load; decide; step or look again. Returns whether a
    /// step was taken. Lock-free: a step is refused only where another one was taken.
    fn step_by(
        &self,
        cause: Option<Cause>,
        mut decide: impl FnMut(State) -> Option<State>,
    ) -> bool {
        let mut seen = self.first_load();
        while let Some(next) = decide(seen) {
            match self.step(seen, next, cause) {
                Ok(()) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    /// What `state` becomes when its window says trip or its probes failed: open for the backoff's
    /// time less jitter.
    fn tripped(&self, state: State, now: Raw) -> State {
        self.opened(state, now, false, |streak| {
            let span = self.config().open_span(streak);
            span.deadline(now, self.jittered(span.ms(), now))
        })
    }

    /// What `state` becomes when it opens until what `retry_at` makes of the streak, or held by the
    /// latch.
    #[inline]
    fn opened(
        &self,
        state: State,
        now: Raw,
        asked: bool,
        retry_at: impl FnOnce(u8) -> Raw,
    ) -> State {
        if self.config().latch() {
            return state.isolated();
        }
        let streak = state.streak_after_trip(now, self.config().flap());
        state.opened(Opening {
            streak,
            retry_at: retry_at(streak),
            asked,
        })
    }

    /// `ms` less a random part of at most the configured jitter; never below 1.
    fn jittered(&self, ms: u32, now: Raw) -> u32 {
        let most = self.config().jitter();
        if most == 0 {
            return ms;
        }
        // Relaxed: any value that was ever there will do.
        let seed = self.sequence.load(Ordering::Relaxed) as u32;
        let random = (mixed(seed ^ now as u32) >> 16) as u16;
        let part = part_of(most, random) as u16;
        ms.saturating_sub(part_of(ms, part)).max(1)
    }
}

/// `value` × `fraction` / 2¹⁶, rounded down, without a product of 64 bits, which small chips lack.
const fn part_of(value: u32, fraction: u16) -> u32 {
    let (high, low) = (value >> 16, value & 0xFFFF);
    high * fraction as u32 + ((low * fraction as u32) >> 16)
}

/// Spreads the bits of `value`: the finalizer of MurmurHash3 (Appleby, public domain).
const fn mixed(value: u32) -> u32 {
    let mut hash = value;
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85EB_CA6B);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xC2B2_AE35);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests;
