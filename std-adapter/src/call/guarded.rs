//! The asynchronous call itself.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use nanobreaker_core::window::Window;
use nanobreaker_core::{Breaker, Clock, Observer};

use crate::call::classifier::Classifier;
use crate::call::held::Held;
use crate::call::limits::{Hung, Limits};
use crate::call::running::{judge, record_calmly, run_calmly};
use crate::call::stage::Stage;
use crate::error::CallError;
use crate::identity::Identity;

pin_project! {
    /// The asynchronous call itself. By hand, since the compiler would keep `call` twice and move it at
    /// the first poll.
    #[project = Parts]
    pub(super) struct Guarded<'a, W: Window, C: Clock, O: Observer, K, F> {
        #[pin]
        call: Option<F>,
        held: Held<&'a Breaker<W, C, O>>,
        classifier: K,
        hung: Hung,
    }
}

impl<'a, W: Window, C: Clock, O: Observer, K, F> Guarded<'a, W, C, O, K, F> {
    #[inline]
    pub(super) fn new(breaker: &'a Breaker<W, C, O>, limits: Limits, classifier: K, call: F) -> Self {
        Self { call: Some(call), held: Held::idle(breaker, limits), classifier, hung: Hung::default() }
    }
}

impl<W, C, O, K, F, T, E> Future for Guarded<'_, W, C, O, K, F>
where
    W: Window,
    C: Clock,
    O: Observer,
    F: Future<Output = Result<T, E>>,
    K: Classifier<T, E>,
{
    type Output = Result<T, CallError<E>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let Some(call) = this.call.as_mut().as_pin_mut() else {
            polled_again();
        };
        if !Breaker::<W, C, O>::CALMS {
            return this.poll_by_all_rules(context);
        }
        let Some(calm) = this.held.starts_calmly() else {
            return this.poll_out_of_the_way(context);
        };
        let (breaker, token) = (this.held.breaker(), calm.token());
        let Poll::Ready(result) = run_calmly(breaker, token, || call.poll(context)) else {
            this.held.waits(token);
            return Poll::Pending;
        };
        let (outcome, result) =
            judge(breaker, token, || this.classifier.judge(|| Identity::of(breaker), result));
        record_calmly(breaker, calm, outcome);
        this.call.set(None);
        Poll::Ready(result.map_err(CallError::Failed))
    }
}

impl<W, C, O, K, F, T, E> Parts<'_, '_, W, C, O, K, F>
where
    W: Window,
    C: Clock,
    O: Observer,
    F: Future<Output = Result<T, E>>,
    K: Classifier<T, E>,
{
    /// Out of the way of calls that end at once through a breaker that has nothing to count.
    #[inline(never)]
    fn poll_out_of_the_way(self, context: &mut Context<'_>) -> Poll<Result<T, CallError<E>>> {
        self.poll_by_all_rules(context)
    }

    /// Any poll.
    #[inline(always)]
    fn poll_by_all_rules(mut self, context: &mut Context<'_>) -> Poll<Result<T, CallError<E>>> {
        if self.held.stage() == Stage::Idle
            && let Err(rejected) = self.held.ask()
        {
            self.call.set(None);
            return Poll::Ready(Err(CallError::Rejected(rejected)));
        }
        let Some(call) = self.call.as_mut().as_pin_mut() else {
            polled_again();
        };
        let poll = self.held.run(|| call.poll(context));
        if poll.is_pending() {
            let classifier = &*self.classifier;
            self.held.pends(context, self.hung, |_| classifier.hangs());
        }
        let result = ready!(poll);
        let breaker = self.held.breaker();
        let (outcome, result) = self.classifier.judge(|| Identity::of(breaker), result);
        self.held.spend(outcome);
        self.call.set(None);
        Poll::Ready(result.map_err(CallError::Failed))
    }
}

#[cold]
#[track_caller]
pub(crate) fn polled_again() -> ! {
    panic!("a guarded call was polled again after it had ended")
}
