//! A service behind a breaker.

use std::task::{Context, Poll};

use tower_service::Service;

use super::choose::broken;
use super::{BreakerFuture, Choose, Judge, JudgeCall};
use crate::error::CallError;
use crate::rejection::Rejection;

/// A service behind a breaker; made by a [`BreakerLayer`](super::BreakerLayer).
#[derive(Debug)]
pub struct BreakerService<S, B, J> {
    inner: S,
    breaker: B,
    judge: J,
    /// Why the next call is rejected, for which the service behind is not ready. In a box: each call asks whether
    /// it is there, and hardly ever it is.
    rejected_early: Option<Box<Rejection>>,
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
    S::Error: 'static,
    B: Choose<Request>,
    J: Judge<Request>,
    J::Call: JudgeCall<S::Response, S::Error>,
{
    type Response = <J::Call as JudgeCall<S::Response, S::Error>>::Judged<B::Held>;
    type Error = CallError<S::Error>;
    type Future = BreakerFuture<S::Future, B::Held, J::Call>;

    /// Ready when the service behind is, whatever the breaker says: its answer could be another one
    /// by the time of the call, and a place that is held for a call which never comes is lost.
    /// For balancers there is [`BreakerLayer::gate`](super::BreakerLayer::gate).
    ///
    /// Ready, too, while the breaker is open or isolated and the service behind is not: the next call is
    /// rejected at once instead of waiting for a service that it will not reach.
    ///
    /// A service that fails here is broken, and will not be called: that counts as a failed call, unless it
    /// is a [refusal](super::is_refusal).
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        if self.rejected_early.is_some() {
            self.rejected_early = None;
        }
        let poll = self.inner.poll_ready(context);
        if poll.is_pending() {
            self.rejected_early = self.breaker.rejects_all().map(Box::new);
            if self.rejected_early.is_some() {
                return Poll::Ready(Ok(()));
            }
        }
        if let Poll::Ready(Err(error)) = &poll {
            broken::<Request, _, _>(&self.breaker, error);
        }
        poll.map_err(CallError::Failed)
    }

    #[inline]
    fn call(&mut self, request: Request) -> Self::Future {
        if self.rejected_early.is_some()
            && let Some(rejection) = self.rejected_early.take()
        {
            return BreakerFuture::rejected(rejection);
        }
        let Self { inner, breaker, judge, .. } = self;
        breaker.start(
            request,
            |request| {
                let judge = judge.begin(&request);
                (inner.call(request), judge)
            },
            |(call, judge), held| BreakerFuture::calling(call, held, judge),
            |rejection| BreakerFuture::rejected(Box::new(rejection)),
        )
    }
}
