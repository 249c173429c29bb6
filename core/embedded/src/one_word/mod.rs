//! A breaker of one word, for chips with a few kilobytes of flash.
//!
//! Everything that it decides by lies in one word of 32 bits, see [`state`]. A call loads it, computes what
//! follows, and exchanges it; so every move is done or not done. All its accesses are relaxed: the word
//! stands alone and orders no other memory.
//!
//! It is open or half-open for the same time, so that one rule reads both: the first call after that time
//! is a probe, and takes the word over for its lease.

mod state;

use core::fmt;

use nanobreaker_core::{Clock, Outcome, Phase, Recorded, Rejected, Token};

use crate::sync::{Ordering, Word, const_unless_loom};
use state::{MAX_THRESHOLD, SPAN_DIGITS, State, TIME_BITS};

/// The shortest open time: its units of a sixteenth are 4 ms, in which 30 bits hold every reading of the
/// clock.
const SHORTEST_MS: u32 = (1 << (SPAN_DIGITS - 1)) << (u32::BITS - TIME_BITS);
/// The longest one, as the core's: 18.6 hours.
const LONGEST_MS: u32 = 1 << 26;

/// A breaker for the smallest chips: `THRESHOLD` failures with no success between them open it for
/// `OPEN_FOR_MS` milliseconds, then one probe decides.
///
/// It takes 4 bytes of RAM beside the clock and a sixth of the flash of a
/// [`Breaker`](nanobreaker_core::Breaker). It keeps the same promises: no failure is lost or counted twice,
/// at most one probe is under way, an outcome of an earlier round changes nothing, and whatever is lost or
/// stalls, a probe is admitted again. It has no backoff, no observer, no operator's switches, no other
/// window.
///
/// While it is closed `allow_token` is one load, and `record` of a success one more. No store, no clock read.
/// A rejection is a load and a clock read, and writes nothing. Any thread or interrupt may call it at once.
/// On a chip without a compare-and-swap each access is a critical section, as with any breaker.
///
/// The guards of `guarded` take it in the place of a breaker:
///
#[cfg_attr(feature = "embedded-hal", doc = "```")]
#[cfg_attr(not(feature = "embedded-hal"), doc = "```ignore")]
/// use embedded_hal::i2c::I2c;
/// use nanobreaker_embedded::OneWordBreaker;
/// use nanobreaker_embedded::clock::ClockFn;
/// use nanobreaker_embedded::guarded::Guarded;
/// # fn milliseconds_since_reset() -> u64 { 0 }
///
/// // 3 failures in a row open it for 5 s. Numbers outside their limits do not compile.
/// static SENSOR: OneWordBreaker<3, 5_000, ClockFn> =
///     OneWordBreaker::new(ClockFn::new(|| milliseconds_since_reset()));
///
/// fn guarded<B: I2c>(i2c: B) -> impl I2c {
///     Guarded::new(i2c, &SENSOR) // any embedded-hal driver takes it
/// }
/// ```
///
/// # The probe
///
/// | its outcome | the breaker |
/// | ----------- | ----------- |
/// | [`Success`](Outcome::Success) | is closed |
/// | [`Failure`](Outcome::Failure), [`SlowFailure`](Outcome::SlowFailure), [`Slow`](Outcome::Slow) | is open for an open time again |
/// | [`Ignored`](Outcome::Ignored) | admits the next call as a probe |
/// | [`Cancelled`](Outcome::Cancelled), or none | waits for the rest of the open time that began with the probe, then admits another one |
///
/// # Limits
///
/// * `THRESHOLD` is from 1 to 1,024, `OPEN_FOR_MS` from 64 to 67,108,864 (18.6 hours).
/// * An open time ends up to a sixteenth late, never early.
/// * Of the clock the low 32 bits are used. Where it is set back the breaker stays open for at most a
///   quarter longer than an open time from then on, or asks at once.
/// * Numbers of generations come round after 65,536 open times. An outcome that comes a multiple of so many
///   late would be taken for a fresh one, and so may one from before the clock was set back. A new breaker is
///   in the generation of time 0: an outcome from before its first trip would be taken for one of the round
///   that the clock is in while it wraps.
///
/// ```compile_fail
/// use nanobreaker_core::ManualClock;
/// use nanobreaker_embedded::OneWordBreaker;
///
/// // An open time of 50 ms is too short.
/// static SENSOR: OneWordBreaker<3, 50, ManualClock> = OneWordBreaker::new(ManualClock::new(0));
/// ```
pub struct OneWordBreaker<const THRESHOLD: u32, const OPEN_FOR_MS: u32, C> {
    word: Word,
    clock: C,
}

impl<const THRESHOLD: u32, const OPEN_FOR_MS: u32, C> OneWordBreaker<THRESHOLD, OPEN_FOR_MS, C> {
    /// An open time has 16 to 31 units of 2 to this power milliseconds.
    const SHIFT: u32 = u32::BITS - OPEN_FOR_MS.leading_zeros() - SPAN_DIGITS;
    /// A unit but a millisecond.
    const REST: u32 = (1 << Self::SHIFT) - 1;
    /// The furthest that a time may lie ahead. A fresh one is rounded up, and who reads it may have a clock
    /// that is behind the writer's, by up to an eighth. What lies further ahead was set before the clock
    /// was set back.
    const FURTHEST: u32 = {
        let units = OPEN_FOR_MS.div_ceil(1 << Self::SHIFT);
        units + 1 + units / 8
    };

