//! Handles that cost nothing to copy: one that keeps its breaker for good, and one that keeps nothing.

use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use super::slot::{Guarded, SharedWindow, Slot};
use super::{Listeners, SharedBreaker, SharedClock};
use crate::call::{CallExt, Caller, Handle, Limits, call_calmly};
use crate::error::CallError;

/// A breaker that stays for the rest of the process; see [`SharedBreaker::pin`].
///
/// Copying it counts nothing, so threads share no counter: for services that are cloned for each call.
#[derive(Clone, Copy)]
pub struct PinnedBreaker {
    pub(super) slot: &'static Slot,
}

impl Deref for PinnedBreaker {
    type Target = Guarded;

    #[inline]
    fn deref(&self) -> &Guarded {
        &self.slot.breaker
    }
}

impl fmt::Debug for PinnedBreaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PinnedBreaker").field(&self.slot.breaker).finish()
    }
}

/// A breaker that somebody else owns, such as a registry: copied freely, and it keeps nothing alive.
///
/// Once its last owner is gone there is no breaker to ask any more, and calls pass unjudged. A registry
/// removes breakers that were idle for long and, when it is full, others: so ask the registry for each
/// call, or keep a handle of your own, which `Registry::owned` gives.
#[derive(Clone, Copy)]
pub struct BreakerRef {
    slot: &'static Slot,
    version: u32,
}

impl BreakerRef {
    /// Whether the breaker is still there.
    #[inline]
    pub fn is_alive(&self) -> bool {
        self.slot.version() == self.version
    }

    /// Whether it is a reference to the same breaker, or was.
    pub(super) fn is_same(&self, other: Self) -> bool {
        std::ptr::eq(self.slot, other.slot) && self.version == other.version
    }

    /// Notes whether it is in shadow because of a group.
    pub(super) fn set_lets_pass(self, lets_pass: bool) {
        self.slot.set_lets_pass(lets_pass);
    }

    #[inline]
    fn pinned(&self) -> PinnedBreaker {
        if self.is_alive() { PinnedBreaker { slot: self.slot } } else { nobodys() }
    }
}

/// Lets all calls pass.
#[cold]
fn nobodys() -> PinnedBreaker {
    static NOBODYS: OnceLock<PinnedBreaker> = OnceLock::new();
    *NOBODYS.get_or_init(|| {
        let breaker = SharedBreaker::builder().build();
        let pinned = breaker.expect("the defaults are within their limits").pin();
        pinned.disable();
        pinned
    })
}

impl Deref for BreakerRef {
    type Target = Guarded;

    #[inline]
    fn deref(&self) -> &Guarded {
        &self.pinned().slot.breaker
    }
}

impl fmt::Debug for BreakerRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BreakerRef").field(&**self).finish()
    }
}

impl SharedBreaker {
    /// Keeps the breaker for the rest of the process, and gives a handle that is copied for nothing.
    ///
    /// For the breakers that a program sets up as it starts. Pin one for each request and memory grows
    /// without end.
    pub fn pin(self) -> PinnedBreaker {
        let slot = self.slot;
        std::mem::forget(self);
        PinnedBreaker { slot }
    }

    /// A handle that keeps nothing alive and is copied for nothing.
    pub fn reference(&self) -> BreakerRef {
        let slot = self.slot;
        let version = slot.version();
        BreakerRef { slot, version }
    }

    #[inline]
    fn pinned(&self) -> PinnedBreaker {
        PinnedBreaker { slot: self.slot }
    }
}

/// Kept out of the way of breakers without limits.
#[cold]
#[inline(never)]
fn limits_of(breaker: &Guarded) -> Limits {
    Limits::new(breaker.limits_ms())
}

/// Any call: kept out of the way of those through a breaker that has nothing to count.
#[inline(never)]
fn call_by_all_rules<T, E: 'static>(
    breaker: &Guarded,
    call: impl FnOnce() -> Result<T, E>,
) -> Result<T, CallError<E>> {
    Caller::heeding(breaker, Limits::new(breaker.limits_ms())).call(call)
}

macro_rules! calls {
    ($($handle:ty),*) => {
        $(impl CallExt for $handle {
            type Window = SharedWindow;
            type Clock = SharedClock;
            type Observer = Listeners;

            #[inline]
            fn calls(&self) -> Caller<'_, SharedWindow, SharedClock, Listeners> {
                let breaker = &self.pinned().slot.breaker;
                let limits = if breaker.has_limits() { limits_of(breaker) } else { Limits::NONE };
                Caller::heeding(breaker, limits)
            }

            #[inline(always)]
            fn call<T, E: 'static>(&self, call: impl FnOnce() -> Result<T, E>) -> Result<T, CallError<E>> {
                let breaker = &self.pinned().slot.breaker;
                match breaker.calm() {
                    Some(calm) => call_calmly(breaker, calm, call),
                    None => call_by_all_rules(breaker, call),
                }
            }

            #[inline]
            fn breaker(&self) -> &Guarded {
                &self.pinned().slot.breaker
            }
        }

        impl Handle for $handle {
            type Held = PinnedBreaker;

            #[inline]
            fn hold(&self) -> PinnedBreaker {
                self.pinned()
            }
        })*
    };
}

impl PinnedBreaker {
    #[inline]
    const fn pinned(&self) -> Self {
        *self
    }
}

calls!(SharedBreaker, PinnedBreaker, BreakerRef);
