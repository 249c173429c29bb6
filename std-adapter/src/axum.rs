//! Breakers in front of axum's routes: rejected requests are answered 503, with `Retry-After`
//! (feature `axum`).
//!
//! ```
//! use axum::{Router, routing::get};
//! use nanobreaker::{SharedBreaker, axum::guard};
//!
//! let stock = SharedBreaker::builder().build()?;
//! let app: Router = Router::new().route("/stock", get(async || "7").layer(guard(stock)));
//! # drop(app);
//! # Ok::<(), nanobreaker::ConfigError>(())
//! ```
//!
//! A guarded route is the dependency: what it answers with a 5xx status is a failure. To guard what a
//! handler *calls*, make the call through the breaker and return the [`CallError`], which is a
//! response too.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum_core::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use crate::error::CallError;
use crate::rejection::Rejection;
use crate::tower::{BreakerLayer, ByHead, ServerErrors};

/// What [`guard`] makes: a breaker that judges by 5xx, and the answer for what it rejects.
pub type Guard<B> = (AnswerLayer, BreakerLayer<B, ByHead<ServerErrors>>);

/// A layer for routes: 5xx are failures, and what the breaker rejects is answered by [`unavailable`].
///
/// For another judge or another answer, put the two layers together yourself:
///
/// ```
/// # use axum::{Router, routing::get};
/// # use nanobreaker::{SharedBreaker, axum::AnswerLayer, tower::BreakerLayer};
/// # let breaker = SharedBreaker::builder().build()?;
/// let layers = (
///     AnswerLayer::with(|_rejected| "the answer of yesterday"),
///     BreakerLayer::http(breaker).until_body_ends(),
/// );
/// let app: Router = Router::new().route("/rates", get(async || "1.09").layer(layers));
/// # drop(app);
/// # Ok::<(), nanobreaker::ConfigError>(())
/// ```
pub fn guard<B>(breaker: B) -> Guard<B> {
    (AnswerLayer::new(), BreakerLayer::http(breaker))
}

/// As [`guard`], with the failures that the settings of a file name.
#[cfg(feature = "settings")]
pub fn guard_by<B>(
    breaker: B,
    statuses: nanobreaker_settings::Statuses,
) -> (AnswerLayer, BreakerLayer<B, ByHead<nanobreaker_settings::Statuses>>) {
    (AnswerLayer::new(), BreakerLayer::http_by(breaker, statuses))
}

/// 503 Service Unavailable, with `Retry-After` in whole seconds, rounded up; without while the breaker
/// is isolated, where no time is known.
///
/// The body names the breaker. The answer carries its [`Rejection`] among its extensions, by which a breaker
/// further out knows that the service it guards is well.
pub fn unavailable<R: Clone + Into<Rejection>>(rejected: &R) -> Response {
    let rejection: Rejection = rejected.clone().into();
    let body = match rejection.name() {
        Some(name) => format!("{name} is temporarily unavailable\n"),
        None => "temporarily unavailable\n".into(),
    };
    let mut response = (StatusCode::SERVICE_UNAVAILABLE, body).into_response();
    if let Some(ms) = rejection.retry_after_ms() {
        let seconds = u64::from(ms.div_ceil(1_000));
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)));
    }
    marked(response, rejection)
}

/// The answer with the rejection that it tells of.
fn marked(mut response: Response, rejection: Rejection) -> Response {
    response.extensions_mut().insert(rejection);
    response
}

/// 504 Gateway Timeout.
fn timed_out() -> Response {
    (StatusCode::GATEWAY_TIMEOUT, "no answer in time\n").into_response()
}

/// The same for gRPC: status 14, unavailable, with `grpc-retry-pushback-ms` where a time is known.
pub fn grpc_unavailable<R: Clone + Into<Rejection>>(rejected: &R) -> Response {
    let rejection: Rejection = rejected.clone().into();
    let message = rejection.name().and_then(|name| {
        // A name with other letters would have to be written in percents.
        let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/".contains(&byte));
        is_plain.then(|| HeaderValue::try_from(format!("{name} is temporarily unavailable")).ok())?
    });
    let headers = [
        ("content-type", HeaderValue::from_static("application/grpc")),
        ("grpc-status", HeaderValue::from_static("14")),
        ("grpc-message", message.unwrap_or(HeaderValue::from_static("temporarily unavailable"))),
    ];
    let mut response = headers.into_response();
    if let Some(ms) = rejection.retry_after_ms() {
        let headers = response.headers_mut();
        headers.insert("grpc-retry-pushback-ms", HeaderValue::from(ms));
    }
    marked(response, rejection)
}

