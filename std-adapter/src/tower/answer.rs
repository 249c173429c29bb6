//! What the HTTP judges have in common: how an answer is told from a breaker's own, how often a request
//! counts, and for how long its sender is left alone.

use std::time::Duration;

use http::{Request, Response};
use http_body::Body;
use tower_http::classify::ClassifyEos;

use nanobreaker_core::Outcome;

use super::body::{End, GuardedBody};
use crate::asked::{pushback, retry_after};
use crate::call::{CallExt, Held};
use crate::counted::Counted;
use crate::rejection::Rejection;

/// How a layer takes the answers that it sees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// Whether an answer may say for how long it wants no calls.
    pub(super) heeds: bool,
    pub(super) silent_after: Option<Duration>,
}

impl Terms {
    pub(super) const USUAL: Self = Self { heeds: true, silent_after: None };

    /// The terms of a call that counts by itself.
    #[inline]
    pub(super) const fn of_any(self) -> CallTerms {
        CallTerms { terms: self, counted: None }
    }

    /// The terms of one call, which may be one of several attempts.
    #[inline]
    pub(super) fn of<T>(self, request: &Request<T>) -> CallTerms {
        CallTerms { terms: self, counted: request.extensions().get().cloned() }
    }
}

/// How one call's answer is taken.
#[derive(Debug)]
pub(super) struct CallTerms {
    terms: Terms,
    counted: Option<Counted>,
}

/// Whether the answer is the rejection of a breaker further in: then no call was made.
pub(super) fn is_rejection<T>(response: &Response<T>) -> bool {
    response.extensions().get::<Rejection>().is_some()
}

impl CallTerms {
    /// What the outcome counts as: a failure as none where another attempt of the same request counted already.
    pub(super) fn count<B: CallExt>(&self, held: &Held<B>, outcome: Outcome) -> Outcome {
        match &self.counted {
            Some(counted) => counted.outcome(outcome, || held.window()),
            None => outcome,
        }
    }

    /// Spends the permit on what the outcome counts as.
    pub(super) fn spend<B: CallExt>(&self, held: &mut Held<B>, outcome: Outcome) {
        held.spend(self.count(held, outcome));
    }

    /// Leaves the dependency alone for as long as it asked, if it may ask.
    pub(super) fn heed<B: CallExt>(&self, held: &Held<B>, asked: Option<Duration>) {
        if self.terms.heeds
            && let Some(asked) = asked
        {
            held.open_for(asked);
        }
    }

    /// The same for what gRPC's trailers ask.
    pub(super) fn heed_trailers<B: CallExt>(&self, held: &Held<B>, trailers: Option<&http::HeaderMap>) {
        self.heed(held, trailers.and_then(pushback));
    }

    /// Gives the permit to the response's body, or spends it where there is nothing to wait for.
    pub(super) fn hand_over<B: CallExt, T: Body, E, C: ClassifyEos>(
        self,
        held: &mut Option<Held<B>>,
        result: Result<Response<T>, E>,
        end: End<C>,
    ) -> Result<Response<GuardedBody<T, B, C>>, E> {
        let Some(mut held) = held.take() else {
            crate::call::polled_again();
        };
        match (result, end) {
            (Ok(response), end) => {
                let asked = self.asks(&response, &end);
                let silent_after = self.terms.silent_after;
                Ok(response.map(|body| GuardedBody::new(body, held, end, self, asked, silent_after)))
            }
            (Err(error), End::Decided(outcome)) => {
                self.spend(&mut held, outcome);
                Err(error)
            }
            // A classifier that calls an error a success.
            (Err(error), _) => {
                held.spend(Outcome::Success);
                Err(error)
            }
        }
    }

    /// For how long the head of an answer asks to be left alone. One that is ignored asks for nothing.
    fn asks<T, C>(&self, response: &Response<T>, end: &End<C>) -> Option<Duration> {
        match end {
            End::Decided(Outcome::Ignored) => None,
            End::Decided(Outcome::Failure) => {
                retry_after(response.status(), response.headers()).or_else(|| pushback(response.headers()))
            }
            _ => retry_after(response.status(), response.headers()),
        }
    }

    /// Judges an answer by its head alone.
    pub(super) fn judge_head<B: CallExt, T>(
        self,
        held: &mut Option<Held<B>>,
        response: Option<&Response<T>>,
        outcome: Outcome,
    ) {
        if let Some(under_way) = held.as_mut() {
            // In place: it would have to be moved to be taken out.
            self.spend(under_way, outcome);
            if outcome != Outcome::Ignored {
                let asked = response.and_then(|response| retry_after(response.status(), response.headers()));
                self.heed(under_way, asked);
            }
        }
        *held = None;
    }
}
