//! failsafe: `CircuitBreaker::call` on the policy of consecutive failures, with a constant backoff.
//!
//! Fair because it is the crate's cheaper policy (the default joins it with an exponentially weighted
//! success rate over a time window, which costs more) and its documented call.

use failsafe::failure_policy::ConsecutiveFailures;
use failsafe::{CircuitBreaker, Config, Error, StateMachine, backoff, failure_policy};

use crate::subject::{Answer, Limits, OPEN_FOR, Peer, Work, perform};

/// A breaker of failsafe.
pub struct Failsafe(StateMachine<ConsecutiveFailures<backoff::Constant>, ()>);

impl Peer for Failsafe {
    const WHO: &'static str = "failsafe";

    fn build(limits: Limits) -> Self {
        let failures = match limits {
            Limits::Ordinary => 5,
            Limits::Unreachable => u32::MAX,
        };
        let policy = failure_policy::consecutive_failures(failures, backoff::constant(OPEN_FOR));
        Self(Config::new().failure_policy(policy).build())
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        |work| match self.0.call(|| perform(work)) {
            Ok(()) => Answer::Succeeded,
            Err(Error::Inner(_)) => Answer::Failed,
            Err(Error::Rejected) => Answer::Rejected,
        }
    }
}
