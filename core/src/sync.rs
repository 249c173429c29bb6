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

#[cfg(nanobreaker_loom)]
use loom::sync::atomic as atomics;
#[cfg(not(nanobreaker_loom))]
use portable_atomic as atomics;

/// A word's plain value, the same with a sign, and the word.
#[cfg(not(all(target_has_atomic = "64", not(nanobreaker_narrow))))]
pub(crate) use {atomics::AtomicU32 as Atomic, core::primitive::i32 as Signed, core::primitive::u32 as Raw};
/// A word's plain value, the same with a sign, and the word.
#[cfg(all(target_has_atomic = "64", not(nanobreaker_narrow)))]
pub(crate) use {atomics::AtomicU64 as Atomic, core::primitive::i64 as Signed, core::primitive::u64 as Raw};

/// Whether words are 64 bits wide on this target.
pub(crate) const WIDE: bool = Raw::BITS == 64;

/// An atomic that is never modelled: for clocks of tests, which are told what to show.
pub(crate) type Unmodelled32 = portable_atomic::AtomicU32;

pub(crate) use atomics::fence;

portable_atomic::cfg_no_atomic_cas! {
    compile_error!(
        "nanobreaker-core needs compare-and-swap, which this chip lacks: let the binary depend on \
         portable-atomic with its feature `critical-section` or, on a single core where masking interrupts \
         is allowed, `unsafe-assume-single-core`. The crate's documentation says what else each chip needs"
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
macro_rules! array_of {
    ($element:expr; $n:expr) => {{
        #[cfg(not(nanobreaker_loom))]
        let array = [const { $element }; $n];
        #[cfg(nanobreaker_loom)]
        let array = core::array::from_fn::<_, { $n }, _>(|_| $element);
        array
    }};
}
pub(crate) use array_of;

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
        // Adds nothing: only the kind of access matters, loom tracks it better than a load's.
        if cfg!(nanobreaker_first_read_writes) { self.value.fetch_add(0, order) } else { self.load(order) }
    }

    /// [`first_load`](Self::first_load) off the healthy path, with acquire, as words of windows need it.
    // One that masks interrupts takes more bytes than a call.
    #[cfg_attr(not(any(target_has_atomic = "32", nanobreaker_loom)), inline(never))]
    pub(crate) fn first_look(&self) -> Raw {
        self.first_load(Ordering::Acquire)
    }

    /// A relaxed load off the healthy path.
    #[inline]
    pub(crate) fn look(&self) -> Raw {
        // One that masks interrupts orders all memory anyway. So one function, out of line, serves both kinds.
        if cfg!(any(target_has_atomic = "32", nanobreaker_loom)) {
            self.load(Ordering::Relaxed)
        } else {
            self.first_look()
        }
    }

    /// Stores `new` if the word still holds `seen`; else returns what it holds.
    /// May fail without cause, so it belongs in a loop.
    ///
    /// Release and, where it is refused, acquire: words of windows need both (see `window::tagged`), the
    /// flip of settings the first. The others need neither. They take them along, since where an exchange is
    /// a critical section all share one that is out of line.
    // One that masks interrupts takes more bytes than a call.
    #[cfg_attr(any(target_has_atomic = "32", nanobreaker_loom), inline(always))]
    #[cfg_attr(not(any(target_has_atomic = "32", nanobreaker_loom)), inline(never))]
    pub(crate) fn exchange(&self, seen: Raw, new: Raw) -> Result<(), Raw> {
        #[cfg(nanobreaker_weak_fails)]
        if self.attempts.fetch_add(1, Ordering::Relaxed) % 3 != 2 {
            return Err(self.load(Ordering::Acquire));
        }
        self.value.compare_exchange_weak(seen, new, Ordering::Release, Ordering::Acquire).map(|_| ())
    }

    /// Takes a word that is a flag, which one caller at a time may hold: zero while nobody does. `None` where
    /// somebody holds it. It is given back when the answer is dropped.
    pub(crate) fn hold(&self) -> Option<Held<'_>> {
        // Acquire: pairs with the release of the drop, so that this holder sees all of the last one. A strong
        // exchange: a weak one may fail without cause, which would look like a holder.
        // Not `then_some`: a `Held` that nobody has would give the flag back when it is dropped.
        self.value.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok().then(|| Held(self))
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

/// A [`Word`] in one's hold.
pub(crate) struct Held<'a>(&'a Word);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // Release: pairs with the acquire of `hold`.
        self.0.store(0, Ordering::Release);
    }
}
