//! Makes breakers, one function for each kind of window.

use nanobreaker_core::{Breaker, Config};

use crate::memory::{ForeignClock, Kind, Nanobreaker, put, usable};
use crate::numbers::*;
use crate::settings::{
    NanobreakerCusum, NanobreakerFault, NanobreakerSettings, Refusal, fault_of, opening_of,
};

/// Makes a breaker that opens on `threshold` failures within `within_ms` milliseconds. The threshold
/// is from 1 to NANOBREAKER_MAX_THRESHOLD, the time to 67108864 ms (18.6 hours).
///
/// `size` is `sizeof` the breaker's memory. Where a setting is refused, `fault` tells which one and
/// what is allowed; it may be null. Nothing is written to `breaker` unless the answer is NANOBREAKER_OK.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_init_failures(
    breaker: *mut Nanobreaker,
    size: usize,
    threshold: u32,
    within_ms: u32,
    settings: *const NanobreakerSettings,
    fault: *mut NanobreakerFault,
) -> i32 {
    #[cfg(feature = "failures")]
    // SAFETY: the caller promises what the crate's documentation says of pointers.
    return unsafe {
        init(breaker, size, settings, fault, || Ok(crate::memory::Ring::up_to(threshold, within_ms.into())?))
    };
    #[cfg(not(feature = "failures"))]
    not_built((breaker, size, threshold, within_ms, settings, fault))
}

/// Makes a breaker that opens on `threshold` failures with no success between them, however far apart
/// in time. The threshold is from 1 to 65535.
///
/// `size` is `sizeof` the breaker's memory, at least NANOBREAKER_CONSECUTIVE_SIZE. Where a setting is
/// refused, `fault` tells which one and what is allowed; it may be null. Nothing is written to `breaker`
/// unless the answer is NANOBREAKER_OK.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_init_consecutive(
    breaker: *mut Nanobreaker,
    size: usize,
    threshold: u32,
    settings: *const NanobreakerSettings,
    fault: *mut NanobreakerFault,
) -> i32 {
    #[cfg(feature = "consecutive")]
    // SAFETY: the caller promises what the crate's documentation says of pointers.
    return unsafe {
        init(breaker, size, settings, fault, || Ok(nanobreaker_core::window::Consecutive::new(threshold)?))
    };
    #[cfg(not(feature = "consecutive"))]
    not_built((breaker, size, threshold, settings, fault))
}

/// Makes a breaker that opens on evidence that the dependency is broken: failures weigh for it,
/// successes against it. The same settings are right at one call a minute and at a million a second.
///
/// `size` is `sizeof` the breaker's memory, at least NANOBREAKER_CUSUM_SIZE. Where a setting is refused,
/// `fault` tells which one and what is allowed; it may be null. Nothing is written to `breaker` unless
/// the answer is NANOBREAKER_OK. Neither `cusum` nor `settings` is needed afterwards.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_init_cusum(
    breaker: *mut Nanobreaker,
    size: usize,
    cusum: *const NanobreakerCusum,
    settings: *const NanobreakerSettings,
    fault: *mut NanobreakerFault,
) -> i32 {
    #[cfg(feature = "cusum")]
    // SAFETY: the caller promises what the crate's documentation says of pointers.
    return unsafe {
        init(breaker, size, settings, fault, || {
            usable(cusum)?;
            let NanobreakerCusum { calls_per_false_trip, normal_ppm, broken_ppm, sustained_for_ms } =
                cusum.read();
            let asked = nanobreaker_core::CusumSettings {
                normal_ppm,
                broken_ppm,
                calls_per_false_trip,
                sustained_for_ms,
            };
            Ok(nanobreaker_core::window::Cusum::new(asked)?)
        })
    };
    #[cfg(not(feature = "cusum"))]
    not_built((breaker, size, cusum, settings, fault))
}

/// Makes a breaker around the window that `window` makes.
unsafe fn init<W: Kind<Settings = Config>>(
    memory: *mut Nanobreaker,
    size: usize,
    settings: *const NanobreakerSettings,
    fault: *mut NanobreakerFault,
    window: impl FnOnce() -> Result<W, Refusal>,
) -> i32 {
    if !fault.is_null() {
        if let Err(error) = usable(fault) {
            return error;
        }
    }
    // SAFETY: the caller promises what the crate's documentation says of pointers.
    match unsafe { made(settings, window) } {
        // SAFETY: as above.
        Ok(breaker) => match unsafe { put(memory, size, breaker) } {
            Ok(()) => NANOBREAKER_OK,
            Err(error) => error,
        },
        Err(Refusal::Error(error)) => error,
        Err(Refusal::Setting(error)) => {
            if !fault.is_null() {
                // SAFETY: as above; it is neither null nor misaligned.
                unsafe { fault.write(fault_of(&error)) };
            }
            NANOBREAKER_ERROR_SETTING
        }
    }
}

unsafe fn made<W: Kind<Settings = Config>>(
    settings: *const NanobreakerSettings,
    window: impl FnOnce() -> Result<W, Refusal>,
) -> Result<Breaker<W, ForeignClock>, Refusal> {
    // SAFETY: the caller promises what the crate's documentation says of pointers.
    let (config, clock) = unsafe { opening_of(settings) }?;
    Ok(Breaker::new(window()?, config, clock))
}

/// The answer for a kind of window that was left out, whatever was asked.
#[cfg(not(all(feature = "failures", feature = "consecutive", feature = "cusum")))]
fn not_built<T>(_: T) -> i32 {
    NANOBREAKER_ERROR_NOT_BUILT
}
