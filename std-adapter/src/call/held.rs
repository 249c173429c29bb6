//! The permit of a call under way, which is spent once whatever happens to the call: it returns, it
//! panics, its future is dropped, it hangs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use nanobreaker_core::window::Window;
use nanobreaker_core::{Breaker, Clock, Observer, Outcome, Permit};

/// When a call counts as slow, in the breaker's own time.
#[derive(Clone, Copy)]
struct SlowLimit {
    started_ms: u64,
    slow_after_ms: u64,
}

/// A call under way.
pub(super) struct Held<'a, W: Window, C: Clock, O: Observer> {
    breaker: &'a Breaker<W, C, O>,
    permit: Option<Permit<'a, W, C, O>>,
    slow_limit: Option<SlowLimit>,
    /// Whether the caller's code runs right now: if this is dropped meanwhile, that code panicked.
    running: bool,
}

impl<'a, W: Window, C: Clock, O: Observer> Held<'a, W, C, O> {
    #[inline]
    pub(super) fn new(
        breaker: &'a Breaker<W, C, O>,
        permit: Permit<'a, W, C, O>,
        slow_after_ms: Option<u64>,
    ) -> Self {
        let slow_limit = slow_after_ms.map(|slow_after_ms| SlowLimit {
            started_ms: breaker.clock().now_ms(),
            slow_after_ms,
        });
        Self {
            breaker,
            permit: Some(permit),
            slow_limit,
            running: false,
        }
    }

    /// Runs the caller's code; a panic in it is a failure of the call.
    #[inline]
    pub(super) fn run<T>(&mut self, code: impl FnOnce() -> T) -> T {
        self.running = true;
        let answer = code();
        self.running = false;
        answer
    }

    /// Spends the permit, if it wasn't before. A success that took too long is slow.
    #[inline]
    pub(super) fn spend(&mut self, outcome: Outcome) {
        if let Some(permit) = self.permit.take() {
            let outcome = match outcome {
                Outcome::Success if self.is_slow() => Outcome::Slow,
                outcome => outcome,
            };
            permit.record(outcome);
        }
    }

    fn is_slow(&self) -> bool {
        self.slow_limit.is_some_and(|limit| {
            // A clock that was set back since has measured nothing.
            let ran_ms = self
                .breaker
                .clock()
                .now_ms()
                .saturating_sub(limit.started_ms);
            ran_ms > limit.slow_after_ms
        })
    }

    /// The outcome of a call that does not return.
    fn outcome_of_no_answer(&self) -> Outcome {
        if self.running {
            Outcome::Failure
        } else if self.is_slow() {
            Outcome::Slow
        } else {
            Outcome::Cancelled
        }
    }
}

impl<W: Window, C: Clock, O: Observer> Drop for Held<'_, W, C, O> {
    #[inline]
    fn drop(&mut self) {
        if self.permit.is_none() {
            return;
        }
        let outcome = self.outcome_of_no_answer();
        if thread::panicking() {
            // An observer that panics now as well would abort the process. The outcome is recorded
            // by then, and the first panic goes on.
            let _ = catch_unwind(AssertUnwindSafe(|| self.spend(outcome)));
        } else {
            self.spend(outcome);
        }
    }
}
