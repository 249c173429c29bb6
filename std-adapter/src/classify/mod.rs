//! What the results of calls say about a dependency's health, for errors that many have. Each is a classifier
//! for a [breaker](crate::SharedBreakerBuilder::classify), for a [call](crate::Caller::classify) and for a layer.
//!
//! | function | of |
//! | -------- | -- |
//! | [`io`] | the standard library's errors of input and output |
//! | `redis` | errors of the crate `redis`, for Redis and Valkey (feature `redis`) |
//! | `sqlx` | errors of the crate `sqlx`, for PostgreSQL and MySQL (feature `sqlx`) |
//! | `reqwest::classify` | reqwest's responses and errors (feature `reqwest`); for calls alone, since it judges answers, too |
//! | `tonic::classify` | gRPC's statuses (feature `tonic`) |
//!
//! All judge alike:
//!
//! * What says that the server is unwell or can't be reached is a failure, and so is time that ran out.
//! * What the server answers is a success, also where the answer is no: it is well, whatever it thinks of the
//!   question.
//! * What this process did wrong by itself is ignored, since it says nothing about the server.
//!
//! None says that a call was slow: [`slow_after`](crate::SharedBreakerBuilder::slow_after) measures that,
//! whatever the call came to.

mod io;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "sqlx")]
mod sqlx;

pub use io::io;
#[cfg(feature = "redis")]
pub use redis::redis;
#[cfg(feature = "sqlx")]
pub use sqlx::sqlx;
