//! The future of a call through a service's breaker.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use nanobreaker_core::Rejected;

use super::JudgeCall;
use crate::call::{CallExt, Held, Hung, polled_again};
use crate::error::CallError;

pin_project! {
    /// The future of a call through a [`BreakerService`](super::BreakerService).
    ///
    /// **Dropping** it gives a probe's place back and counts as no outcome, or as slow if the call
    /// had run for longer than the breaker accepts.
    #[must_use = "futures do nothing unless polled"]
    pub struct BreakerFuture<F, B: CallExt, J> {
        #[pin]
        state: State<F, B, J>,
    }
}

pin_project! {
    #[project = Project]
    enum State<F, B: CallExt, J> {
        Calling {
            #[pin]
            call: F,
            // Gone once the call has ended.
            held: Option<Held<B>>,
            judge: Option<J>,
            hung: Hung,
        },
        Rejected { rejected: Option<Rejected> },
    }
}

impl<F, B: CallExt, J> BreakerFuture<F, B, J> {
    #[inline]
    pub(super) fn calling(call: F, held: Held<B>, judge: J) -> Self {
        Self { state: State::Calling { call, held: Some(held), judge: Some(judge), hung: Hung::default() } }
    }

    #[cold]
    pub(super) const fn rejected(rejected: Rejected) -> Self {
        Self { state: State::Rejected { rejected: Some(rejected) } }
    }
}

impl<F, B, J, T, E> Future for BreakerFuture<F, B, J>
where
    F: Future<Output = Result<T, E>>,
    B: CallExt,
    J: JudgeCall<T, E>,
{
    type Output = Result<J::Judged<B>, CallError<E>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (call, held, judge, hung) = match self.project().state.project() {
            Project::Rejected { rejected } => {
                let Some(rejected) = rejected.take() else {
                    polled_again();
                };
                return Poll::Ready(Err(CallError::Rejected(rejected)));
            }
            Project::Calling { call, held, judge, hung } => (call, held, judge, hung),
        };
        let Some(under_way) = held.as_mut() else {
            polled_again();
        };
        let poll = under_way.run(|| call.poll(context));
        if poll.is_pending() {
            under_way.pends(context, hung);
        }
        let result = ready!(poll);
        let Some(judge) = judge.take() else {
            polled_again();
        };
        Poll::Ready(judge.end(held, result).map_err(CallError::Failed))
    }
}
