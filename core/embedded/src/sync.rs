//! The one place of this crate that names atomics.
//!
//! A [`Word`] has 32 bits on every target. Three switches serve the project's own tests, as in the core: no
//! user's build sets them.
//!
//! | switch | effect |
//! | ------ | ------ |
//! | `cfg(nanobreaker_loom)` | the words are loom's |
//! | `cfg(nanobreaker_first_read_writes)` | the first read of an exchange loop is a read-modify-write: loom then explores interleavings that it otherwise prunes |
//! | `cfg(nanobreaker_weak_fails)` | every exchange fails twice before it is tried, as on chips with load-linked words |

pub(crate) use core::sync::atomic::Ordering;

#[cfg(not(nanobreaker_loom))]
pub(crate) use core::sync::atomic::fence;
#[cfg(nanobreaker_loom)]
pub(crate) use loom::sync::atomic::fence;

#[cfg(nanobreaker_loom)]
use loom::sync::atomic::AtomicU32;
#[cfg(not(nanobreaker_loom))]
use portable_atomic::AtomicU32;

/// Declares a function `const`, except under loom, whose atomics can't be built in constants.
macro_rules! const_unless_loom {
    ($(#[$attribute:meta])* $visibility:vis const fn $($rest:tt)*) => {
        #[cfg(not(nanobreaker_loom))]
        $(#[$attribute])* $visibility const fn $($rest)*
        #[cfg(nanobreaker_loom)]
        $(#[$attribute])* $visibility fn $($rest)*
    };
}
pub(crate) use const_unless_loom;

/// A shared word.
#[derive(Debug)]
pub(crate) struct Word {
    value: AtomicU32,
    #[cfg(nanobreaker_weak_fails)]
    attempts: portable_atomic::AtomicU32,
}

impl Word {
    const_unless_loom! {
        /// A word that holds `value`.
        pub(crate) const fn new(value: u32) -> Self {
            Self {
                value: AtomicU32::new(value),
                #[cfg(nanobreaker_weak_fails)]
                attempts: portable_atomic::AtomicU32::new(0),
            }
        }
    }

    /// A plain load.
    #[inline(always)]
    pub(crate) fn load(&self, order: Ordering) -> u32 {
        self.value.load(order)
    }

    /// Stores `value`.
    #[cfg(feature = "embedded-time")]
    #[inline(always)]
    pub(crate) fn store(&self, value: u32, order: Ordering) {
        self.value.store(value, order);
    }

    /// The first load of an exchange loop, or of what may lead into one.
    #[inline(always)]
    pub(crate) fn first_load(&self, order: Ordering) -> u32 {
        #[cfg(not(nanobreaker_first_read_writes))]
        return self.value.load(order);
        // Adds nothing: only the kind of access matters, loom tracks it better than a load's.
        #[cfg(nanobreaker_first_read_writes)]
        return self.value.fetch_add(0, order);
    }

    /// Stores `new` if the word still holds `seen`; else returns what it holds.
    /// May fail without cause, so it belongs in a loop. What is refused orders nothing.
    #[inline(always)]
    pub(crate) fn exchange(&self, seen: u32, new: u32, stored: Ordering) -> Result<(), u32> {
        // An exchange that is a critical section is the same at every ordering. The compiler may share one
        // function for all of a program's, the core's too, so all name the orderings that the core names.
        let (stored, refused) = if cfg!(any(target_has_atomic = "32", nanobreaker_loom)) {
            (stored, Ordering::Relaxed)
        } else {
            (Ordering::AcqRel, Ordering::Acquire)
        };
        #[cfg(nanobreaker_weak_fails)]
        if self.attempts.fetch_add(1, Ordering::Relaxed) % 3 != 2 {
            return Err(self.value.load(refused));
        }
        self.value.compare_exchange_weak(seen, new, stored, refused).map(|_| ())
    }
}
