//! Judges HTTP and gRPC calls by tower-http's classifiers, when the response's head is there or when its
//! body ends.

#[cfg(feature = "tokio")]
use std::time::Duration;

use http::{Request, Response, StatusCode};
use http_body::Body;
use tower_http::classify::{
    ClassifiedResponse, ClassifyResponse, GrpcErrorsAsFailures, MakeClassifier, SharedClassifier,
};

use nanobreaker_core::Outcome;

use super::answer::{CallTerms, Terms, is_rejection};
use super::body::{End, GuardedBody, has_grpc_status};
use super::grpc::{Ignored, grpc_failures};
use super::head::ByHead;
use super::judge::{Reclassify, identity, sealed::Sealed};
use super::{BreakerLayer, Judge, JudgeCall};
use crate::call::{CallExt, Held};
use crate::identity::judge_error;

impl<B> BreakerLayer<B, ByHttp<SharedClassifier<GrpcErrorsAsFailures>>> {
    /// A layer for gRPC services, servers and clients: the [statuses](grpc_failures) of a service
    /// that is unwell are failures, wherever in the response they stand, and so are errors. An answer
    /// without a gRPC status is one too: a proxy's page, a stream that ended before its trailers.
    ///
    /// A failure that says `grpc-retry-pushback-ms` opens the breaker for that long, at most for its
    /// [`max_open`](crate::SharedBreakerBuilder::max_open), and so does a proxy's `Retry-After`; unless the
    /// layer is told to [ignore](Self::ignore_retry_after) that. Rejections by breakers further in are
    /// ignored, and [`Counted`](crate::Counted) requests count once.
    pub fn grpc(breaker: B) -> Self {
        let mut layer = BreakerLayer::new(breaker).classify_http(SharedClassifier::new(grpc_failures()));
        layer.judge.grpc = Some(Ignored::default());
        layer
    }
}

impl<B, J> BreakerLayer<B, J> {
    /// Judges each call with a classifier of tower-http, or one written for its layers.
    ///
    /// One that needs the end of the stream gets it; one that is content with the head is asked for
    /// that, and the body is judged too only after [`until_body_ends`](BreakerLayer::until_body_ends).
    /// Errors of the body are failures and so are those of the service, unless the breaker has a
    /// [classifier of its own](crate::SharedBreakerBuilder::classify) for them; and so is a 5xx where the classifier finds
    /// nothing in the head: a proxy that answers for a gRPC service sends no gRPC status.
    ///
    /// ```
    /// use nanobreaker::{SharedBreaker, tower::BreakerLayer};
    /// use tower_http::classify::{SharedClassifier, StatusInRangeAsFailures};
    ///
    /// let breaker = SharedBreaker::builder().build()?;
    /// let classifier = SharedClassifier::new(StatusInRangeAsFailures::new(429..=599));
    /// let layer = BreakerLayer::new(breaker).classify_http(classifier).until_body_ends();
    /// # drop(layer);
    /// # Ok::<(), nanobreaker::ConfigError>(())
    /// ```
    pub fn classify_http<M: MakeClassifier>(self, classifier: M) -> BreakerLayer<B, ByHttp<M>> {
        let judge = ByHttp { classifier, until_body_ends: false, terms: Terms::USUAL, grpc: None };
        BreakerLayer { breaker: self.breaker, judge }
    }
}

#[cfg(feature = "settings")]
impl<B> BreakerLayer<B, ByHttp<SharedClassifier<GrpcErrorsAsFailures>>> {
    /// The same layer with other codes that are failures, and some that are ignored.
    pub(super) fn grpc_codes(mut self, failures: GrpcErrorsAsFailures, ignored: Ignored) -> Self {
        self.judge.classifier = SharedClassifier::new(failures);
        self.judge.grpc = Some(ignored);
        self
    }
}

impl<B, M> BreakerLayer<B, ByHttp<M>> {
    /// Judges a call when the body of its response ends: see [`GuardedBody`].
    pub fn until_body_ends(mut self) -> Self {
        self.judge.until_body_ends = true;
        self
    }

