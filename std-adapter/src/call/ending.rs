//! How a call ends whose permit needs more than its outcome: one that is measured, and one that gives no answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use nanobreaker_core::window::Window;
use nanobreaker_core::{Breaker, Clock, Observer, Outcome, Token};

use crate::call::limits::Limits;
use crate::call::stage::Stage;

/// The breaker's clock now, for calls that are measured.
#[cold]
#[inline(never)]
pub(super) fn now_ms<W: Window, C: Clock, O: Observer>(breaker: &Breaker<W, C, O>) -> u32 {
    breaker.clock().now_ms() as u32
}

/// Whether a call takes too long, by now or by when its answer began.
pub(super) fn is_slow<W: Window, C: Clock, O: Observer>(
    breaker: &Breaker<W, C, O>,
    limits: Limits,
    started_ms: u32,
    stage: Stage,
) -> bool {
    match stage {
        #[cfg(feature = "tower-http")]
        Stage::Slow => true,
        #[cfg(feature = "tower-http")]
        Stage::Fine => false,
        _ => limits.are_exceeded(started_ms, || breaker.clock().now_ms()),
    }
}

/// Records how a call ended that has limits. Everything by value: were the call's record at hand by
/// reference, it would have to lie in memory where there is nothing to do.
#[inline(never)]
pub(super) fn settle<W: Window, C: Clock, O: Observer>(
    breaker: &Breaker<W, C, O>,
    token: Token,
    limits: Limits,
    started_ms: u32,
    stage: Stage,
    outcome: Outcome,
) {
    let outcome = match outcome {
        Outcome::Success if is_slow(breaker, limits, started_ms, stage) => Outcome::Slow,
        Outcome::Failure if is_slow(breaker, limits, started_ms, stage) => Outcome::SlowFailure,
        outcome => outcome,
    };
    breaker.record(token, outcome);
}

/// Kept out of the way of calls that return.
#[cold]
#[inline(never)]
pub(super) fn end_without_answer<W: Window, C: Clock, O: Observer>(
    breaker: &Breaker<W, C, O>,
    token: Token,
    limits: Limits,
    started_ms: u32,
    stage: Stage,
) {
    let record = || {
        let outcome = if stage == Stage::Panicked { Outcome::Failure } else { Outcome::Cancelled };
        let outcome = match outcome {
            Outcome::Cancelled if is_slow(breaker, limits, started_ms, stage) => Outcome::Slow,
            outcome => outcome,
        };
        breaker.record(token, outcome);
    };
    if thread::panicking() {
        // An observer that panics now as well would abort the process. The outcome is recorded by
        // then, and the first panic goes on.
        let _ = catch_unwind(AssertUnwindSafe(record));
    } else {
        record();
    }
}
