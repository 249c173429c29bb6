//! Runs code of the caller's right now, with a permit that is spent where that code panics.

use nanobreaker_core::window::Window;
use nanobreaker_core::{Breaker, Calm, Clock, Observer, Outcome, Token};

use crate::call::ending::end_without_answer;
use crate::call::limits::Limits;
use crate::call::probing;
use crate::call::stage::Stage;
use crate::error::CallError;
use crate::identity::{Identity, judge_error};

/// A permit while code runs that may panic. It stands beside the values that it holds, which the code after it
/// uses: so they need not lie in memory.
pub(super) struct Running<'a, W: Window, C: Clock, O: Observer> {
    breaker: &'a Breaker<W, C, O>,
    limits: Limits,
    token: Token,
    started_ms: u32,
    stage: Stage,
}

impl<W: Window, C: Clock, O: Observer> Drop for Running<'_, W, C, O> {
    #[inline]
    fn drop(&mut self) {
        let Self { breaker, limits, token, started_ms, stage } = *self;
        end_without_answer(breaker, token, limits, started_ms, stage);
    }
}

/// Runs `code`, which makes a call or starts one; a panic in it is a failure of the call. Returns, too, when it
/// started by the breaker's clock, where calls are measured.
#[inline(always)]
pub(super) fn run<W: Window, C: Clock, O: Observer, T>(
    breaker: &Breaker<W, C, O>,
    limits: Limits,
    token: Token,
    code: impl FnOnce() -> T,
) -> (T, u32) {
    if !limits.are_none() || token.is_probe() {
        return run_watched(breaker, limits, token, code);
    }
    (run_calmly(breaker, token, code), 0)
}

/// The same for a call that is neither measured nor a probe.
#[inline(always)]
pub(super) fn run_calmly<W: Window, C: Clock, O: Observer, T>(
    breaker: &Breaker<W, C, O>,
    token: Token,
    code: impl FnOnce() -> T,
) -> T {
    let running = Running { breaker, limits: Limits::NONE, token, started_ms: 0, stage: Stage::Panicked };
    let answer = code();
    std::mem::forget(running);
    answer
}

/// The same for a call that is measured, or that probes: kept out of the way of all others.
#[inline(never)]
fn run_watched<W: Window, C: Clock, O: Observer, T>(
    breaker: &Breaker<W, C, O>,
    limits: Limits,
    token: Token,
    code: impl FnOnce() -> T,
) -> (T, u32) {
    let mut running = Running { breaker, limits, token, started_ms: 0, stage: Stage::Waits };
    if limits.measure() {
        running.started_ms = breaker.clock().now_ms() as u32;
    }
    running.stage = Stage::Panicked;
    let answer = if token.is_probe() { probing::run(probing::address(breaker), code) } else { code() };
    let started_ms = running.started_ms;
    std::mem::forget(running);
    (answer, started_ms)
}

/// A call through a breaker that has nothing to count, unless it fails.
#[inline(always)]
pub(crate) fn call_calmly<W: Window, C: Clock, O: Observer, T, E: 'static>(
    breaker: &Breaker<W, C, O>,
    calm: Calm,
    call: impl FnOnce() -> Result<T, E>,
) -> Result<T, CallError<E>> {
    let token = calm.token();
    match run_calmly(breaker, token, call) {
        Ok(answer) => {
            record_calmly(breaker, calm, Outcome::Success);
            Ok(answer)
        }
        Err(error) => {
            let (outcome, error) = judge(breaker, token, || judge_error(Identity::of(breaker), error));
            record(breaker, token, outcome);
            Err(CallError::Failed(error))
        }
    }
}

/// Records how such a call ended.
#[inline(always)]
pub(super) fn record_calmly<W: Window, C: Clock, O: Observer>(
    breaker: &Breaker<W, C, O>,
    calm: Calm,
    outcome: Outcome,
) {
    if outcome != Outcome::Success || !breaker.record_calm(calm) {
        record(breaker, calm.token(), outcome);
    }
}

/// Kept out of the way of successes that change nothing.
#[inline(never)]
fn record<W: Window, C: Clock, O: Observer>(breaker: &Breaker<W, C, O>, token: Token, outcome: Outcome) {
    breaker.record(token, outcome);
}

/// Runs code that says what a call came to. Where it panics the call has no outcome, and a probe's place is
/// given back.
#[inline]
pub(super) fn judge<W: Window, C: Clock, O: Observer, T>(
    breaker: &Breaker<W, C, O>,
    token: Token,
    code: impl FnOnce() -> T,
) -> T {
    let running = Running { breaker, limits: Limits::NONE, token, started_ms: 0, stage: Stage::Waits };
    let outcome = code();
    std::mem::forget(running);
    outcome
}
