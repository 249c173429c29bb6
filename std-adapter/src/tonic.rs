//! tonic's channels behind breakers, and rejections as statuses of gRPC (feature `tonic`).
//!
//! ```
//! use nanobreaker::{SharedBreaker, tonic::{GuardedChannel, guard}};
//! use tonic::transport::Channel;
//!
//! /// Clients are made from this as from a channel: `HealthClient::new(clients.channel.clone())`.
//! struct Clients {
//!     channel: GuardedChannel,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), nanobreaker::ConfigError> {
//! let breaker = SharedBreaker::builder().name("inventory").build()?;
//! let channel = Channel::from_static("http://127.0.0.1:50051").connect_lazy();
//! let clients = Clients { channel: guard(channel, breaker) };
//! # drop(clients.channel);
//! # Ok(())
//! # }
//! ```
//!
//! A rejected call ends with status UNAVAILABLE, and with `grpc-retry-pushback-ms` where a time is known; so it
//! does behind any [`BreakerLayer`], since there is such a status among the sources of each
//! [`Rejection`]. A method of a server that fails with a [`CallError`] can pass it on with `?`.

use std::sync::Arc;

use tonic::metadata::MetadataValue;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tower_http::classify::{GrpcErrorsAsFailures, SharedClassifier};
use tower_layer::Layer;

use nanobreaker_core::Outcome;
use nanobreaker_settings::grpc;

use crate::error::CallError;
use crate::rejection::Rejection;
use crate::shared::SharedBreaker;
use crate::tower::{BreakerLayer, BreakerService, ByHttp, is_refusal};

/// A channel behind a breaker; made by [`guard`]. Cheap to clone, as channels are.
pub type GuardedChannel =
    BreakerService<Channel, SharedBreaker, ByHttp<SharedClassifier<GrpcErrorsAsFailures>>>;

/// The channel behind the breaker, judged as [`BreakerLayer::grpc`] says.
pub fn guard(channel: Channel, breaker: SharedBreaker) -> GuardedChannel {
    BreakerLayer::grpc(breaker).layer(channel)
}

/// A classifier of gRPC's statuses: those [of a service that is unwell](crate::tower::grpc_failures) are
/// failures, and all others are answers. A call that its client cancelled is ignored, and so is one that a
/// breaker further in rejected.
///
/// ```
/// use nanobreaker::{CallExt, SharedBreaker, tonic::classify};
/// use tonic::Status;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), nanobreaker::ConfigError> {
/// let stock = SharedBreaker::builder().consecutive(1).build()?;
/// let call = async { Err::<(), _>(Status::not_found("no such article")) };
/// assert!(stock.calls().classify(classify).call_async(call).await.is_err());
/// assert!(stock.allow().is_ok());
/// # Ok(())
/// # }
/// ```
pub fn classify<T>(result: &Result<T, Status>) -> Outcome {
    match result {
        Ok(_) => Outcome::Success,
        Err(status) if is_refusal(status) || status.code() == Code::Cancelled => Outcome::Ignored,
        Err(status) if grpc::FAILURES.contains(&(status.code() as u16)) => Outcome::Failure,
        Err(_) => Outcome::Success,
    }
}

/// UNAVAILABLE, with pushback where a time is known.
pub(crate) fn unavailable(rejection: &Rejection) -> Status {
    let mut status = Status::unavailable(rejection.to_string());
    if let Some(ms) = rejection.retry_after_ms() {
        status.metadata_mut().insert("grpc-retry-pushback-ms", MetadataValue::from(ms));
    }
    status.set_source(Arc::new(**rejection));
    status
}

/// UNAVAILABLE where the call was rejected, DEADLINE_EXCEEDED where it [timed out](CallError::TimedOut), else
/// what the caller's own error is as a status.
impl<E: Into<Status>> From<CallError<E>> for Status {
    fn from(error: CallError<E>) -> Self {
        match error {
            CallError::Rejected(rejection) => unavailable(&rejection),
            CallError::TimedOut => Self::new(Code::DeadlineExceeded, "the call did not end in its time"),
            CallError::Failed(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_of_a_service_that_is_unwell_are_failures_and_answers_are_none() {
        let outcome = |code| classify::<()>(&Err(Status::new(code, "as the test says")));
        assert_eq!(classify(&Ok(1)), Outcome::Success);
        assert_eq!(outcome(Code::Unavailable), Outcome::Failure);
        assert_eq!(outcome(Code::DeadlineExceeded), Outcome::Failure);
        assert_eq!(outcome(Code::NotFound), Outcome::Success);
        assert_eq!(outcome(Code::Cancelled), Outcome::Ignored);
    }

    #[test]
    fn the_rejection_of_a_breaker_further_in_is_ignored() {
        let breaker = SharedBreaker::builder().name("stock").build().unwrap();
        breaker.trip();
        let rejection: Rejection = breaker.allow().unwrap_err().into();
        let status = Status::from_error(rejection.into());
        assert_eq!(status.code(), Code::Unavailable);
        assert_eq!(classify::<()>(&Err(status)), Outcome::Ignored);
    }
}
