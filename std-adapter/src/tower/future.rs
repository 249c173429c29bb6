//! The future of a call through a service's breaker.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use nanobreaker_core::Outcome;

use super::{JudgeCall, refusal};
use crate::call::{CallExt, Held, Hung, polled_again};
use crate::error::CallError;
use crate::rejection::Rejection;

pin_project! {
    /// The future of a call through a [`BreakerService`](super::BreakerService).
    ///
    /// **Dropping** it gives a probe's place back and counts as no outcome, or as slow if the call
    /// had run for longer than the breaker accepts.
    #[must_use = "futures do nothing unless polled"]
    pub struct BreakerFuture<F, B: CallExt, J> {
        // None for a call that was not made.
        #[pin]
        call: Option<F>,
        // Gone once the call has ended.
        held: Option<Held<B>>,
        judge: Option<J>,
        hung: Hung,
        // Beside the call, not in its place: what lies in one place with something of another shape is moved
        // in pieces. In a box, since hardly ever it is there.
        rejection: Option<Box<Rejection>>,
    }
}

impl<F, B: CallExt, J> fmt::Debug for BreakerFuture<F, B, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut future = f.debug_struct("BreakerFuture");
        future.field("is_under_way", &self.held.is_some()).field("rejection", &self.rejection);
        future.finish_non_exhaustive()
    }
}

impl<F, B: CallExt, J> BreakerFuture<F, B, J> {
    #[inline]
    pub(super) fn calling(call: F, held: Held<B>, judge: J) -> Self {
        let (call, held, judge) = (Some(call), Some(held), Some(judge));
        Self { call, held, judge, hung: Hung::default(), rejection: None }
    }

    #[cold]
    pub(super) fn rejected(rejection: Box<Rejection>) -> Self {
        let rejection = Some(rejection);
        Self { call: None, held: None, judge: None, hung: Hung::default(), rejection }
    }
}

impl<F, B, J, T, E> Future for BreakerFuture<F, B, J>
where
    F: Future<Output = Result<T, E>>,
    B: CallExt,
    J: JudgeCall<T, E>,
    E: 'static,
{
    type Output = Result<J::Judged<B>, CallError<E>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (Some(call), Some(under_way)) = (this.call.as_pin_mut(), this.held.as_mut()) else {
            let Some(rejection) = this.rejection.take() else {
                polled_again();
            };
            refusal::learn::<E>();
            return Poll::Ready(Err(CallError::Rejected(*rejection)));
        };
        let poll = under_way.run(|| call.poll(context));
        if poll.is_pending() {
            let judge = &*this.judge;
            let count = |held: &Held<B>| judge.as_ref().map_or(Outcome::Failure, |judge| judge.hangs(held));
            under_way.pends(context, this.hung, count);
        }
        let result = ready!(poll);
        if let Err(error) = &result {
            refusal::learn::<E>();
            if refusal::is_known(error) {
                under_way.ignore();
            }
        }
        let Some(judge) = this.judge.take() else {
            polled_again();
        };
        Poll::Ready(judge.end(this.held, result).map_err(CallError::Failed))
    }
}
