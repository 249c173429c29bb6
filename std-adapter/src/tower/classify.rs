//! Judges HTTP and gRPC calls: by tower-http's classifiers or by any other, when the response's head
//! is there or when its body ends.

use std::time::Duration;

use http::{Request, Response, StatusCode};
use http_body::Body;
use tower_http::classify::{
    ClassifiedResponse, ClassifyResponse, GrpcCode, GrpcErrorsAsFailures, MakeClassifier, NeverClassifyEos,
    SharedClassifier,
};

use nanobreaker_core::Outcome;

use super::body::{End, GuardedBody, has_grpc_status};
use super::judge::sealed::Sealed;
use super::{BreakerLayer, ByClassifier, Judge, JudgeCall};
use crate::call::{CallExt, Classifier, Held};

/// A response with a 5xx status is a failure, as is an error; any other response is a success.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerErrors;

impl<T, E> Classifier<Response<T>, E> for ServerErrors {
    #[inline]
    fn classify(&self, result: &Result<Response<T>, E>) -> Outcome {
        match result {
            Ok(response) if !response.status().is_server_error() => Outcome::Success,
            _ => Outcome::Failure,
        }
    }
}

/// The gRPC statuses with which a service says that it is unwell: unknown, deadline exceeded,
/// resource exhausted, internal, unavailable and data loss. All others are answers to the request: a
/// client that asks for what isn't there must not trip the breaker for the rest.
pub fn grpc_failures() -> GrpcErrorsAsFailures {
    [
        GrpcCode::Cancelled,
        GrpcCode::InvalidArgument,
        GrpcCode::NotFound,
        GrpcCode::AlreadyExists,
        GrpcCode::PermissionDenied,
        GrpcCode::FailedPrecondition,
        GrpcCode::Aborted,
        GrpcCode::OutOfRange,
        GrpcCode::Unimplemented,
        GrpcCode::Unauthenticated,
    ]
    .into_iter()
    .fold(GrpcErrorsAsFailures::new(), GrpcErrorsAsFailures::with_success)
}

impl<B> BreakerLayer<B, ByClassifier<ServerErrors>> {
    /// A layer for HTTP services: 5xx and errors are failures, judged when the response's head is
    /// there. The response stays as it is.
    pub const fn http(breaker: B) -> Self {
        Self { breaker, judge: ByClassifier(ServerErrors) }
    }
}

impl<B> BreakerLayer<B, ByHttp<SharedClassifier<GrpcErrorsAsFailures>>> {
    /// A layer for gRPC services, servers and clients: the [statuses](grpc_failures) of a service
    /// that is unwell are failures, wherever in the response they stand, and so are errors. An answer
    /// without a gRPC status is one too: a proxy's page, a stream that ended before its trailers.
    pub fn grpc(breaker: B) -> Self {
        let mut layer = BreakerLayer::new(breaker).classify_http(SharedClassifier::new(grpc_failures()));
        layer.judge.is_grpc = true;
        layer
    }
}

impl<B, J> BreakerLayer<B, J> {
    /// Judges each call with a classifier of tower-http, or one written for its layers.
    ///
    /// One that needs the end of the stream gets it; one that is content with the head is asked for
    /// that, and the body is judged too only after [`until_body_ends`](BreakerLayer::until_body_ends).
    /// Errors of the service and of the body are failures, and so is a 5xx where the classifier finds
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
        self.judged(ByHttp { classifier, until_body_ends: false, silent_after: None, is_grpc: false })
    }
}

#[cfg(feature = "settings")]
impl<B> BreakerLayer<B, ByHttp<SharedClassifier<GrpcErrorsAsFailures>>> {
    /// The same layer with other codes that are failures.
    pub(super) fn grpc_failures(mut self, failures: GrpcErrorsAsFailures) -> Self {
        self.judge.classifier = SharedClassifier::new(failures);
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
        self.judge.silent_after = Some(limit);
        self
    }
}

impl<B, K> BreakerLayer<B, UntilBodyEnds<K>> {
    /// A body in which nothing comes for so long, while its reader waits, has failed. Off unless set:
    /// there are streams that are quiet for long and well. Needs the feature `tokio`.
    #[cfg(feature = "tokio")]
    pub fn silent_after(mut self, limit: Duration) -> Self {
        self.judge.silent_after = Some(limit);
        self
    }
}

impl<B, K> BreakerLayer<B, ByClassifier<K>> {
    /// Judges a call when the body of its response ends, if the head was a success: see
    /// [`GuardedBody`].
    pub fn until_body_ends(self) -> BreakerLayer<B, UntilBodyEnds<K>> {
        let ByClassifier(classifier) = self.judge;
        BreakerLayer { breaker: self.breaker, judge: UntilBodyEnds { classifier, silent_after: None } }
    }
}

