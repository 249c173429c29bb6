//! The one place that names atomics and decides how wide they are.
//!
//! Everything that breakers share between threads and interrupts is a [`Word`]:
//! 64 bits wide where the target exchanges 64 bits without a lock, 32 bits wide elsewhere.
//! A 64-bit word on a 32-bit chip would fall back to spin locks, and an interrupt that spins on a
//! lock held by the code it interrupted hangs for ever; so that fallback is never used.
//!
//! Under `cfg(loom)` the same words are loom's, and with `cfg(loom_first_read_writes)` the first
//! read of each exchange loop is a read-modify-write, which makes loom explore interleavings that
//! it otherwise prunes.

pub(crate) use core::sync::atomic::Ordering;

/// Whether words are 64 bits wide on this target.
pub(crate) const WIDE: bool = cfg!(all(target_has_atomic = "64", not(nanobreaker_narrow)));

/// A word's plain value.
#[cfg(all(target_has_atomic = "64", not(nanobreaker_narrow)))]
pub(crate) type Raw = u64;
/// A word's plain value.
#[cfg(not(all(target_has_atomic = "64", not(nanobreaker_narrow))))]
pub(crate) type Raw = u32;

#[cfg(all(not(loom), target_has_atomic = "64", not(nanobreaker_narrow)))]
type Atomic = portable_atomic::AtomicU64;
#[cfg(all(not(loom), not(all(target_has_atomic = "64", not(nanobreaker_narrow)))))]
type Atomic = portable_atomic::AtomicU32;
#[cfg(all(loom, not(nanobreaker_narrow)))]
type Atomic = loom::sync::atomic::AtomicU64;
#[cfg(all(loom, nanobreaker_narrow))]
type Atomic = loom::sync::atomic::AtomicU32;

#[cfg(not(loom))]
type Atomic32 = portable_atomic::AtomicU32;
#[cfg(loom)]
type Atomic32 = loom::sync::atomic::AtomicU32;

/// An atomic that is never modelled: for clocks of tests, which are told what to show.
pub(crate) type Unmodelled32 = portable_atomic::AtomicU32;

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::fence;

#[cfg(loom)]
pub(crate) use loom::sync::atomic::fence;

