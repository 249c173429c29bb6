//! A service that is not ready while its breaker would reject: for balancers.
//!
//! A balancer sends calls to whoever answers soonest or has the fewest under way. A service that rejects at
//! once is the best of all by either measure, so behind an ordinary breaker a broken endpoint attracts calls.
//! A gate is not ready instead, and the balancer goes elsewhere.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Sleep, sleep};
use tower_layer::Layer;
use tower_service::Service;

use nanobreaker_core::Phase;

use super::choose::broken;
use super::{BreakerFuture, BreakerLayer, Judge, JudgeCall};
use crate::call::{Handle, Held};
use crate::error::CallError;
use crate::rejection::Rejection;

/// For how long a gate looks away: a breaker may be reset, or its clock set, at any time.
const LONGEST: Duration = Duration::from_secs(1);

/// For how long it does where another call may decide at any moment.
const SHORTEST: Duration = Duration::from_millis(10);

impl<B, J> BreakerLayer<B, J> {
    /// Makes services that are not ready while the breaker would reject, instead of ready to reject: for
    /// balancers, which would send a broken endpoint more calls than any other. Needs the feature `tokio`, and
    /// a runtime with its timer enabled.
    ///
    /// While half-open and while recovering a gate asks the breaker as it gets ready, and holds what it was
    /// given until the call, the next time it is asked, or its end. So call soon, as balancers do; a probe's
    /// place that is held for longer than the breaker's lease is lost as that of a call without answer.
    ///
    /// Where all endpoints are behind gates that are shut, a balancer is not ready either: put a timeout or
    /// `load_shed` around it.
    pub fn gate(self) -> GateLayer<B, J> {
        GateLayer(self)
    }
}

/// Puts a gate in front of services; made by [`BreakerLayer::gate`].
#[derive(Clone, Copy, Debug)]
pub struct GateLayer<B, J>(BreakerLayer<B, J>);

impl<S, B: Handle + Clone, J: Clone> Layer<S> for GateLayer<B, J> {
    type Service = GateService<S, B, J>;

    fn layer(&self, inner: S) -> Self::Service {
        GateService::new(inner, self.0.breaker.clone(), self.0.judge.clone())
    }
}

/// A service that is not ready while its breaker would reject; made by a [`GateLayer`].
///
/// Where another service used up what the breaker lets pass after this one got ready, the call is rejected.
pub struct GateService<S, B: Handle, J> {
    inner: S,
    breaker: B,
    judge: J,
    /// What the breaker gave for the next call.
    admitted: Option<Held<B::Held>>,
    /// Ends when asking again makes sense.
    shut: Option<Pin<Box<Sleep>>>,
}

impl<S, B: Handle, J> GateService<S, B, J> {
    fn new(inner: S, breaker: B, judge: J) -> Self {
        Self { inner, breaker, judge, admitted: None, shut: None }
    }

    /// The breaker, for operators.
    pub const fn breaker(&self) -> &B {
        &self.breaker
    }

    /// Ready where the breaker lets the next call pass.
    fn poll_open(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some(shut) = &mut self.shut {
                ready!(shut.as_mut().poll(context));
                self.shut = None;
            }
            match self.ask() {
                Ok(()) => return Poll::Ready(()),
                Err(rejection) => self.shut = Some(Box::pin(sleep(wait(&rejection)))),
            }
        }
    }

    fn ask(&mut self) -> Result<(), Rejection> {
        // These are asked when the call comes: then there is nothing to give back.
        let is_asked_later = matches!(self.breaker.breaker().phase(), Phase::Closed | Phase::Disabled);
        if !is_asked_later && self.admitted.as_ref().is_some_and(Held::is_current) {
            return Ok(());
        }
        // What it was given before goes back first.
        self.admitted = None;
        if !is_asked_later {
            self.admitted = Some(Held::admit(&self.breaker)?);
        }
        Ok(())
    }
}

/// When to ask again.
fn wait(rejection: &Rejection) -> Duration {
    match rejection.phase {
        Phase::HalfOpen | Phase::Recovering => SHORTEST,
        _ => rejection.retry_after().unwrap_or(LONGEST).clamp(Duration::from_millis(1), LONGEST),
    }
}

/// A clone is not ready for a call, as services of tower are.
impl<S: Clone, B: Handle + Clone, J: Clone> Clone for GateService<S, B, J> {
    fn clone(&self) -> Self {
        Self::new(self.inner.clone(), self.breaker.clone(), self.judge.clone())
    }
}

impl<S: std::fmt::Debug, B: Handle, J> std::fmt::Debug for GateService<S, B, J> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GateService").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S, B, J, Request> Service<Request> for GateService<S, B, J>
where
    S: Service<Request>,
    S::Error: 'static,
    B: Handle,
    J: Judge<Request>,
    J::Call: JudgeCall<S::Response, S::Error>,
{
    type Response = <J::Call as JudgeCall<S::Response, S::Error>>::Judged<B::Held>;
    type Error = CallError<S::Error>;
    type Future = BreakerFuture<S::Future, B::Held, J::Call>;

    /// Ready when the service behind is, and the breaker lets a call pass.
    ///
    /// A service that fails here is broken, and will not be called: that counts as a failed call, unless it
    /// is a [refusal](super::is_refusal).
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        // First the gate: a service behind that is ready may hold a place of its own, as a limit does.
        ready!(self.poll_open(context));
        match self.inner.poll_ready(context) {
            Poll::Ready(Ok(())) => Poll::Ready(Ok(())),
            Poll::Ready(Err(error)) => {
                self.admitted = None;
                broken::<Request, _, _>(&self.breaker, &error);
                Poll::Ready(Err(CallError::Failed(error)))
            }
            Poll::Pending => {
                self.admitted = None;
                Poll::Pending
            }
        }
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let admitted = match self.admitted.take() {
            Some(mut held) => {
                held.starts();
                Ok(held)
            }
            None => Held::admit(&self.breaker),
        };
        match admitted {
            Ok(mut held) => {
                let judge = self.judge.begin(&request);
                let call = held.run(|| self.inner.call(request));
                BreakerFuture::calling(call, held, judge)
            }
            Err(rejection) => BreakerFuture::rejected(Box::new(rejection)),
        }
    }
}