/// Judges each HTTP call by a [`Classifier`] of its head and, where that is a success, by the end of
/// its body.
#[derive(Clone, Copy, Debug)]
pub struct UntilBodyEnds<K> {
    classifier: K,
    silent_after: Option<Duration>,
}

impl<K> Sealed for UntilBodyEnds<K> {}

impl<K: Clone, Request> Judge<Request> for UntilBodyEnds<K> {
    type Call = Self;

    fn begin(&self, _: &Request) -> Self {
        self.clone()
    }
}

impl<K, T, E> JudgeCall<Response<T>, E> for UntilBodyEnds<K>
where
    K: Classifier<Response<T>, E>,
    T: Body,
{
    type Judged<B: CallExt> = Response<GuardedBody<T, B, NeverClassifyEos<()>>>;

    fn end<B: CallExt>(
        self,
        held: &mut Option<Held<B>>,
        result: Result<Response<T>, E>,
    ) -> Result<Self::Judged<B>, E> {
        let end = match self.classifier.classify(&result) {
            Outcome::Success => End::Fine,
            outcome => End::Decided(outcome),
        };
        hand_over(held, result, end, self.silent_after)
    }
}

/// Judges each HTTP call by a classifier of tower-http's kind.
#[derive(Clone, Copy, Debug)]
pub struct ByHttp<M> {
    classifier: M,
    until_body_ends: bool,
    silent_after: Option<Duration>,
    is_grpc: bool,
}

/// Judges one HTTP call by a classifier of tower-http's kind.
#[derive(Debug)]
pub struct HttpCall<C> {
    classifier: C,
    until_body_ends: bool,
    silent_after: Option<Duration>,
    is_grpc: bool,
}

impl<M> Sealed for ByHttp<M> {}
impl<C> Sealed for HttpCall<C> {}

impl<M: MakeClassifier, T> Judge<Request<T>> for ByHttp<M> {
    type Call = HttpCall<M::Classifier>;

    fn begin(&self, request: &Request<T>) -> Self::Call {
        HttpCall {
            classifier: self.classifier.make_classifier(request),
            until_body_ends: self.until_body_ends,
            silent_after: self.silent_after,
            is_grpc: self.is_grpc,
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

impl<C: ClassifyResponse> HttpCall<C> {
    fn head<T>(self, response: &Response<T>) -> End<C::ClassifyEos> {
        if self.is_grpc && !is_of_grpc(response) {
            return End::Decided(Outcome::Failure);
        }
        let needs_status = self.is_grpc;
        match self.classifier.classify_response(response) {
            ClassifiedResponse::Ready(Ok(())) if self.until_body_ends => End::Fine,
            ClassifiedResponse::Ready(Ok(())) => End::Decided(Outcome::Success),
            ClassifiedResponse::RequiresEos(classifier) if !response.status().is_server_error() => {
                End::ByTrailers { classifier, needs_status }
            }
            _ => End::Decided(Outcome::Failure),
        }
    }
}

impl<C, T, E> JudgeCall<Response<T>, E> for HttpCall<C>
where
    C: ClassifyResponse,
    T: Body,
{
    type Judged<B: CallExt> = Response<GuardedBody<T, B, C::ClassifyEos>>;

    fn end<B: CallExt>(
        self,
        held: &mut Option<Held<B>>,
        result: Result<Response<T>, E>,
    ) -> Result<Self::Judged<B>, E> {
        let silent_after = self.silent_after;
        let end = match &result {
            Ok(response) => self.head(response),
            Err(_) => End::Decided(Outcome::Failure),
        };
        hand_over(held, result, end, silent_after)
    }
}

/// Gives the permit to the response's body, or spends it where there is nothing to wait for.
fn hand_over<B: CallExt, T: Body, E, C: tower_http::classify::ClassifyEos>(
    held: &mut Option<Held<B>>,
    result: Result<Response<T>, E>,
    end: End<C>,
    silent_after: Option<Duration>,
) -> Result<Response<GuardedBody<T, B, C>>, E> {
    let Some(mut held) = held.take() else {
        crate::call::polled_again();
    };
    match (result, end) {
        (Ok(response), end) => Ok(response.map(|body| GuardedBody::new(body, held, end, silent_after))),
        (Err(error), End::Decided(outcome)) => {
            held.spend(outcome);
            Err(error)
        }
        // A classifier that calls an error a success.
        (Err(error), _) => {
            held.spend(Outcome::Success);
            Err(error)
        }
    }
}
