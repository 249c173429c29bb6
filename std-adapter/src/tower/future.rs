//! The future of a call through a service's breaker.

use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use nanobreaker_core::Rejected;

use super::JudgeCall;
use crate::call::{CallExt, Held, Hung};
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
            #[pin]
            hung: Hung,
            // Gone once the call has ended.
            under_way: Option<(Held<B>, J)>,
        },
        Rejected { rejected: Rejected },
    }
}

impl<F, B: CallExt, J> BreakerFuture<F, B, J> {
    #[inline]
    pub(super) const fn calling(call: F, hung: Hung, held: Held<B>, judge: J) -> Self {
        let under_way = Some((held, judge));
        Self {
            state: State::Calling {
                call,
                hung,
                under_way,
            },
        }
    }

    pub(super) const fn rejected(rejected: Rejected) -> Self {
        Self {
            state: State::Rejected { rejected },
        }
    }
}

impl<F, B, J, T, E> Future for BreakerFuture<F, B, J>
where
    F: Future<Output = Result<T, E>>,
    B: CallExt,
    J: JudgeCall<T, E>,
{
    type Output = Result<J::Judged<B>, CallError<E>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (call, hung, under_way) = match self.project().state.project() {
            Project::Rejected { rejected } => {
                return Poll::Ready(Err(CallError::Rejected(*rejected)));
            }
            Project::Calling {
                call,
                hung,
                under_way,
            } => (call, hung, under_way),
        };
        let Some((mut held, judge)) = under_way.take() else {
            // It has ended. Whoever polls on can expect nothing.
            return Poll::Pending;
        };
        // If this panics, the permit is spent as the stack unwinds.
        match held.poll(context, hung, |context| call.poll(context)) {
            Poll::Ready(result) => Poll::Ready(judge.end(held, result).map_err(CallError::Failed)),
            Poll::Pending => {
                *under_way = Some((held, judge));
                Poll::Pending
            }
        }
    }
}
