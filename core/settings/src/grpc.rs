//! gRPC's status codes, and those with which a service says that it is unwell.
//!
//! Source: <https://grpc.github.io/grpc/core/md_doc_statuscodes.html>.

/// The codes' names, in the order of their numbers.
pub const CODES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// The numbers of the codes that are failures unless a file says otherwise: unknown, deadline exceeded,
/// resource exhausted, internal, unavailable and data loss. All others are answers to the request: a client
/// that asks for what isn't there must not trip the breaker for the rest.
pub const FAILURES: [u16; 6] = [2, 4, 8, 13, 14, 15];
