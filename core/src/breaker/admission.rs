//! May this call be made?

use core::borrow::Borrow;

use crate::breaker::insist;
use crate::breaker::opening::part_of;
use crate::breaker::timing::begun;
use crate::permit::Kind;
use crate::state::{Left, State};
use crate::sync::{Ordering, WIDE};
use crate::window::Window;
use crate::{Breaker, Cause, Clock, Config, Observer, Permit, Phase, Rejected, Token};

/// What came of one look at the state: the call's answer, or a state to look at.
type Look = Result<Result<Token, Rejected>, State>;

impl<W: Window, C: Clock, O: Observer> Breaker<W, C, O> {
    /// Asks for the right to make one call.
    ///
    /// The permit gives its place back when it is dropped without an outcome. One load while closed;
    /// a rejection while open costs a load and a clock read and writes nothing (but once after the clock
    /// was set back, or after the thread that opened it died in the middle of that); a probe costs one
    /// exchange.
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
        // A short way to the most frequent rejection. Small chips do without it, since it costs flash.
        if WIDE {
            if let Some(ms) = self.shut_for_ms(state) {
                return Err(self.rejected(state, Some(ms)));
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
        self.allow().map(Permit::into_token)
    }

    /// Any state but the healthy one.
    #[cold]
    fn admit(&self, state: State) -> Result<Token, Rejected> {
        insist(state, |state| {
            let config = self.config_in(state)?;
            let config = config.borrow();
            match state.phase() {
                Phase::Recovering if W::RAMPS => self.admit_in_ramp(state, config),
                Phase::Closed | Phase::Recovering => Ok(Ok(token(state, Kind::Counted))),
                Phase::Disabled => Ok(Ok(token(state, Kind::Uncounted))),
                Phase::Isolated => Ok(self.reject(state, None)),
                Phase::Open | Phase::HalfOpen => self.admit_probe(state, config),
            }
        })
    }

    fn reject(&self, state: State, retry_after_ms: Option<u32>) -> Result<Token, Rejected> {
        if state.is_in_shadow() {
            Ok(token(state, Kind::Uncounted))
        } else {
            Err(self.rejected(state, retry_after_ms))
        }
    }

    #[inline]
    fn rejected(&self, state: State, retry_after_ms: Option<u32>) -> Rejected {
        let rejected = Rejected { phase: state.phase(), generation: state.generation(), retry_after_ms };
        self.observer.rejected(&rejected);
        rejected
    }

    /// The milliseconds for which an open breaker surely rejects; `None` where that needs more than a look.
    #[cold]
    fn shut_for_ms(&self, state: State) -> Option<u32> {
        if state.phase() != Phase::Open || state.is_in_shadow() {
            return None;
        }
        match self.left(state, &self.now(), self.config_in(state).ok()?.borrow()) {
            Left::Pending(ms) => Some(ms),
            Left::Due | Left::Beyond => None,
        }
    }

    fn admit_probe(&self, state: State, config: &Config) -> Look {
        let is_open = state.phase() == Phase::Open;
        // Read after the state was loaded: a deadline that a trip has just set is then never further ahead
        // than its span, unless the clock was set back.
        let now = &self.now();
        match self.left(state, now, config) {
            Left::Pending(ms) if is_open || state.in_flight() >= config.max_probes() => {
                return Ok(self.reject(state, Some(ms)));
            }
            // The clock was set back: wait a whole open time from here, once. Set back again it is due,
            // since a clock that comes round looks the same.
            Left::Beyond => {
                let anew = begun(state.set_anew(), now, config);
                return self.step(state, anew, None, Some(now), config).and(Err(anew));
            }
            Left::Due if !is_open && state.in_flight() > 0 => {
                let open = self.tripped(state, now, config);
                return self.step(state, open, Some(Cause::ProbesLost), Some(now), config).and(Err(open));
            }
            _ => {}
        }
        let mut next = state.probe_admitted();
        let is_first = next.in_flight() == 1;
        if is_first {
            next = begun(next, now, config);
        }
        // Made before the step: should the observer panic, its drop gives the place back. Where the step
        // is refused there is nothing to give back.
        let permit = Permit::new(self, token(next, Kind::Probe));
        let cause = is_open.then_some(Cause::OpenTimeOver);
        let stepped = self.step(state, next, cause, is_first.then_some(now), config);
        let token = permit.into_token();
        stepped.map(|()| Ok(token))
    }

    fn admit_in_ramp(&self, state: State, config: &Config) -> Look {
        let now = &self.now();
        let ramp_ms = config.ramp_ms();
        let left_ms = self.left_ms(state, now, config);
        if left_ms == 0 {
            let closed = begun(state.closed(), now, config);
            return self.step(state, closed, Some(Cause::RampOver), Some(now), config).and(Err(closed));
        }
        // Relaxed: the calls only need different numbers.
        let number = self.sequence.step(Ordering::Relaxed) as u32;
        Ok(if is_in_share(number, ramp_ms - left_ms, ramp_ms) {
            Ok(token(state, Kind::Counted))
        } else {
            self.reject(state, Some(left_ms))
        })
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
                let passed =
                    (0..100).filter(|n| is_in_share(u32::wrapping_add(start, *n), elapsed, 100)).count();
                assert!(passed.abs_diff(elapsed as usize) <= 2, "{passed} of {elapsed}");
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
