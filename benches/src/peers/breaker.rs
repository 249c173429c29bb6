//! breaker: `CircuitBreaker::call`, tripped by five failures in a row.
//!
//! Fair because the rate is off (a threshold of 0 turns it off, as its documentation says) and the future is
//! ready at its first poll, so the call is the crate's own work and nothing else. The window of the last ten
//! outcomes is kept whatever the configuration.

use ::breaker::{CircuitBreaker, CircuitBreakerConfig, CircuitBreakerError};

use crate::poll;
use crate::subject::{Answer, Limits, OPEN_FOR, Peer, Work, perform};

/// A breaker of breaker.
pub struct Breaker(CircuitBreaker);

impl Peer for Breaker {
    const WHO: &'static str = "breaker";

    fn build(limits: Limits) -> Self {
        let failures = match limits {
            Limits::Ordinary => 5,
            Limits::Unreachable => u32::MAX,
        };
        let config = CircuitBreakerConfig::builder()
            .failure_rate_threshold(0.0)
            .consecutive_failures(failures)
            .wait_duration(OPEN_FOR);
        Self(CircuitBreaker::new(config.build()))
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        |work| match poll::ready(self.0.call(|| async { perform(work) })) {
            Ok(()) => Answer::Succeeded,
            Err(CircuitBreakerError::Failure(_)) => Answer::Failed,
            Err(_) => Answer::Rejected,
        }
    }

    fn force_open(&self) -> bool {
        self.0.trip();
        true
    }
}