/// [`unavailable`] where the call was rejected, 504 where it [timed out](CallError::TimedOut), else the
/// response of the caller's own error.
impl<E: IntoResponse> IntoResponse for CallError<E> {
    fn into_response(self) -> Response {
        match self {
            Self::Rejected(rejection) => unavailable(&rejection),
            Self::TimedOut => timed_out(),
            Self::Failed(error) => error.into_response(),
        }
    }
}

/// Answers requests that a breaker behind it rejected. Other errors pass.
#[derive(Clone, Copy, Debug)]
pub struct AnswerLayer<A = fn(Rejection) -> Response> {
    answer: A,
}

impl AnswerLayer {
    /// Answers with [`unavailable`].
    pub const fn new() -> Self {
        Self { answer: |rejection| unavailable(&rejection) }
    }

    /// Answers with [`grpc_unavailable`]: for servers of gRPC, tonic's or others.
    pub const fn grpc() -> Self {
        Self { answer: |rejection| grpc_unavailable(&rejection) }
    }
}

impl Default for AnswerLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<A> AnswerLayer<A> {
    /// Answers with what `answer` returns: a page, the answer of last time.
    pub const fn with<R: IntoResponse>(answer: A) -> Self
    where
        A: Fn(Rejection) -> R + Clone,
    {
        Self { answer }
    }
}

impl<S, A: Clone> Layer<S> for AnswerLayer<A> {
    type Service = AnswerService<S, A>;

    fn layer(&self, inner: S) -> Self::Service {
        AnswerService { inner, answer: self.answer.clone(), rejected_early: None }
    }
}

/// Answers requests that a breaker behind it rejected; made by an [`AnswerLayer`].
#[derive(Clone, Debug)]
pub struct AnswerService<S, A> {
    inner: S,
    answer: A,
    /// What a service rejected that asks its breaker in `poll_ready`: the next request, before it is
    /// there to be answered.
    rejected_early: Option<Rejection>,
}

impl<S, A, Request, R, T, E> Service<Request> for AnswerService<S, A>
where
    S: Service<Request, Response = T, Error = CallError<E>>,
    T: IntoResponse,
    A: Fn(Rejection) -> R + Clone,
    R: IntoResponse,
{
    type Response = Response;
    type Error = E;
    type Future = AnswerFuture<S::Future, A>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), E>> {
        self.rejected_early = None;
        match std::task::ready!(self.inner.poll_ready(context)) {
            Ok(()) => {}
            Err(CallError::Rejected(rejection)) => self.rejected_early = Some(rejection),
            Err(CallError::Failed(error)) => return Poll::Ready(Err(error)),
            // Said of calls only; the next one will tell.
            Err(CallError::TimedOut) => {}
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let answer = self.answer.clone();
        let step = match self.rejected_early.take() {
            Some(rejection) => Step::Rejected { rejection },
            None => Step::Calling { call: self.inner.call(request) },
        };
        AnswerFuture { step, answer }
    }
}

pin_project! {
    /// The future of an [`AnswerService`]. Dropping it drops the call behind it.
    #[must_use = "futures do nothing unless polled"]
    pub struct AnswerFuture<F, A> {
        #[pin]
        step: Step<F>,
        answer: A,
    }
}

pin_project! {
    #[project = Project]
    enum Step<F> {
        Calling { #[pin] call: F },
        Rejected { rejection: Rejection },
    }
}

impl<F, A> std::fmt::Debug for AnswerFuture<F, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnswerFuture").finish_non_exhaustive()
    }
}

impl<F, A, R, T, E> Future for AnswerFuture<F, A>
where
    F: Future<Output = Result<T, CallError<E>>>,
    T: IntoResponse,
    A: Fn(Rejection) -> R,
    R: IntoResponse,
{
    type Output = Result<Response, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let result = match this.step.project() {
            Project::Calling { call } => std::task::ready!(call.poll(context)),
            Project::Rejected { rejection } => Err(CallError::Rejected(rejection.clone())),
        };
        let answered = match result {
            Ok(response) => Ok(response.into_response()),
            Err(CallError::Rejected(rejection)) => {
                let answer = (this.answer)(rejection.clone()).into_response();
                Ok(marked(answer, rejection))
            }
            Err(CallError::TimedOut) => Ok(timed_out()),
            Err(CallError::Failed(error)) => Err(error),
        };
        Poll::Ready(answered)
    }
}
