//! Judges HTTP calls by a classifier of the response's head, and by the end of its body where the layer was
//! told so.

#[cfg(feature = "tokio")]
use std::time::Duration;

use http::{Request, Response, StatusCode};
use http_body::Body;
use tower_http::classify::NeverClassifyEos;

use nanobreaker_core::Outcome;

use super::answer::{CallTerms, Terms, is_rejection};
use super::body::{End, GuardedBody};
use super::judge::{self, Reclassify, sealed::Sealed};
use super::{BreakerLayer, ByClassifier, Judge, JudgeCall};
use crate::call::{CallExt, Classifier, Held};
use crate::identity::{self, Identity};

/// A response with a 5xx status is a failure, and any other a success. An error is a failure, unless the breaker
/// has a [classifier of its own](crate::SharedBreakerBuilder::classify) for such errors.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerErrors;

impl ServerErrors {
    /// What a status says.
    pub(super) fn by_status(&self, status: StatusCode) -> Outcome {
        if status.is_server_error() { Outcome::Failure } else { Outcome::Success }
    }
}

/// Makes `$judge` a classifier of answers, by what `$by_status` makes of their status; errors are left to the breaker.
macro_rules! judges_by_status {
    ($judge:ty, $by_status:expr) => {
        impl<T, E: 'static> Classifier<Response<T>, E> for $judge {
            #[inline]
            fn classify(&self, result: &Result<Response<T>, E>) -> Outcome {
                result.as_ref().map_or(Outcome::Failure, |response| $by_status(self, response.status()))
            }

            #[inline]
            fn judge(
                &self,
                identity: impl FnOnce() -> Option<&'static Identity>,
                result: Result<Response<T>, E>,
            ) -> (Outcome, Result<Response<T>, E>) {
                identity::judge(identity, result, |response| $by_status(self, response.status()))
            }
        }
    };
}
#[cfg(feature = "settings")]
pub(super) use judges_by_status;

judges_by_status!(ServerErrors, ServerErrors::by_status);

impl<B> BreakerLayer<B, ByHead<ServerErrors>> {
    /// A layer for HTTP services: 5xx and [errors](ServerErrors) are failures, judged when the response's head is
    /// there. The response stays as it is.
    ///
    /// * A 429 or 5xx that says `Retry-After`, in seconds or as a date, opens the breaker for that long, at
    ///   most for its [`max_open`](crate::SharedBreakerBuilder::max_open). Not so where a classifier
    ///   [ignores](crate::Outcome::Ignored) it, nor after [`ignore_retry_after`](Self::ignore_retry_after).
    /// * An answer that is the rejection of a breaker further in is ignored: it has that
    ///   [`Rejection`](crate::Rejection) among its extensions, as all answers of this crate have.
    /// * After [`counted`](Self::counted), the attempts of one request count as one failure.
    pub const fn http(breaker: B) -> Self {
        Self { breaker, judge: ByHead::new(ServerErrors, Terms::USUAL) }
    }
}

/// Judges each HTTP call by a [`Classifier`] of the response's head. `COUNTED` is whether the attempts of one
/// request count together.
#[derive(Clone, Copy, Debug)]
pub struct ByHead<K, const COUNTED: bool = false> {
    classifier: K,
    terms: Terms,
}

/// Judges each HTTP call by a [`Classifier`] of its head and, where that is a success, by the end of
/// its body. `COUNTED` is whether the attempts of one request count together.
#[derive(Clone, Copy, Debug)]
pub struct UntilBodyEnds<K, const COUNTED: bool = false> {
    classifier: K,
    terms: Terms,
}

/// Judges one HTTP call by the response's head.
#[derive(Debug)]
pub struct HeadCall<K> {
    classifier: K,
    terms: CallTerms,
}

/// Judges one HTTP call until the response's body ends.
#[derive(Debug)]
pub struct BodyCall<K>(HeadCall<K>);

impl<K, const COUNTED: bool> ByHead<K, COUNTED> {
    pub(super) const fn new(classifier: K, terms: Terms) -> Self {
        Self { classifier, terms }
    }
}

impl<K, const COUNTED: bool> Sealed for ByHead<K, COUNTED> {}
impl<K, const COUNTED: bool> Sealed for UntilBodyEnds<K, COUNTED> {}
impl<K> Sealed for HeadCall<K> {}
impl<K> Sealed for BodyCall<K> {}

impl<K, const COUNTED: bool> Reclassify for ByHead<K, COUNTED> {
    type By<F> = ByHead<F, COUNTED>;

    fn by<F>(self, classifier: F) -> ByHead<F, COUNTED> {
        ByHead::new(classifier, self.terms)
    }
}

impl<K, const COUNTED: bool> Reclassify for UntilBodyEnds<K, COUNTED> {
    type By<F> = UntilBodyEnds<F, COUNTED>;

    fn by<F>(self, classifier: F) -> UntilBodyEnds<F, COUNTED> {
        UntilBodyEnds { classifier, terms: self.terms }
    }
}

