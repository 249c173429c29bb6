//! throttle-net: `CircuitBreaker::try_acquire` and the permit's outcome, five failures in a row.
//!
//! Its breaker wraps a rate limiter. Fair because the limiter here grants everything without touching memory,
//! so the row is the breaker alone, and because the non-waiting form has no future to poll.

use ::throttle_net::{CircuitBreaker, Decision, Limiter, Trip};

use crate::subject::{Answer, Limits, OPEN_FOR, Peer, Work, perform};

/// A limiter without a limit.
struct Unlimited;

impl Limiter for Unlimited {
    fn peek(&self, _: u32) -> Decision {
        Decision::Acquired
    }

    fn acquire_cost(&self, _: u32) -> Decision {
        Decision::Acquired
    }

    fn available(&self) -> u32 {
        u32::MAX
    }

    fn capacity(&self) -> u32 {
        u32::MAX
    }
}

/// A breaker of throttle-net.
pub struct ThrottleNet(CircuitBreaker<Unlimited>);

impl Peer for ThrottleNet {
    const WHO: &'static str = "throttle-net";

    fn build(limits: Limits) -> Self {
        let failures = match limits {
            Limits::Ordinary => 5,
            Limits::Unreachable => u32::MAX,
        };
        let builder = CircuitBreaker::builder().trip(Trip::Consecutive(failures));
        Self(builder.cooldown(OPEN_FOR).build(Unlimited))
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        |work| {
            let Ok(Some(permit)) = self.0.try_acquire() else {
                return Answer::Rejected;
            };
            match perform(work) {
                Ok(()) => {
                    permit.success();
                    Answer::Succeeded
                }
                Err(_) => {
                    permit.failure();
                    Answer::Failed
                }
            }
        }
    }
}