portable_atomic::cfg_no_atomic_cas! {
    compile_error!(
        "nanobreaker-core needs compare-and-swap, which this chip lacks: let the binary depend on \
         portable-atomic with its feature `critical-section` (and provide a critical section, for \
         instance cortex-m's `critical-section-single-core`), or, on a single core where masking \
         interrupts is allowed, with `unsafe-assume-single-core`"
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
        #[cfg(not(loom))]
        $(#[$attribute])* $visibility const fn $($rest)*
        #[cfg(loom)]
        $(#[$attribute])* $visibility fn $($rest)*
    };
}
pub(crate) use const_unless_loom;

/// An array of `N` of the same expression, each evaluated anew: in a constant, except under loom.
#[cfg(not(loom))]
macro_rules! array_of {
    ($element:expr; $n:expr) => {
        [const { $element }; $n]
    };
}
#[cfg(loom)]
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
    if cfg!(any(target_has_atomic = "32", loom)) {
        (stored, refused)
    } else {
        (Ordering::AcqRel, Ordering::Acquire)
    }
}

/// A shared word.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Word(Atomic);

impl Word {
    const_unless_loom! {
        /// A word that holds `value`.
        pub(crate) const fn new(value: Raw) -> Self {
            Self(Atomic::new(value))
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
        self.0.load(order)
    }

    /// The first load of an exchange loop, or of what may lead into one.
    #[inline(always)]
    pub(crate) fn first_load(&self, order: Ordering) -> Raw {
        #[cfg(not(loom_first_read_writes))]
        return self.0.load(order);
        // Adds nothing: only the kind of access matters, loom tracks it better than a load's.
        #[cfg(loom_first_read_writes)]
        return self.0.fetch_add(0, order);
    }

    /// Stores `new` if the word still holds `seen`; else returns what it holds.
    /// May fail without cause, so it belongs into a loop.
    #[inline(always)]
    pub(crate) fn exchange(
        &self,
        seen: Raw,
        new: Raw,
        stored: Ordering,
        refused: Ordering,
    ) -> Result<(), Raw> {
        let (stored, refused) = ordered(stored, refused);
        self.0
            .compare_exchange_weak(seen, new, stored, refused)
            .map(|_| ())
    }

    /// Adds one, wrapping, and returns the value before.
    #[inline(always)]
    pub(crate) fn step(&self, order: Ordering) -> Raw {
        self.0.fetch_add(1, order)
    }

    /// Stores `value`.
    #[inline(always)]
    pub(crate) fn store(&self, value: Raw, order: Ordering) {
        self.0.store(value, order);
    }

    /// The one loop over compare-exchange: load; decide; exchange or look again.
    ///
    /// `decide` gets what the word holds and answers with the value to store, or breaks with an
    /// answer that needs no store. Returns the pair (before, after) of the exchange that took place.
    /// Lock-free: an exchange fails only where another thread's took place (or, on chips with
    /// load-linked words, where an interrupt came between).
    #[inline]
    pub(crate) fn update<Answer>(
        &self,
        stored: Ordering,
        loaded: Ordering,
        mut decide: impl FnMut(Raw) -> core::ops::ControlFlow<Answer, Raw>,
    ) -> core::ops::ControlFlow<Answer, (Raw, Raw)> {
        let mut seen = self.first_load(loaded);
        loop {
            let new = match decide(seen) {
                core::ops::ControlFlow::Continue(new) => new,
                core::ops::ControlFlow::Break(answer) => {
                    return core::ops::ControlFlow::Break(answer);
                }
            };
            match self.exchange(seen, new, stored, loaded) {
                Ok(()) => return core::ops::ControlFlow::Continue((seen, new)),
                Err(now) => seen = now,
            }
        }
    }
}

/// A setting that may be replaced while others read it: 32 bits, whatever the width of words.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Setting(Atomic32);

impl Setting {
    const_unless_loom! {
        /// A setting that holds `value`.
        pub(crate) const fn new(value: u32) -> Self {
            Self(Atomic32::new(value))
        }
    }

    /// What it holds, and with it whatever was stored before it.
    #[inline]
    pub(crate) fn load(&self) -> u32 {
        // Acquire: pairs with the release of `store`.
        self.0.load(Ordering::Acquire)
    }

    /// Replaces it, after whatever was stored before.
    pub(crate) fn store(&self, value: u32) {
        // Release: pairs with the acquire of `load`.
        self.0.store(value, Ordering::Release);
    }

    /// Sets it to 1 if it holds 0; returns whether it did.
    pub(crate) fn take(&self) -> bool {
        // Acquire: pairs with the release of the `store` that gave it back.
        self.0
            .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }
}

/// Counts the half turns of a tick counter.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct HalfTurns(Atomic32);

impl HalfTurns {
    const_unless_loom! {
        /// No half turn yet.
        pub(crate) const fn new() -> Self {
            Self(Atomic32::new(0))
        }
    }

    /// The half turns that were seen.
    #[inline(always)]
    pub(crate) fn load(&self, order: Ordering) -> u32 {
        #[cfg(not(loom_first_read_writes))]
        return self.0.load(order);
        // See `Word::first_load`.
        #[cfg(loom_first_read_writes)]
        return self.0.fetch_add(0, order);
    }

    /// One more than `seen`, unless somebody counted it before.
    #[inline(always)]
    pub(crate) fn step_from(&self, seen: u32, order: Ordering) {
        // Relaxed: where the exchange is refused nothing is read from it.
        let (stored, refused) = ordered(order, Ordering::Relaxed);
        let _ = self
            .0
            .compare_exchange(seen, seen.wrapping_add(1), stored, refused);
    }
}