impl<B, K, const COUNTED: bool> BreakerLayer<B, ByHead<K, COUNTED>> {
    /// Counts a failure once for each request, however often that is tried: where a
    /// [`CountedLayer`](super::CountedLayer) outside of the retries has put a [`Counted`](crate::Counted) among
    /// its extensions. Requests must be `http::Request`s then.
    pub fn counted(self) -> BreakerLayer<B, ByHead<K, true>> {
        let ByHead { classifier, terms } = self.judge;
        BreakerLayer { breaker: self.breaker, judge: ByHead { classifier, terms } }
    }

    /// Judges a call when the body of its response ends, if the head was a success: see
    /// [`GuardedBody`].
    pub fn until_body_ends(self) -> BreakerLayer<B, UntilBodyEnds<K, COUNTED>> {
        let ByHead { classifier, terms } = self.judge;
        BreakerLayer { breaker: self.breaker, judge: UntilBodyEnds { classifier, terms } }
    }

    /// Leaves `Retry-After` to others.
    pub const fn ignore_retry_after(mut self) -> Self {
        self.judge.terms.heeds = false;
        self
    }
}

impl<B, K> BreakerLayer<B, ByClassifier<K>> {
    /// Judges a call when the body of its response ends, if the head was a success: see
    /// [`GuardedBody`].
    pub fn until_body_ends(self) -> BreakerLayer<B, UntilBodyEnds<K>> {
        let ByClassifier(classifier) = self.judge;
        BreakerLayer { breaker: self.breaker, judge: UntilBodyEnds { classifier, terms: Terms::USUAL } }
    }
}

impl<B, K, const COUNTED: bool> BreakerLayer<B, UntilBodyEnds<K, COUNTED>> {
    /// A body in which nothing comes for so long, while its reader waits, has failed. Off unless set:
    /// there are streams that are quiet for long and well. Needs the feature `tokio`.
    #[cfg(feature = "tokio")]
    pub fn silent_after(mut self, limit: Duration) -> Self {
        self.judge.terms.silent_after = Some(limit);
        self
    }

    /// Leaves `Retry-After` to others.
    pub fn ignore_retry_after(mut self) -> Self {
        self.judge.terms.heeds = false;
        self
    }
}

impl<K: Clone, Request> Judge<Request> for ByHead<K, false> {
    type Call = HeadCall<K>;

    #[inline]
    fn begin(&self, _: &Request) -> HeadCall<K> {
        HeadCall { classifier: self.classifier.clone(), terms: self.terms.of_any() }
    }
}

impl<K: Clone, T> Judge<Request<T>> for ByHead<K, true> {
    type Call = HeadCall<K>;

    #[inline]
    fn begin(&self, request: &Request<T>) -> HeadCall<K> {
        HeadCall { classifier: self.classifier.clone(), terms: self.terms.of(request) }
    }
}

impl<K: Clone, Request> Judge<Request> for UntilBodyEnds<K, false> {
    type Call = BodyCall<K>;

    #[inline]
    fn begin(&self, _: &Request) -> BodyCall<K> {
        BodyCall(HeadCall { classifier: self.classifier.clone(), terms: self.terms.of_any() })
    }
}

impl<K: Clone, T> Judge<Request<T>> for UntilBodyEnds<K, true> {
    type Call = BodyCall<K>;

    #[inline]
    fn begin(&self, request: &Request<T>) -> BodyCall<K> {
        BodyCall(HeadCall { classifier: self.classifier.clone(), terms: self.terms.of(request) })
    }
}

impl<K> HeadCall<K> {
    #[inline]
    fn judge<B: CallExt, T, E>(
        &self,
        held: &Option<Held<B>>,
        result: Result<Response<T>, E>,
    ) -> (Outcome, Result<Response<T>, E>)
    where
        K: Classifier<Response<T>, E>,
    {
        match result {
            Ok(response) if is_rejection(&response) => (Outcome::Ignored, Ok(response)),
            result => self.classifier.judge(|| judge::identity(held), result),
        }
    }
}

impl<K: Classifier<Response<T>, E>, T, E> JudgeCall<Response<T>, E> for HeadCall<K> {
    type Judged<B: CallExt> = Response<T>;

    fn hangs<B: CallExt>(&self, held: &Held<B>) -> Outcome {
        self.terms.count(held, Outcome::Failure)
    }

    #[inline]
    fn end<B: CallExt>(
        self,
        held: &mut Option<Held<B>>,
        result: Result<Response<T>, E>,
    ) -> Result<Response<T>, E> {
        let (outcome, result) = self.judge(held, result);
        self.terms.judge_head(held, result.as_ref().ok(), outcome);
        result
    }
}

impl<K, T, E> JudgeCall<Response<T>, E> for BodyCall<K>
where
    K: Classifier<Response<T>, E>,
    T: Body,
{
    type Judged<B: CallExt> = Response<GuardedBody<T, B, NeverClassifyEos<()>>>;

    fn hangs<B: CallExt>(&self, held: &Held<B>) -> Outcome {
        self.0.terms.count(held, Outcome::Failure)
    }

    fn end<B: CallExt>(
        self,
        held: &mut Option<Held<B>>,
        result: Result<Response<T>, E>,
    ) -> Result<Self::Judged<B>, E> {
        let (outcome, result) = self.0.judge(held, result);
        let end = match outcome {
            Outcome::Success => End::Fine,
            outcome => End::Decided(outcome),
        };
        self.0.terms.hand_over(held, result, end)
    }
}
