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
    /// given until the call or its end. So call soon, as balancers do; a probe's place that is held for longer
    /// than the breaker's lease is lost as that of a call without answer. While the service behind is not ready
    /// no probe's place is taken.
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

    /// Ready where the breaker does not reject all calls, as far as can be told without asking it.
    fn poll_open(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some(shut) = &mut self.shut {
                ready!(shut.as_mut().poll(context));
                self.shut = None;
            }
            match self.looks_shut() {
                None => return Poll::Ready(()),
                Some(wait) => self.shut = Some(Box::pin(sleep(wait))),
            }
        }
    }

    /// For how long it makes no sense to ask the breaker, if that is so.
    fn looks_shut(&mut self) -> Option<Duration> {
        let breaker = self.breaker.breaker();
        if is_asked_later(breaker.phase()) {
            return None;
        }
        let snapshot = breaker.snapshot();
        let may_pass = match snapshot.phase {
            Phase::HalfOpen => snapshot.in_flight < breaker.config().max_probes(),
            Phase::Open => snapshot.ready_to_probe(),
            // A share that is drawn and not used counts against nobody.
            Phase::Recovering | Phase::Isolated => false,
            Phase::Closed | Phase::Disabled => true,
        };
        if may_pass || snapshot.in_shadow { None } else { self.ask().err().map(|rejection| wait(&rejection)) }
    }

    fn is_admitted(&self) -> bool {
        self.admitted.as_ref().is_some_and(Held::is_current)
    }

    fn ask(&mut self) -> Result<(), Rejection> {
        let is_asked_now = !is_asked_later(self.breaker.breaker().phase());
        if is_asked_now && self.is_admitted() {
            return Ok(());
        }
        // What it was given before goes back first.
        self.admitted = None;
        if is_asked_now {
            self.admitted = Some(Held::admit(&self.breaker)?);
        }
        Ok(())
    }
}

/// Whether the breaker is asked when the call comes: then there is nothing to give back.
const fn is_asked_later(phase: Phase) -> bool {
    matches!(phase, Phase::Closed | Phase::Disabled)
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
        loop {
            // First a look at the breaker: a service behind that is ready may hold a place of its own, as a limit does.
            ready!(self.poll_open(context));
            match ready!(self.inner.poll_ready(context)) {
                Ok(()) => {}
                Err(error) => {
                    self.admitted = None;
                    broken::<Request, _, _>(&self.breaker, &error);
                    return Poll::Ready(Err(CallError::Failed(error)));
                }
            }
            // Not before: a probe's place that is given back counts against its round.
            match self.ask() {
                Ok(()) => return Poll::Ready(Ok(())),
                Err(rejection) => self.shut = Some(Box::pin(sleep(wait(&rejection)))),
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
