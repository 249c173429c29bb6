//! A service behind a breaker.

use std::task::{Context, Poll};

use tower_service::Service;

use nanobreaker_core::{Outcome, Rejected};

use super::{BreakerFuture, Judge, JudgeCall};
use crate::call::{CallExt, Held};
use crate::error::CallError;

/// A service behind a breaker; made by a [`BreakerLayer`](super::BreakerLayer).
#[derive(Clone, Copy, Debug)]
pub struct BreakerService<S, B, J> {
    inner: S,
    breaker: B,
    judge: J,
}

impl<S, B, J> BreakerService<S, B, J> {
    pub(super) const fn new(inner: S, breaker: B, judge: J) -> Self {
        Self {
            inner,
            breaker,
            judge,
        }
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

impl<S, B: CallExt + Clone, J> BreakerService<S, B, J> {
    #[inline]
    fn admit(&self) -> Result<Held<B>, Rejected> {
        Held::admit(&self.breaker, self.breaker.calls().limits())
    }
}

impl<S, B, J, Request> Service<Request> for BreakerService<S, B, J>
where
    S: Service<Request>,
    B: CallExt + Clone,
    J: Judge<Request>,
    J::Call: JudgeCall<S::Response, S::Error>,
{
    type Response = <J::Call as JudgeCall<S::Response, S::Error>>::Judged<B>;
    type Error = CallError<S::Error>;
    type Future = BreakerFuture<S::Future, B, J::Call>;

    /// Ready when the service behind is, whatever the breaker says: its answer could be another one
    /// by the time of the call, and a place that is held for a call which never comes is lost.
    ///
    /// A service that fails here is broken, and will not be called: that counts as a failed call.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        let poll = self.inner.poll_ready(context);
        if let Poll::Ready(Err(_)) = poll
            && let Ok(mut held) = self.admit()
        {
            held.spend(Outcome::Failure);
        }
        poll.map_err(CallError::Failed)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let mut held = match self.admit() {
            Ok(held) => held,
            Err(rejected) => return BreakerFuture::rejected(rejected),
        };
        let judge = self.judge.begin(&request);
        let limits = self.breaker.calls().limits();
        let call = held.run(|| self.inner.call(request));
        BreakerFuture::calling(call, limits.hung(), held, judge)
    }
}