    /// A body in which nothing comes for so long, while its reader waits, has failed. Off unless set:
    /// there are streams that are quiet for long and well. Needs the feature `tokio`.
    #[cfg(feature = "tokio")]
    pub const fn silent_after(mut self, limit: Duration) -> Self {
        self.judge.terms.silent_after = Some(limit);
        self
    }

    /// Leaves `Retry-After` and gRPC's pushback to others.
    pub const fn ignore_retry_after(mut self) -> Self {
        self.judge.terms.heeds = false;
        self
    }
}

/// Judges each HTTP call by a classifier of tower-http's kind.
#[derive(Clone, Copy, Debug)]
pub struct ByHttp<M> {
    classifier: M,
    until_body_ends: bool,
    terms: Terms,
    /// For gRPC: codes that are ignored.
    grpc: Option<Ignored>,
}

/// Judges one HTTP call by a classifier of tower-http's kind.
#[derive(Debug)]
pub struct HttpCall<C> {
    classifier: C,
    until_body_ends: bool,
    terms: CallTerms,
    /// For gRPC: codes that are ignored.
    grpc: Option<Ignored>,
}

impl<M> Sealed for ByHttp<M> {}
impl<C> Sealed for HttpCall<C> {}

impl<M> Reclassify for ByHttp<M> {
    type By<F> = ByHead<F>;

    fn by<F>(self, classifier: F) -> ByHead<F> {
        ByHead::new(classifier, self.terms)
    }
}

impl<M: MakeClassifier, T> Judge<Request<T>> for ByHttp<M> {
    type Call = HttpCall<M::Classifier>;

    fn begin(&self, request: &Request<T>) -> Self::Call {
        HttpCall {
            classifier: self.classifier.make_classifier(request),
            until_body_ends: self.until_body_ends,
            terms: self.terms.of(request),
            grpc: self.grpc,
        }
    }
}

/// Whether a gRPC service answers: with a status, or with 200 and gRPC's type of content.
fn is_of_grpc<T>(response: &Response<T>) -> bool {
    let content_type = response.headers().get(http::header::CONTENT_TYPE);
    has_grpc_status(response.headers())
        || response.status() == StatusCode::OK
            && content_type.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"))
}

/// What the head of `response` says about the call's end.
fn end_by_head<C: ClassifyResponse, T>(
    classifier: C,
    until_body_ends: bool,
    grpc: Option<Ignored>,
    response: &Response<T>,
) -> End<C::ClassifyEos> {
    if is_rejection(response) {
        return End::Decided(Outcome::Ignored);
    }
    match grpc {
        Some(_) if !is_of_grpc(response) => return End::Decided(Outcome::Failure),
        Some(ignored) if ignored.are_in(response.headers()) => return End::Decided(Outcome::Ignored),
        _ => {}
    }
    match classifier.classify_response(response) {
        ClassifiedResponse::Ready(Ok(())) if until_body_ends => End::Fine,
        ClassifiedResponse::Ready(Ok(())) => End::Decided(Outcome::Success),
        ClassifiedResponse::RequiresEos(classifier) if !response.status().is_server_error() => {
            End::ByTrailers { classifier, grpc }
        }
        _ => End::Decided(Outcome::Failure),
    }
}

impl<C, T, E> JudgeCall<Response<T>, E> for HttpCall<C>
where
    C: ClassifyResponse,
    T: Body,
    E: 'static,
{
    type Judged<B: CallExt> = Response<GuardedBody<T, B, C::ClassifyEos>>;

    fn hangs<B: CallExt>(&self, held: &Held<B>) -> Outcome {
        self.terms.count(held, Outcome::Failure)
    }

    fn end<B: CallExt>(
        self,
        held: &mut Option<Held<B>>,
        result: Result<Response<T>, E>,
    ) -> Result<Self::Judged<B>, E> {
        let Self { classifier, until_body_ends, terms, grpc } = self;
        let (end, result) = match result {
            Ok(response) => {
                let end = end_by_head(classifier, until_body_ends, grpc, &response);
                (end, Ok(response))
            }
            Err(error) => {
                let (outcome, error) = judge_error(identity(held), error);
                (End::Decided(outcome), Err(error))
            }
        };
        terms.hand_over(held, result, end)
    }
}
