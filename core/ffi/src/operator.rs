//! What people, and dependencies that say when they will be back, can ask. Where a function may have
//! nothing to do it answers 1 if it changed anything and 0 if it did not.

use crate::memory::{Nanobreaker, ask};
use crate::numbers::NANOBREAKER_OK;

/// Trips the breaker as if its window had. Answers 1 if it opened; one that is open, isolated or
/// disabled stays as it is: 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_trip(breaker: *mut Nanobreaker) -> i32 {
    ask!(breaker, |found| found.trip().into())
}

/// Opens the breaker for the time that the dependency itself asked for, at most for `max_open_ms`. One
/// that is open already stays open for that long from now, if that is later. Answers 1 if anything
/// changed; an isolated or disabled breaker stays as it is: 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_trip_for(breaker: *mut Nanobreaker, ms: u32) -> i32 {
    ask!(breaker, |found| found.trip_for_ms(ms.into()).into())
}

/// Opens the breaker on hearsay: others found the dependency broken. At most for twice `max_open_ms` and
/// ten seconds. Only a breaker that is closed or recovering opens; one that is open stays open for that
/// long from now, if that is later. Answers 1 if anything changed, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_advise(breaker: *mut Nanobreaker, ms: u32) -> i32 {
    ask!(breaker, |found| found.advise_ms(ms.into()).into())
}

/// Ends an open time: the next call is a probe. Answers 1 if anything changed, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_recover(breaker: *mut Nanobreaker) -> i32 {
    ask!(breaker, |found| found.recover().into())
}

/// Holds the breaker open until a reset, whatever comes. Answers 1 if anything changed, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_isolate(breaker: *mut Nanobreaker) -> i32 {
    ask!(breaker, |found| found.isolate().into())
}

/// Lets all calls pass and judges none, until a reset. Answers 1 if anything changed, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_disable(breaker: *mut Nanobreaker) -> i32 {
    ask!(breaker, |found| found.disable().into())
}

/// The dependency is repaired: closed, with an empty window and no streak. Tokens given out before are
/// stale from here on. Shadow stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_reset(breaker: *mut Nanobreaker) -> i32 {
    ask!(breaker, |found| {
        found.reset();
        NANOBREAKER_OK
    })
}

/// Switches shadow on, or off where `on` is 0. In shadow the breaker judges as ever, but rejects no one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_shadow(breaker: *mut Nanobreaker, on: i32) -> i32 {
    ask!(breaker, |found| {
        found.shadow(on != 0);
        NANOBREAKER_OK
    })
}

/// Gives this breaker a random number of its own, so that jitter and the ramp's pattern differ between
/// the members of a fleet: a serial number, a hardware random number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_seed(breaker: *mut Nanobreaker, seed: u32) -> i32 {
    ask!(breaker, |found| {
        found.seed(seed);
        NANOBREAKER_OK
    })
}
