//! Before a call and after it.

use nanobreaker_core::{Outcome, Phase, Recorded, Token};

use crate::memory::{Nanobreaker, ask, usable};
use crate::numbers::*;

/// Asks for the right to make one call. NANOBREAKER_OK: make the call, and spend the token with
/// `nanobreaker_record`. NANOBREAKER_REJECTED: do not make it; asking again makes sense after
/// `retry_after_ms` milliseconds (NANOBREAKER_NEVER: not before a reset).
///
/// `retry_after_ms` may be null, and is written only where the call is rejected. `token` is
/// NANOBREAKER_NO_TOKEN then, and where the answer is an error.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_allow(
    breaker: *mut Nanobreaker,
    token: *mut u32,
    retry_after_ms: *mut u32,
) -> i32 {
    if let Err(error) = usable(token) {
        return error;
    }
    // SAFETY: the caller promises that it may be written, and it is neither null nor misaligned.
    unsafe { token.write(NANOBREAKER_NO_TOKEN) };
    if !retry_after_ms.is_null() {
        if let Err(error) = usable(retry_after_ms) {
            return error;
        }
    }
    ask!(breaker, |found| match found.allow_token() {
        Ok(admitted) => {
            // SAFETY: as above.
            unsafe { token.write(admitted.to_bits()) };
            NANOBREAKER_OK
        }
        Err(rejected) => {
            if !retry_after_ms.is_null() {
                let ms = rejected.retry_after_ms().unwrap_or(NANOBREAKER_NEVER);
                // SAFETY: the caller promises that it may be written, and it is not misaligned.
                unsafe { retry_after_ms.write(ms) };
            }
            NANOBREAKER_REJECTED
        }
    })
}

/// Spends a token with the outcome of its call, one of NANOBREAKER_OUTCOME_...; answers with one of
/// NANOBREAKER_RECORDED_... Each token is to be spent once, with the breaker that it came from. A probe
/// whose token is never spent holds its place until `probe_lease_ms` is over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_record(breaker: *mut Nanobreaker, token: u32, outcome: u32) -> i32 {
    let outcome = match outcome {
        NANOBREAKER_OUTCOME_SUCCESS => Outcome::Success,
        NANOBREAKER_OUTCOME_SLOW => Outcome::Slow,
        NANOBREAKER_OUTCOME_FAILURE => Outcome::Failure,
        NANOBREAKER_OUTCOME_SLOW_FAILURE => Outcome::SlowFailure,
        NANOBREAKER_OUTCOME_IGNORED => Outcome::Ignored,
        NANOBREAKER_OUTCOME_CANCELLED => Outcome::Cancelled,
        _ => return NANOBREAKER_ERROR_OUTCOME,
    };
    if token == NANOBREAKER_NO_TOKEN {
        return NANOBREAKER_ERROR_TOKEN;
    }
    ask!(breaker, |found| {
        match found.record(Token::from_bits(token), outcome) {
            Recorded::Counted => NANOBREAKER_RECORDED_COUNTED,
            Recorded::Ignored => NANOBREAKER_RECORDED_IGNORED,
            Recorded::Stale => NANOBREAKER_RECORDED_STALE,
        }
    })
}

/// A breaker at one moment: the fields belong together.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NanobreakerSnapshot {
    /// One of NANOBREAKER_PHASE_...
    pub phase: i32,
    /// Milliseconds until the open time, the lease of the probes in flight or the ramp is over; 0 when it
    /// is, NANOBREAKER_NEVER in phases that no time ends.
    pub time_left_ms: u32,
    /// 1 if the breaker is open but its time is over, so that the next call is admitted as a probe.
    pub ready_to_probe: u32,
    /// 1 if the breaker judges but never rejects.
    pub in_shadow: u32,
    /// Steps on entering open, isolated or disabled, and by every reset; wraps.
    pub generation: u32,
    /// How often in a row it tripped again without having stayed healthy: 0 after a first trip.
    pub streak: u32,
    /// Probes in flight, while half-open.
    pub in_flight: u32,
    /// Probes that succeeded in this half-open round.
    pub succeeded: u32,
    /// Probes that failed in this half-open round.
    pub failed: u32,
}

/// Takes a snapshot. It makes no transition.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_snapshot(
    breaker: *const Nanobreaker,
    snapshot: *mut NanobreakerSnapshot,
) -> i32 {
    if let Err(error) = usable(snapshot) {
        return error;
    }
    ask!(breaker, |found| {
        let taken = found.snapshot();
        let written = NanobreakerSnapshot {
            phase: number_of(taken.phase),
            time_left_ms: taken.time_left_ms.unwrap_or(NANOBREAKER_NEVER),
            ready_to_probe: taken.ready_to_probe().into(),
            in_shadow: taken.in_shadow.into(),
            generation: taken.generation.into(),
            streak: taken.streak.into(),
            in_flight: taken.in_flight.into(),
            succeeded: taken.succeeded.into(),
            failed: taken.failed.into(),
        };
        // SAFETY: the caller promises that it may be written, and it is neither null nor misaligned.
        unsafe { snapshot.write(written) };
        NANOBREAKER_OK
    })
}

/// The phase: one of NANOBREAKER_PHASE_... An open breaker whose time is over is still open until the
/// next call; a snapshot tells.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_phase(breaker: *const Nanobreaker) -> i32 {
    ask!(breaker, |found| number_of(found.phase()))
}

const fn number_of(phase: Phase) -> i32 {
    match phase {
        Phase::Closed => NANOBREAKER_PHASE_CLOSED,
        Phase::Open => NANOBREAKER_PHASE_OPEN,
        Phase::HalfOpen => NANOBREAKER_PHASE_HALF_OPEN,
        Phase::Recovering => NANOBREAKER_PHASE_RECOVERING,
        Phase::Isolated => NANOBREAKER_PHASE_ISOLATED,
        Phase::Disabled => NANOBREAKER_PHASE_DISABLED,
    }
}
