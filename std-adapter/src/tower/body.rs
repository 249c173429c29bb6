//! The body of a response whose call goes on until the body ends.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tower_http::classify::ClassifyEos;

use nanobreaker_core::Outcome;

use super::answer::CallTerms;
use super::grpc::Ignored;
use crate::call::{CallExt, Held, Silence};

/// What the end of a body means.
pub(super) enum End<C> {
    /// Nothing: the head was decisive.
    Decided(Outcome),
    /// All went well.
    Fine,
    /// What the trailers say. Those of gRPC must name a status: it is a failure where they don't.
    ByTrailers { classifier: C, grpc: Option<Ignored> },
}

pub(super) fn has_grpc_status(headers: &HeaderMap) -> bool {
    headers.contains_key("grpc-status")
}

impl<C: ClassifyEos> End<C> {
    fn outcome(self, trailers: Option<&HeaderMap>) -> Outcome {
        match self {
            Self::Decided(outcome) => outcome,
            Self::Fine => Outcome::Success,
            Self::ByTrailers { grpc: Some(ignored), .. }
                if trailers.is_some_and(|trailers| ignored.are_in(trailers)) =>
            {
                Outcome::Ignored
            }
            Self::ByTrailers { classifier, grpc } => {
                let has_status = trailers.is_some_and(has_grpc_status);
                match classifier.classify_eos(trailers) {
                    Ok(()) if has_status || grpc.is_none() => Outcome::Success,
                    _ => Outcome::Failure,
                }
            }
        }
    }
}

pin_project! {
    /// The body of a response, with the permit of its call where the body decides how that ended.
    ///
    /// | the body | outcome |
    /// | -------- | ------- |
    /// | ends | success, or what the classifier makes of its trailers |
    /// | fails, or panics | failure |
    /// | is silent for the layer's `silent_after` while someone waits for it | failure, at that moment |
    /// | is dropped before its end | none |
    ///
    /// A probe is decided as soon as the answer has begun well: by a good head or, where the classifier
    /// waits for the trailers, by the first message. A stream may go on for longer than any probe's lease, but
    /// its first message must come within that.
    /// If that closed the breaker, the end of the body counts as for any other call.
    ///
    /// A call is slow if the response's *head* took longer than `slow_after`, and hung if the head took
    /// longer than `hung_after`: a stream may go on for as long as it likes, and its reader may take its
    /// time. With `silent_after` a reader that waits costs a timer, in a box of its own.
    pub struct GuardedBody<T, B: CallExt, C> {
        #[pin]
        body: T,
        silence: Silence,
        // Gone once the call has ended.
        under_way: Option<(Held<B>, End<C>, CallTerms)>,
    }
}

impl<T: fmt::Debug, B: CallExt, C> fmt::Debug for GuardedBody<T, B, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_under_way = self.under_way.is_some();
        let mut body = f.debug_struct("GuardedBody");
        body.field("body", &self.body).field("is_under_way", &is_under_way).finish_non_exhaustive()
    }
}

impl<T: Body, B: CallExt, C: ClassifyEos> GuardedBody<T, B, C> {
    pub(super) fn new(
        body: T,
        mut held: Held<B>,
        end: End<C>,
        terms: CallTerms,
        asked: Option<Duration>,
        silent_after: Option<Duration>,
    ) -> Self {
        held.answer_begins();
        if matches!(end, End::Fine) {
            held.begins_well();
        }
        // Servers and clients don't poll a body that they know to be at its end.
        let under_way = if matches!(end, End::Decided(_)) || body.is_end_stream() {
            terms.spend(&mut held, end.outcome(None));
            terms.heed(&held, asked);
            None
        } else {
            terms.heed(&held, asked);
            Some((held, end, terms))
        };
        Self { body, silence: Silence::new(silent_after), under_way }
    }
}

impl<T: Body, B: CallExt, C: ClassifyEos> Body for GuardedBody<T, B, C> {
    type Data = T::Data;
    type Error = T::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<T::Data>, T::Error>>> {
        let mut this = self.project();
        let Some((mut held, end, terms)) = this.under_way.take() else {
            return this.body.poll_frame(context);
        };
        // If this panics, the permit is spent as the stack unwinds.
        let poll = held.poll_part(
            context,
            this.silence,
            |context| this.body.as_mut().poll_frame(context),
            |held| terms.count(held, Outcome::Failure),
        );
        match &poll {
            Poll::Ready(None) => terms.spend(&mut held, end.outcome(None)),
            Poll::Ready(Some(Err(_))) => terms.spend(&mut held, Outcome::Failure),
            Poll::Ready(Some(Ok(frame))) if frame.is_trailers() => {
                let outcome = end.outcome(frame.trailers_ref());
                terms.spend(&mut held, outcome);
                if outcome == Outcome::Failure {
                    terms.heed_trailers(&held, frame.trailers_ref());
                }
            }
            Poll::Ready(Some(Ok(_))) if this.body.is_end_stream() => {
                terms.spend(&mut held, end.outcome(None));
            }
            Poll::Ready(Some(Ok(_))) => {
                held.begins_well();
                *this.under_way = Some((held, end, terms));
            }
            Poll::Pending => *this.under_way = Some((held, end, terms)),
        }
        poll
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
