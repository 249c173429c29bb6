//! Breakers in memory that belongs to the caller.
//!
//! A breaker lies behind a mark: one word that says that there is a breaker, of which kind, and that it
//! is where it was put. Memory that was never initialised, or was copied, has another word there and is
//! refused. (Memory that holds anything at all passes by chance once in a billion.)
//!
//! # Orderings
//!
//! The mark is stored with release after the breaker was written, and loaded with acquire before it is
//! used: who finds the mark finds the whole breaker.

use core::ffi::c_void;

use nanobreaker_core::window::Window;
use nanobreaker_core::{Breaker, Clock};
use portable_atomic::{AtomicU32, Ordering};

#[cfg(feature = "consecutive")]
use nanobreaker_core::window::Consecutive;
#[cfg(feature = "cusum")]
use nanobreaker_core::window::Cusum;
#[cfg(feature = "failures")]
use nanobreaker_core::window::Failures;

use crate::numbers::*;

/// Memory for one breaker of any kind, which is yours: a static, a part of a structure, from the heap.
/// It must be zero, or at least not hold a breaker, when it is initialised. It must neither be copied
/// nor be moved afterwards.
#[repr(C, align(8))]
pub struct Nanobreaker {
    /// The library's own.
    opaque: [u8; NANOBREAKER_SIZE],
}

/// A clock that is a function of C.
pub(crate) struct ForeignClock {
    pub(crate) now_ms: unsafe extern "C" fn(*mut c_void) -> u64,
    pub(crate) context: *mut c_void,
}

impl Clock for ForeignClock {
    #[inline]
    fn now_ms(&self) -> u64 {
        // SAFETY: the caller promises that the clock may be called with this context by whoever uses
        // the breaker.
        unsafe { (self.now_ms)(self.context) }
    }
}

/// What lies in initialised memory.
#[repr(C)]
struct Place<W: Window> {
    mark: AtomicU32,
    breaker: Breaker<W, ForeignClock>,
}

/// A window that a breaker from C can have.
pub(crate) trait Kind: Window + Sized {
    /// The kind's number in the mark.
    const NUMBER: u32;
    /// The bytes that callers know of.
    const SIZE: usize;
    /// Fails to compile where a breaker needs other memory than callers know of.
    const FITS: () = {
        let size = size_of::<Place<Self>>();
        assert!(size <= Self::SIZE, "larger than its constant says");
        // Short pointers beside wide words leave some bytes over.
        assert!(Self::SIZE - size < 16, "smaller than its constant says");
        assert!(Self::SIZE <= NANOBREAKER_SIZE);
        assert!(align_of::<Place<Self>>() <= NANOBREAKER_ALIGN);
        assert!(Self::NUMBER != CLAIMED && Self::NUMBER <= LARGEST_NUMBER);
    };
}

/// A ring of failures whose threshold is chosen at run time.
#[cfg(feature = "failures")]
pub(crate) type Ring = Failures<NANOBREAKER_MAX_THRESHOLD>;

#[cfg(feature = "failures")]
impl Kind for Ring {
    const NUMBER: u32 = 1;
    const SIZE: usize = NANOBREAKER_SIZE;
}

#[cfg(feature = "consecutive")]
impl Kind for Consecutive {
    const NUMBER: u32 = 2;
    const SIZE: usize = NANOBREAKER_CONSECUTIVE_SIZE;
}

#[cfg(feature = "cusum")]
impl Kind for Cusum {
    const NUMBER: u32 = 3;
    const SIZE: usize = NANOBREAKER_CUSUM_SIZE;
}

/// In the mark in place of a kind: somebody is writing the breaker.
const CLAIMED: u32 = 0;
const LARGEST_NUMBER: u32 = 3;

/// The mark of this address, but for the kind in its two lowest bits. Its third bit is set, so that no
/// mark is zero.
fn seal_of(address: usize) -> u32 {
    (0x6E62_726B ^ address as u32) & !7 | 4
}

