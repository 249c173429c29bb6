//! Calls that are part of a probe.
//!
//! A probe whose code calls through the same breaker again would be rejected by it, since the probe has the
//! only place; so it would fail, and the breaker could never close. Such a call is part of the probe: it
//! passes, and what the probe makes of it counts.

use std::cell::RefCell;

thread_local! {
    /// The breakers whose probes run on this thread right now, the innermost last.
    static RUNNING: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// A breaker's address: its identity for as long as its probe runs.
pub(super) fn address<T>(breaker: &T) -> usize {
    std::ptr::from_ref(breaker).addr()
}

/// Runs the code of a probe of this breaker.
#[cold]
pub(super) fn run<T>(breaker: usize, code: impl FnOnce() -> T) -> T {
    struct Ends;
    impl Drop for Ends {
        fn drop(&mut self) {
            let _ = RUNNING.try_with(|running| running.borrow_mut().pop());
        }
    }
    // A thread that is ending has none: its nested calls are rejected.
    let _ends = RUNNING.try_with(|running| running.borrow_mut().push(breaker)).is_ok().then_some(Ends);
    code()
}

/// Whether this thread is in the code of a probe of this breaker.
#[cold]
pub(super) fn is_running(breaker: usize) -> bool {
    RUNNING.try_with(|running| running.borrow().contains(&breaker)).unwrap_or(false)
}
