//! The one place that names atomics and decides how wide they are.
//!
//! Everything that breakers share between threads and interrupts is a [`Word`]:
//! 64 bits wide where the target exchanges 64 bits without a lock, 32 bits wide elsewhere.
//! A 64-bit word on a 32-bit chip would fall back to spin locks, and an interrupt that spins on a
//! lock held by the code it interrupted hangs for ever; so that fallback is never used.
//!
//! Three switches serve the project's own tests. No user's build sets them.
//!
//! | switch | effect |
//! | ------ | ------ |
//! | `cfg(nanobreaker_loom)` | the words are loom's |
//! | `cfg(nanobreaker_first_read_writes)` | the first read of an exchange loop is a read-modify-write: loom then explores interleavings that it otherwise prunes |
//! | `cfg(nanobreaker_weak_fails)` | every weak exchange fails twice before it is tried, as on chips with load-linked words |

pub(crate) use core::sync::atomic::Ordering;

/// Whether words are 64 bits wide on this target.
pub(crate) const WIDE: bool = cfg!(all(target_has_atomic = "64", not(nanobreaker_narrow)));

/// A word's plain value.
#[cfg(all(target_has_atomic = "64", not(nanobreaker_narrow)))]
pub(crate) type Raw = u64;
/// A word's plain value.
#[cfg(not(all(target_has_atomic = "64", not(nanobreaker_narrow))))]
pub(crate) type Raw = u32;

/// The same with a sign.
#[cfg(all(target_has_atomic = "64", not(nanobreaker_narrow)))]
pub(crate) type Signed = i64;
/// The same with a sign.
#[cfg(not(all(target_has_atomic = "64", not(nanobreaker_narrow))))]
pub(crate) type Signed = i32;

#[cfg(nanobreaker_loom)]
use loom::sync::atomic as atomics;
#[cfg(not(nanobreaker_loom))]
use portable_atomic as atomics;

#[cfg(all(target_has_atomic = "64", not(nanobreaker_narrow)))]
type Atomic = atomics::AtomicU64;
#[cfg(not(all(target_has_atomic = "64", not(nanobreaker_narrow))))]
type Atomic = atomics::AtomicU32;

type Atomic32 = atomics::AtomicU32;

/// An atomic that is never modelled: for clocks of tests, which are told what to show.
pub(crate) type Unmodelled32 = portable_atomic::AtomicU32;

pub(crate) use atomics::fence;

portable_atomic::cfg_no_atomic_cas! {
    compile_error!(
        "nanobreaker-core needs compare-and-swap, which this chip lacks: let the binary depend on \
         portable-atomic with its feature `critical-section` (and provide a critical section, for \
         instance cortex-m's `critical-section-single-core`, or on the two cores of an RP2040 \
         rp2040-hal's `critical-section-impl`), or, on a single core where masking interrupts is \
         allowed, with `unsafe-assume-single-core`. On an ESP32-C2 or C3 esp-hal selects one of them"
    );
}

portable_atomic::cfg_no_atomic_32! {
    compile_error!(
        "nanobreaker-core needs atomics of 32 bits, which this chip (AVR, MSP430) lacks: let the \
         binary depend on portable-atomic with its feature `fallback`, which masks interrupts"
    );
}

#[cfg(all(target_has_atomic = "ptr", not(target_has_atomic = "32")))]
compile_error!(
    "nanobreaker-core needs a 32-bit compare-and-swap that is always lock-free; this target would \
     emulate it with a lock that can spin for ever against an interrupt"
);

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

/// An array of `N` of the same expression, each evaluated anew: in a constant, except under loom.
#[cfg(not(nanobreaker_loom))]
macro_rules! array_of {
    ($element:expr; $n:expr) => {
        [const { $element }; $n]
    };
}
#[cfg(nanobreaker_loom)]
macro_rules! array_of {
    ($element:expr; $n:expr) => {
        core::array::from_fn::<_, { $n }, _>(|_| $element)
    };
}
pub(crate) use array_of;

/// The orderings of an exchange, which must be known when it is compiled: those that arrive as
/// arguments bring a check along, and its panic. So every function that takes one is always inlined
/// (or, like `update`, made anew for each use).
///
/// Where an exchange is a critical section it is the same at every ordering. There the compiler,
/// when it optimizes for size alone, shares one out-of-line exchange, so all must name the same.
#[inline(always)]
const fn ordered(stored: Ordering, refused: Ordering) -> (Ordering, Ordering) {
    if cfg!(any(target_has_atomic = "32", nanobreaker_loom)) {
        (stored, refused)
    } else {
        (Ordering::AcqRel, Ordering::Acquire)
    }
}

/// A shared word.
#[derive(Debug, Default)]
pub struct Word {
    value: Atomic,
    #[cfg(nanobreaker_weak_fails)]
    attempts: Unmodelled32,
}

