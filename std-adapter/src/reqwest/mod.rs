//! A breaker per host for reqwest, through reqwest-middleware (feature `reqwest`).
//!
//! ```
//! use std::time::Duration;
//! use nanobreaker::{SharedBreaker, reqwest::BreakerMiddleware};
//! use reqwest_middleware::ClientBuilder;
//!
//! let breakers = BreakerMiddleware::per_host(|_host| {
//!     SharedBreaker::builder()
//!         .failures(5, Duration::from_secs(10))
//!         .max_open(Duration::from_secs(60)) // as long as a host may ask for by Retry-After
//! });
//! let client = ClientBuilder::new(reqwest::Client::new()).with(breakers).build();
//! # drop(client);
//! ```
//!
//! # How requests are judged
//!
//! | result | outcome |
//! | ------ | ------- |
//! | status 5xx, 408 (the host waited in vain) or 429 (it asks for less) | failure |
//! | any other status | success: the host is well, whatever it thinks of the request |
//! | no connection, a timeout, a connection that broke | failure |
//! | a request that could not be built, a redirect that was not followed | ignored |
//! | rejected by another breaker further in | ignored |
//! | any other middleware's error from further in | failure |
//!
//! [`BreakerMiddleware::classify`] judges otherwise, and [`BreakerMiddleware::statuses`] as a file says. A request is judged when the head of its
//! response is there: timeouts and breaks while its body is read come after that.
//!
//! A response with status 429 or 5xx that says `Retry-After`, in seconds or as a date, opens the
//! breaker for that long, at most for its [`max_open`](crate::SharedBreakerBuilder::max_open): five
//! seconds unless set. Not so where a classifier ignores the response, nor after
//! [`BreakerMiddleware::ignore_retry_after`]. Where that is over before the breaker would let calls pass by itself, it
//! changes nothing.
//!
//! # Beside reqwest-retry
//!
//! Add the breaker *after* the retries. Then each attempt asks the breaker, retries end when it
//! opens (reqwest-retry does not retry what a middleware refused), and the attempts of one request
//! count as one failure: how often a client tries again says nothing about the host. A probe is
//! always judged, and an attempt that is hung (`SharedBreakerBuilder::hung_after`) is judged
//! while it hangs. Added *before* the retries, the breaker sees one call, judged by how the last
//! attempt ended; an error that was not worth a retry is hidden there, and counts as a failure.

mod judge;
mod middleware;
mod rejection;

pub use middleware::BreakerMiddleware;
pub use rejection::rejection;
