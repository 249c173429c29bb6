//! May this call be made?

use crate::breaker::{Breaker, part_of};
use crate::clock::Clock;
use crate::observer::{Cause, Observer};
use crate::permit::{Kind, Permit, Token};
use crate::phase::Phase;
use crate::rejected::Rejected;
use crate::state::{Left, State};
use crate::sync::{Ordering, Raw, WIDE};
use crate::window::Window;

/// What one look at the state says about a call.
enum Look {
    /// It passes, and was counted where it must be.
    Pass(Token),
    /// It is rejected, unless the breaker observes.
    Reject(Option<u32>),
    /// The state changed under this look, which is what it holds now.
    Again(State),
}

impl<W: Window, C: Clock, O: Observer> Breaker<W, C, O> {
    /// Asks for the right to make one call.
    ///
    /// The permit gives its place back when it is dropped without an outcome. One load while closed;
    /// a rejection while open costs a load and a clock read and writes nothing (unless the clock was
    /// set back, which it repairs); a probe costs one exchange.
    ///
    /// # Errors
    ///
    /// [`Rejected`] where the call must not be made.
    #[inline]
    pub fn allow(&self) -> Result<Permit<'_, W, C, O>, Rejected> {
        let state = self.first_load();
        if state.is_healthy() {
            return Ok(Permit::new(self, token(state, Kind::Counted)));
        }
        unlikely();
        // Where words are narrow, so is flash: there `admit` gives these answers, too.
        if WIDE {
            if state.is_held() {
                return Err(self.reject(state, None));
            }
            let left = state.is_shut().then(|| self.still_shut_for(state));
            if let Some(left) = left.flatten() {
                return Err(self.reject(state, Some(left)));
            }
        }
        // A token, not a permit: were this call's result returned as it is, the healthy path's would
        // have to lie in memory, too.
        match self.admit(state) {
            Ok(token) => Ok(Permit::new(self, token)),
            Err(rejected) => Err(rejected),
        }
    }

    /// [`allow`](Self::allow) for code that can't hold a guard: the token must be recorded, or a
    /// probe's place is lost until the lease ends.
    ///
    /// # Errors
    ///
    /// [`Rejected`] where the call must not be made.
    #[inline]
    pub fn allow_token(&self) -> Result<Token, Rejected> {
        self.allow().map(Token::from)
    }

    #[inline]
    fn reject(&self, state: State, retry_after_ms: Option<u32>) -> Rejected {
        let rejected = Rejected {
            phase: state.phase(),
            generation: state.generation(),
            retry_after_ms,
        };
        self.observer.rejected(&rejected);
        rejected
    }

    /// Any state but the healthy one.
    #[cold]
    fn admit(&self, mut state: State) -> Result<Token, Rejected> {
        loop {
            match self.look(state) {
                Look::Pass(token) => return Ok(token),
                Look::Again(now) => state = now,
                Look::Reject(_) if state.is_observing() => {
                    return Ok(token(state, Kind::Uncounted));
                }
                Look::Reject(retry_after_ms) => return Err(self.reject(state, retry_after_ms)),
            }
        }
    }

    fn look(&self, state: State) -> Look {
        match state.phase() {
            Phase::Closed => Look::Pass(token(state, Kind::Counted)),
            Phase::Disabled => Look::Pass(token(state, Kind::Uncounted)),
            Phase::Isolated => Look::Reject(None),
            // The clock is read after the state was loaded: a deadline that a trip has just set is
            // then never further ahead than its span, unless the clock was set back.
            Phase::Open => self.look_while_open(state, self.now()),
            Phase::HalfOpen => self.look_while_half_open(state, self.now()),
            Phase::Recovering => self.look_while_recovering(state, self.now()),
        }
    }

    /// The milliseconds until a probe may go; `None` where that needs more than a look. An answer in
    /// registers, without what the other states need: an overloaded server asks for nothing else.
    #[cold]
    fn still_shut_for(&self, state: State) -> Option<u32> {
        match self.open_time_left(state, self.now()) {
            Left::Pending(ms) => Some(ms),
            Left::Due | Left::Beyond => None,
        }
    }

    #[inline]
    fn open_time_left(&self, state: State, now: Raw) -> Left {
        state.open_time_left(now, self.open_span_of(state))
    }

    fn look_while_open(&self, state: State, now: Raw) -> Look {
        match self.open_time_left(state, now) {
            Left::Pending(ms) => Look::Reject(Some(ms)),
            Left::Due => {
                let lease_ends = self.config().lease().late_deadline(now);
                self.probe(
                    state,
                    state.half_opened(lease_ends),
                    Some(Cause::OpenTimeOver),
                )
            }
            // The clock was set back: wait a whole span from here, not longer.
            Left::Beyond => {
                let span = self.open_span_of(state);
                let retry_at = span.deadline(now, span.ms());
                let nearer = state.postponed(retry_at, state.open_time_was_asked());
                self.again(state, nearer, None)
            }
        }
    }

    fn look_while_half_open(&self, state: State, now: Raw) -> Look {
        let lease = self.config().lease();
        let lease_ends = lease.late_deadline(now);
        let left = match state.lease_left(now, lease) {
            Left::Due if state.in_flight() > 0 => {
                return self.again(state, self.tripped(state, now), Some(Cause::ProbesLost));
            }
            Left::Beyond if state.in_flight() > 0 => {
                return self.again(state, state.with_lease(lease_ends), None);
            }
            Left::Pending(ms) => ms,
            Left::Due | Left::Beyond => 0,
        };
        if state.in_flight() < self.config().probes() {
            self.probe(state, state.probe_admitted(lease_ends), None)
        } else {
            Look::Reject(Some(left))
        }
    }

    fn look_while_recovering(&self, state: State, now: Raw) -> Look {
        let ramp = self.config().ramp();
        let elapsed = state.ramp_elapsed(now, ramp);
        if elapsed >= ramp.ms() {
            let closed = state.closed(self.config().flap().units(now));
            return self.again(state, closed, Some(Cause::RampOver));
        }
        // Relaxed: the calls only need different numbers.
        let number = self.sequence.step(Ordering::Relaxed) as u32;
        if is_in_share(number, elapsed, ramp.ms()) {
            Look::Pass(token(state, Kind::Counted))
        } else {
            Look::Reject(Some(ramp.ms() - elapsed))
        }
    }

    /// Takes a step whose outcome has to be looked at again.
    fn again(&self, from: State, to: State, cause: Option<Cause>) -> Look {
        match self.step(from, to, cause) {
            Ok(()) => Look::Again(to),
            Err(now) => Look::Again(now),
        }
    }

    /// Takes a step that puts one more probe in flight.
    fn probe(&self, from: State, to: State, cause: Option<Cause>) -> Look {
        // Made before the step: should the observer panic, its drop gives the place back.
        let permit = Permit::new(self, token(to, Kind::Probe));
        let stepped = self.step(from, to, cause);
        let token = permit.into();
        match stepped {
            Ok(()) => Look::Pass(token),
            Err(now) => Look::Again(now),
        }
    }
}