    const_unless_loom! {
        /// A closed breaker.
        pub const fn new(clock: C) -> Self {
            const {
                assert!(THRESHOLD >= 1 && THRESHOLD <= MAX_THRESHOLD, "THRESHOLD must be from 1 to 1024");
                assert!(
                    OPEN_FOR_MS >= SHORTEST_MS && OPEN_FOR_MS <= LONGEST_MS,
                    "OPEN_FOR_MS must be from 64 to 67108864"
                );
            }
            Self { word: Word::new(State::NEW.raw()), clock }
        }
    }

    /// The clock.
    pub const fn clock(&self) -> &C {
        &self.clock
    }

    /// The phase that the breaker is in: closed, open or half-open. One that is open stays so until the
    /// next call, also after its time is over.
    pub fn phase(&self) -> Phase {
        // Relaxed: see the module.
        State::from_raw(self.word.load(Ordering::Relaxed)).phase()
    }

    #[inline]
    fn first_load(&self) -> State {
        // Relaxed: see the module.
        State::from_raw(self.word.first_load(Ordering::Relaxed))
    }

    /// The only move: from a state to the next one, or what the state is instead.
    #[inline]
    fn step(&self, from: State, to: State) -> Result<(), State> {
        // Relaxed: see the module.
        self.word.exchange(from.raw(), to.raw(), Ordering::Relaxed).map_err(State::from_raw)
    }
}

impl<const THRESHOLD: u32, const OPEN_FOR_MS: u32, C: Clock> OneWordBreaker<THRESHOLD, OPEN_FOR_MS, C> {
    /// Asks for the right to make one call. The token must be recorded; that of a probe which is not holds
    /// its place for one open time.
    ///
    /// # Errors
    ///
    /// [`Rejected`] where the call must not be made.
    #[inline]
    pub fn allow_token(&self) -> Result<Token, Rejected> {
        let state = self.first_load();
        if state.is_closed() { Ok(state.token()) } else { self.probe(state) }
    }

    /// Any state but closed.
    #[cold]
    fn probe(&self, mut state: State) -> Result<Token, Rejected> {
        while !state.is_closed() {
            // Read after the state was loaded: a time that was just set is then not further ahead than it
            // may be.
            let now = self.now();
            if let Some(left) = Self::left_ms(state, now) {
                return Err(Rejected::new(state.phase(), state.generation(), Some(left)));
            }
            let probing = State::half_open(Self::deadline(now));
            match self.step(state, probing) {
                Ok(()) => return Ok(probing.token()),
                Err(other) => state = other,
            }
        }
        Ok(state.token())
    }

    /// Takes in how the call with this token ended.
    pub fn record(&self, token: Token, outcome: Outcome) -> Recorded {
        let mut state = self.first_load();
        loop {
            let (next, recorded) = match self.after(state, token, outcome) {
                (Some(next), recorded) => (next, recorded),
                (None, recorded) => return recorded,
            };
            match self.step(state, next) {
                Ok(()) => return recorded,
                Err(other) => state = other,
            }
        }
    }

    /// What an outcome makes of a state, if it changes it.
    #[inline]
    fn after(&self, state: State, token: Token, outcome: Outcome) -> (Option<State>, Recorded) {
        if !state.awaits(token) {
            return (None, Recorded::Stale);
        }
        match outcome {
            Outcome::Success if state == state.closed() => (None, Recorded::Counted),
            Outcome::Success => (Some(state.closed()), Recorded::Counted),
            Outcome::Failure | Outcome::SlowFailure | Outcome::Slow => {
                let trips = !state.is_closed() || state.failures() + 1 >= THRESHOLD;
                let next = if trips { State::open(Self::deadline(self.now())) } else { state.failed() };
                (Some(next), Recorded::Counted)
            }
            // An open time that ends now.
            Outcome::Ignored if !state.is_closed() => {
                (Some(State::open(self.now() >> Self::SHIFT)), Recorded::Ignored)
            }
            Outcome::Ignored | Outcome::Cancelled => (None, Recorded::Ignored),
        }
    }

    fn now(&self) -> u32 {
        self.clock.now_ms() as u32
    }

    /// The end of an open time that begins now, rounded up to a unit.
    const fn deadline(now: u32) -> u32 {
        now.wrapping_add(OPEN_FOR_MS + Self::REST) >> Self::SHIFT
    }

    /// Milliseconds until the state's time is over; `None` where it is.
    const fn left_ms(state: State, now: u32) -> Option<u32> {
        let ahead = state.until().wrapping_sub(now >> Self::SHIFT) & (u32::MAX >> Self::SHIFT);
        if ahead == 0 || ahead > Self::FURTHEST {
            return None;
        }
        Some((ahead << Self::SHIFT) - (now & Self::REST))
    }
}

/// Shows what the word says; reads no clock.
impl<const THRESHOLD: u32, const OPEN_FOR_MS: u32, C> fmt::Debug
    for OneWordBreaker<THRESHOLD, OPEN_FOR_MS, C>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OneWordBreaker").field("phase", &self.phase()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(nanobreaker_loom)))]
mod tests;
