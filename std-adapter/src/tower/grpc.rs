//! gRPC's failures, as tower-http's classifier takes them.

use http::HeaderMap;
use nanobreaker_settings::grpc::FAILURES;
use tower_http::classify::{GrpcCode, GrpcErrorsAsFailures};

/// The gRPC statuses with which a service says that it is unwell: unknown, deadline exceeded,
/// resource exhausted, internal, unavailable and data loss. All others are answers to the request: a
/// client that asks for what isn't there must not trip the breaker for the rest.
pub fn grpc_failures() -> GrpcErrorsAsFailures {
    failing(|code| FAILURES.contains(&code))
}

/// Codes that say nothing about a service, a bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ignored(u32);

impl Ignored {
    #[cfg(feature = "settings")]
    pub(super) fn codes(is_ignored: impl Fn(u16) -> bool) -> Self {
        let bits = (0..=16).filter(|code| is_ignored(*code)).map(|code| 1 << code);
        Self(bits.sum())
    }

    /// Whether these headers, or trailers, have such a code.
    pub(super) fn are_in(self, headers: &HeaderMap) -> bool {
        let code = headers.get("grpc-status").and_then(|value| value.to_str().ok()?.parse().ok());
        code.and_then(|code| self.0.checked_shr(code)).is_some_and(|bits| bits & 1 == 1)
    }
}

/// The codes with these numbers are failures, all others successes.
pub(super) fn failing(is_failure: impl Fn(u16) -> bool) -> GrpcErrorsAsFailures {
    let successes = (1..).zip(CODES).filter(|(code, _)| !is_failure(*code));
    successes.fold(GrpcErrorsAsFailures::new(), |all, (_, code)| all.with_success(code))
}

/// All but `OK`, in the order of their numbers.
const CODES: [GrpcCode; 16] = [
    GrpcCode::Cancelled,
    GrpcCode::Unknown,
    GrpcCode::InvalidArgument,
    GrpcCode::DeadlineExceeded,
    GrpcCode::NotFound,
    GrpcCode::AlreadyExists,
    GrpcCode::PermissionDenied,
    GrpcCode::ResourceExhausted,
    GrpcCode::FailedPrecondition,
    GrpcCode::Aborted,
    GrpcCode::OutOfRange,
    GrpcCode::Unimplemented,
    GrpcCode::Internal,
    GrpcCode::Unavailable,
    GrpcCode::DataLoss,
    GrpcCode::Unauthenticated,
];