/// Tells the compiler to keep the way to this call out of the healthy path's.
#[inline]
#[cold]
const fn unlikely() {}

/// The right to a call that is admitted in `state`.
#[inline]
fn token(state: State, kind: Kind) -> Token {
    Token::new(state.generation(), kind)
}

/// Whether the call with this number is in the share that may pass after `elapsed` of `ramp`.
///
/// Multiples of the golden ratio's fraction fill the unit interval as evenly as any sequence can
/// (Knuth, The Art of Computer Programming 3, 6.4, theorem S): of any hundred calls in a row a share
/// s passes s × 100, give or take three; of any million, give or take thirty.
fn is_in_share(number: u32, elapsed: u32, ramp: u32) -> bool {
    const GOLDEN: u32 = 0x9E37_79B9;
    let point = (number.wrapping_mul(GOLDEN) >> 16) as u16;
    // point / 2¹⁶ < elapsed / ramp, without the division.
    part_of(ramp, point) < elapsed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_that_passes_is_even_in_every_stretch_of_calls() {
        for elapsed in [1, 10, 33, 50, 90, 99] {
            for start in [0, 1_000, u32::MAX - 50] {
                let passed = (0..100)
                    .filter(|n| is_in_share(u32::wrapping_add(start, *n), elapsed, 100))
                    .count();
                assert!(
                    passed.abs_diff(elapsed as usize) <= 2,
                    "{passed} of {elapsed}"
                );
            }
        }
    }

    #[test]
    fn of_a_million_calls_the_share_passes_give_or_take_thirty() {
        for (elapsed, ramp) in [(1, 100), (333, 1_000), (5_000, 60_000), (59_999, 60_000)] {
            for start in [0, 12_345_678, u32::MAX - 500_000] {
                let passed = (0..1_000_000)
                    .filter(|n| is_in_share(u32::wrapping_add(start, *n), elapsed, ramp))
                    .count() as u64;
                let share = 1_000_000 * u64::from(elapsed) / u64::from(ramp);
                assert!(passed.abs_diff(share) <= 30, "{passed} of {share}");
            }
        }
    }

    #[test]
    fn nothing_passes_at_the_start_of_the_ramp() {
        assert!((0..1_000).all(|n| !is_in_share(n, 0, 100)));
    }
}