/// A breaker that was found in memory.
pub(crate) enum Found<'a> {
    #[cfg(feature = "failures")]
    Failures(&'a Breaker<Ring, ForeignClock>),
    #[cfg(feature = "consecutive")]
    Consecutive(&'a Breaker<Consecutive, ForeignClock>),
    #[cfg(feature = "cusum")]
    Cusum(&'a Breaker<Cusum, ForeignClock>),
}

/// The breaker in this memory, or the number of the error.
#[inline]
pub(crate) unsafe fn find<'a>(memory: *const Nanobreaker) -> Result<Found<'a>, i32> {
    usable(memory)?;
    // SAFETY: the caller promises that memory which is neither null nor misaligned is a breaker's, of at
    // least the mark's size.
    let mark = unsafe { &*memory.cast::<AtomicU32>() }.load(Ordering::Acquire);
    // SAFETY: the mark says that a breaker of this kind was written here, and the caller promises that
    // nobody has written anything else here since.
    unsafe {
        match mark ^ seal_of(memory as usize) {
            #[cfg(feature = "failures")]
            Ring::NUMBER => Ok(Found::Failures(&(*memory.cast::<Place<_>>()).breaker)),
            #[cfg(feature = "consecutive")]
            Consecutive::NUMBER => Ok(Found::Consecutive(&(*memory.cast::<Place<_>>()).breaker)),
            #[cfg(feature = "cusum")]
            Cusum::NUMBER => Ok(Found::Cusum(&(*memory.cast::<Place<_>>()).breaker)),
            _ => Err(NANOBREAKER_ERROR_NOT_INITIALISED),
        }
    }
}

/// What a function returns: the number of the error where there is no breaker in `$memory`, else
/// `$answer` of the breaker, whatever its kind.
macro_rules! ask {
    ($memory:expr, |$breaker:ident| $answer:expr) => {
        // SAFETY: the caller promises what the crate's documentation says of memory.
        match unsafe { $crate::memory::find($memory) } {
            #[cfg(feature = "failures")]
            Ok($crate::memory::Found::Failures($breaker)) => $answer,
            #[cfg(feature = "consecutive")]
            Ok($crate::memory::Found::Consecutive($breaker)) => $answer,
            #[cfg(feature = "cusum")]
            Ok($crate::memory::Found::Cusum($breaker)) => $answer,
            Err(error) => error,
        }
    };
}
pub(crate) use ask;

/// Puts a breaker into memory of this size that holds none.
pub(crate) unsafe fn put<W: Kind>(
    memory: *mut Nanobreaker,
    size: usize,
    breaker: Breaker<W, ForeignClock>,
) -> Result<(), i32> {
    const { W::FITS };
    usable(memory)?;
    if size < W::SIZE {
        return Err(NANOBREAKER_ERROR_TOO_SMALL);
    }
    let seal = seal_of(memory as usize);
    let place = memory.cast::<Place<W>>();
    // SAFETY: the memory is as large and as aligned as a breaker of this kind needs. Only who claims the
    // mark writes what is behind it, and nobody reads that before the mark tells a kind.
    unsafe {
        let mark = &(*place).mark;
        // Relaxed: nothing else is read.
        let seen = mark.load(Ordering::Relaxed);
        if seen ^ seal <= LARGEST_NUMBER {
            return Err(NANOBREAKER_ERROR_IN_USE);
        }
        // Acquire: pairs with the release of `nanobreaker_end`, so that the last use of an old breaker
        // comes before the new one is written. Relaxed: nothing else is read.
        mark.compare_exchange(seen, seal ^ CLAIMED, Ordering::Acquire, Ordering::Relaxed)
            .map_err(|_| NANOBREAKER_ERROR_IN_USE)?;
        (&raw mut (*place).breaker).write(breaker);
        mark.store(seal ^ W::NUMBER, Ordering::Release);
    }
    Ok(())
}

/// Ends a breaker: its memory may be freed, or initialised again. Nobody may be using it, or use it
/// afterwards. Statics that live for ever need no end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_end(breaker: *mut Nanobreaker) -> i32 {
    ask!(breaker, |_found| {
        // SAFETY: there is a breaker, and so a mark.
        let mark = unsafe { &*breaker.cast::<AtomicU32>() };
        mark.store(0, Ordering::Release);
        NANOBREAKER_OK
    })
}

/// An error where a pointer is null or misaligned.
#[inline]
pub(crate) fn usable<T>(pointer: *const T) -> Result<(), i32> {
    if pointer.is_null() {
        Err(NANOBREAKER_ERROR_NULL)
    } else if !pointer.is_aligned() {
        Err(NANOBREAKER_ERROR_MISALIGNED)
    } else {
        Ok(())
    }
}
