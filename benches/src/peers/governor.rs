//! governor: not a breaker but the best-known lock-free neighbour, a rate limiter asked once per call.
//!
//! Its quota is out of reach (one cell per nanosecond, four thousand million at once), so that it admits
//! every call as a closed breaker does. Rows `healthy` only, and never counted as a peer.

use std::num::NonZeroU32;

use ::governor::{DefaultDirectRateLimiter, Quota, RateLimiter};

use crate::subject::{Answer, Limits, Peer, Work, admitted, perform};

/// A limiter of governor.
pub struct Governor(DefaultDirectRateLimiter);

impl Peer for Governor {
    const WHO: &'static str = "governor";

    fn build(_: Limits) -> Self {
        let per_second = NonZeroU32::new(1_000_000_000).expect("not zero");
        Self(RateLimiter::direct(Quota::per_second(per_second).allow_burst(NonZeroU32::MAX)))
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        |work| match self.0.check() {
            Ok(_) => admitted(perform(work)),
            Err(_) => Answer::Rejected,
        }
    }
}
