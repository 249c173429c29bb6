//! circuitbreaker-rs: `CircuitBreaker::call` with its default policy, tripped by five failures in a row.
//!
//! Fair because the rate half of the policy is out of reach and the metric sink is the one that does
//! nothing, as by default. That each call reads the clock twice, to tell the sink how long it took, is the
//! crate's own decision and cannot be turned off.

use ::circuitbreaker_rs::{BreakerError, CircuitBreaker, DefaultPolicy};

use crate::subject::{Answer, Fault, Limits, OPEN_FOR, Peer, Work, perform};

/// A breaker of circuitbreaker-rs.
pub struct CircuitbreakerRs(CircuitBreaker<DefaultPolicy, Fault>);

impl Peer for CircuitbreakerRs {
    const WHO: &'static str = "circuitbreaker-rs";

    fn build(limits: Limits) -> Self {
        let failures = match limits {
            Limits::Ordinary => 5,
            Limits::Unreachable => u64::MAX,
        };
        // A rate of 2 is out of reach. Its `build` makes the policy from these numbers and ignores a given one.
        let builder = CircuitBreaker::<DefaultPolicy, Fault>::builder()
            .failure_threshold(2.0)
            .min_throughput(u64::MAX)
            .consecutive_failures(failures);
        Self(builder.cooldown(OPEN_FOR).build())
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        |work| match self.0.call(|| perform(work)) {
            Ok(()) => Answer::Succeeded,
            Err(BreakerError::Operation(_)) => Answer::Failed,
            Err(_) => Answer::Rejected,
        }
    }

    fn force_open(&self) -> bool {
        self.0.force_open()
    }
}
