//! May this call be made?

use crate::breaker::opening::part_of;
use crate::permit::Kind;
use crate::state::{Left, State};
use crate::sync::Ordering;
use crate::window::Window;
use crate::{Breaker, Cause, Clock, Config, Observer, Permit, Phase, Rejected, Token};

/// What came of one look at the state: how the call's outcome is judged, or that it is rejected and the
/// milliseconds after which to ask again; or a state to look at.
type Look = Result<Result<Kind, Option<u32>>, State>;

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
            return Ok(Permit::new(self, Token::new(state, Kind::Counted)));
        }
        unlikely();
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
        let answer = self.decide(state, |state, config| {
            let look = if matches!(state.phase(), Phase::Open | Phase::HalfOpen) {
                self.admit_probe(state, config)?
            } else if W::RAMPS && state.phase() == Phase::Recovering {
                self.admit_in_ramp(state, config)?
            } else if state.phase() == Phase::Isolated {
                Err(None)
            } else {
                Ok(if state.judges_by_window() { Kind::Counted } else { Kind::Uncounted })
            };
            Ok(match look {
                Ok(kind) => Ok(Token::new(state, kind)),
                Err(_) if state.is_in_shadow() => Ok(Token::new(state, Kind::Uncounted)),
                Err(retry_after_ms) => Err(Rejected::new(state.phase(), state.generation(), retry_after_ms)),
            })
        });
        answer.inspect_err(|rejected| self.observer.rejected(rejected))
    }

    fn admit_probe(&self, state: State, config: &Config) -> Look {
        let is_open = state.phase() == Phase::Open;
        match self.left(state, config) {
            Left::Pending(ms) if is_open || state.in_flight() >= config.max_probes() => {
                return Ok(Err(Some(ms)));
            }
            // The clock was set back: wait a whole open time from here, once. Set back again it is due,
            // since a clock that comes round looks the same.
            Left::Beyond => {
                return self.begin(state, state.set_anew(), None, config).and_then(Err);
            }
            Left::Due if !is_open && state.in_flight() > 0 => {
                return self.fail(state, Cause::ProbesLost, config).and_then(Err);
            }
            _ => {}
        }
        let next = state.probe_admitted();
        let cause = is_open.then_some(Cause::OpenTimeOver);
        let stepped = if config.max_probes() == 1 || next.in_flight() == 1 {
            self.begin(state, next, cause, config)
        } else {
            self.step(state, next, cause, None, config)
        };
        stepped.map(|_| Ok(Kind::Probe))
    }

    fn admit_in_ramp(&self, state: State, config: &Config) -> Look {
        let ramp_ms = config.ramp_ms();
        let left_ms = self.left_ms(state, config);
        if left_ms == 0 {
            return self.begin(state, state.closed(), Some(Cause::RampOver), config).and_then(Err);
        }
        // Relaxed: the calls only need different numbers.
        let number = self.sequence.step(Ordering::Relaxed) as u32;
        Ok(if is_in_share(number, ramp_ms - left_ms, ramp_ms) {
            Ok(Kind::Counted)
        } else {
            Err(Some(left_ms))
        })
    }
}

/// Tells the compiler to keep the way to this call out of the healthy path's.
#[inline]
#[cold]
const fn unlikely() {}

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
