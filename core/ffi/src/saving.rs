//! Keeps the state over a reset of the chip, or of the process.

use nanobreaker_core::RestoreError;

use crate::memory::{Nanobreaker, ask, usable};
use crate::numbers::*;

/// The state as an integer, to be kept over a reset of the chip (in retained memory, in flash) and given
/// to `nanobreaker_restore` afterwards: phase, shadow, streak and what is left of an open time. The same
/// on every chip.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_save(breaker: *const Nanobreaker, saved: *mut u64) -> i32 {
    if let Err(error) = usable(saved) {
        return error;
    }
    ask!(breaker, |found| {
        // SAFETY: the caller promises that it may be written, and it is neither null nor misaligned.
        unsafe { saved.write(found.save()) };
        NANOBREAKER_OK
    })
}

/// Puts the breaker into a state that was saved `slept_ms` milliseconds ago. Where the integer is no
/// saved state it answers with an error, and the breaker stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_restore(breaker: *mut Nanobreaker, saved: u64, slept_ms: u64) -> i32 {
    ask!(breaker, |found| match found.restore(saved, slept_ms) {
        Ok(()) => NANOBREAKER_OK,
        Err(RestoreError::Version { .. }) => NANOBREAKER_ERROR_VERSION,
        Err(_) => NANOBREAKER_ERROR_DAMAGED,
    })
}