impl Word {
    const_unless_loom! {
        /// A word that holds `value`.
        pub(crate) const fn new(value: Raw) -> Self {
            Self {
                value: Atomic::new(value),
                #[cfg(nanobreaker_weak_fails)]
                attempts: Unmodelled32::new(0),
            }
        }
    }

    const_unless_loom! {
        /// `N` words that hold zero.
        pub(crate) const fn zeroes<const N: usize>() -> [Self; N] {
            array_of!(Self::new(0); N)
        }
    }

    /// A plain load.
    #[inline(always)]
    pub(crate) fn load(&self, order: Ordering) -> Raw {
        self.value.load(order)
    }

    /// The first load of an exchange loop, or of what may lead into one.
    #[inline(always)]
    pub(crate) fn first_load(&self, order: Ordering) -> Raw {
        #[cfg(not(nanobreaker_first_read_writes))]
        return self.value.load(order);
        // Adds nothing: only the kind of access matters, loom tracks it better than a load's.
        #[cfg(nanobreaker_first_read_writes)]
        return self.value.fetch_add(0, order);
    }

    /// [`first_load`](Self::first_load) off the healthy path.
    // One that masks interrupts takes more bytes than a call.
    #[cfg_attr(any(target_has_atomic = "32", nanobreaker_loom), inline(always))]
    #[cfg_attr(not(any(target_has_atomic = "32", nanobreaker_loom)), inline(never))]
    pub(crate) fn first_look(&self, order: Ordering) -> Raw {
        self.first_load(ordered(order, order).1)
    }

    /// [`load`](Self::load) off the healthy path.
    // As above.
    #[cfg_attr(any(target_has_atomic = "32", nanobreaker_loom), inline(always))]
    #[cfg_attr(not(any(target_has_atomic = "32", nanobreaker_loom)), inline(never))]
    pub(crate) fn look(&self, order: Ordering) -> Raw {
        self.load(ordered(order, order).1)
    }

    /// Stores `new` if the word still holds `seen`; else returns what it holds.
    /// May fail without cause, so it belongs into a loop.
    // One that masks interrupts takes more bytes than a call.
    #[cfg_attr(any(target_has_atomic = "32", nanobreaker_loom), inline(always))]
    #[cfg_attr(not(any(target_has_atomic = "32", nanobreaker_loom)), inline(never))]
    pub(crate) fn exchange(
        &self,
        seen: Raw,
        new: Raw,
        stored: Ordering,
        refused: Ordering,
    ) -> Result<(), Raw> {
        let (stored, refused) = ordered(stored, refused);
        #[cfg(nanobreaker_weak_fails)]
        if self.attempts.fetch_add(1, Ordering::Relaxed) % 3 != 2 {
            return Err(self.value.load(refused));
        }
        self.value.compare_exchange_weak(seen, new, stored, refused).map(|_| ())
    }

    /// Adds one, wrapping, and returns the value before.
    #[inline(always)]
    pub(crate) fn step(&self, order: Ordering) -> Raw {
        self.value.fetch_add(1, order)
    }

    /// Stores `value`.
    #[inline(always)]
    pub(crate) fn store(&self, value: Raw, order: Ordering) {
        self.value.store(value, order);
    }
}

/// A number of 32 bits in a settings cell, whatever the width of words.
///
/// Relaxed: the cell's readers and its writer are ordered by fences, see `window::adjustable`.
#[derive(Debug)]
pub(crate) struct Number(Atomic32);

impl Number {
    const_unless_loom! {
        /// A number that is `value`.
        pub(crate) const fn new(value: u32) -> Self {
            Self(Atomic32::new(value))
        }
    }

    const_unless_loom! {
        /// `N` numbers that are zero.
        pub(crate) const fn zeroes<const N: usize>() -> [Self; N] {
            array_of!(Self::new(0); N)
        }
    }

    #[inline]
    pub(crate) fn load(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn store(&self, value: u32) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// A flag that one caller at a time may hold.
#[derive(Debug)]
pub(crate) struct Flag(Atomic32);

impl Flag {
    const_unless_loom! {
        /// A flag that nobody holds.
        pub(crate) const fn new() -> Self {
            Self(Atomic32::new(0))
        }
    }

    /// Takes the flag; `None` where somebody holds it. It is given back when the answer is dropped.
    ///
    /// The exchange is a strong one: a weak one may fail without cause, which would look like a
    /// holder.
    pub(crate) fn take(&self) -> Option<Held<'_>> {
        // Acquire: pairs with the release of the drop, so that this holder sees all of the last one.
        self.0
            .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
            // Not `then_some`: a `Held` that nobody has would give the flag back when it is dropped.
            .then(|| Held(self))
    }
}

/// A [`Flag`] in one's hold.
pub(crate) struct Held<'a>(&'a Flag);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // Release: pairs with the acquire of `take`.
        self.0.0.store(0, Ordering::Release);
    }
}
