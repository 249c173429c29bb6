//! A service behind a breaker.

use std::task::{Context, Poll};

use tower_service::Service;

use nanobreaker_core::{Outcome, Phase, Rejected};

use super::{BreakerFuture, Judge, JudgeCall};
use crate::call::{Handle, Held};
use crate::error::CallError;

/// A service behind a breaker; made by a [`BreakerLayer`](super::BreakerLayer).
#[derive(Debug)]
pub struct BreakerService<S, B, J> {
    inner: S,
    breaker: B,
    judge: J,
    /// Why the next call is rejected, for which the service behind is not ready.
    rejected_early: Option<Rejected>,
}

/// A clone is not ready for a call, as services of tower are.
impl<S: Clone, B: Clone, J: Clone> Clone for BreakerService<S, B, J> {
    fn clone(&self) -> Self {
        Self::new(self.inner.clone(), self.breaker.clone(), self.judge.clone())
    }
}

impl<S, B, J> BreakerService<S, B, J> {
    pub(super) const fn new(inner: S, breaker: B, judge: J) -> Self {
        Self { inner, breaker, judge, rejected_early: None }
    }

    /// The breaker, for operators.
    pub const fn breaker(&self) -> &B {
        &self.breaker
    }

    /// The service behind the breaker.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The service behind the breaker. What is called through it is not guarded.
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The service without its breaker.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, B, J, Request> Service<Request> for BreakerService<S, B, J>
where
    S: Service<Request>,
    B: Handle,
    J: Judge<Request>,
    J::Call: JudgeCall<S::Response, S::Error>,
{
    type Response = <J::Call as JudgeCall<S::Response, S::Error>>::Judged<B::Held>;
    type Error = CallError<S::Error>;
    type Future = BreakerFuture<S::Future, B::Held, J::Call>;

    /// Ready when the service behind is, whatever the breaker says: its answer could be another one
    /// by the time of the call, and a place that is held for a call which never comes is lost.
    ///
    /// Ready, too, while the breaker is open or isolated and the service behind is not: the next call is
    /// rejected at once instead of waiting for a service that it will not reach.
    ///
    /// A service that fails here is broken, and will not be called: that counts as a failed call.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.rejected_early = None;
        let poll = self.inner.poll_ready(context);
        if poll.is_pending() {
            self.rejected_early = rejects(&self.breaker);
            if self.rejected_early.is_some() {
                return Poll::Ready(Ok(()));
            }
        }
        if let Poll::Ready(Err(_)) = poll
            && let Ok(mut held) = Held::admit(&self.breaker)
        {
            held.spend(Outcome::Failure);
        }
        poll.map_err(CallError::Failed)
    }

    #[inline]
    fn call(&mut self, request: Request) -> Self::Future {
        if let Some(rejected) = self.rejected_early.take() {
            return BreakerFuture::rejected(rejected);
        }
        let mut held = match Held::admit(&self.breaker) {
            Ok(held) => held,
            Err(rejected) => return BreakerFuture::rejected(rejected),
        };
        let judge = self.judge.begin(&request);
        let call = held.run(|| self.inner.call(request));
        BreakerFuture::calling(call, held, judge)
    }
}

/// Why the breaker rejects calls, if it does. Takes no probe's place.
#[cold]
fn rejects<B: Handle>(breaker: &B) -> Option<Rejected> {
    let breaker = breaker.breaker();
    let snapshot = breaker.snapshot();
    let is_held = snapshot.phase == Phase::Isolated;
    let is_waiting = snapshot.phase == Phase::Open && !snapshot.ready_to_probe();
    if snapshot.in_shadow || !(is_held || is_waiting) {
        return None;
    }
    match breaker.allow_token() {
        Err(rejected) => Some(rejected),
        // It lets calls pass since that look.
        Ok(token) => {
            breaker.record(token, Outcome::Cancelled);
            None
        }
    }
}
