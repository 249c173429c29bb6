//! nobreak: `CircuitBreaker::call`, five failures in a row, which is its default.
//!
//! Fair because it is all that the crate has. It locks a standard mutex twice per call.

use ::nobreak::{CircuitBreaker, CircuitError};

use crate::subject::{Answer, Limits, OPEN_FOR, Peer, Work, perform};

/// A breaker of nobreak.
pub struct Nobreak(CircuitBreaker);

impl Peer for Nobreak {
    const WHO: &'static str = "nobreak";

    fn build(limits: Limits) -> Self {
        let failures = match limits {
            Limits::Ordinary => 5,
            Limits::Unreachable => usize::MAX,
        };
        Self(::nobreak::builder().with_failure_threshold(failures).with_open_duration(OPEN_FOR).build())
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        |work| match self.0.call(|| perform(work)) {
            Ok(()) => Answer::Succeeded,
            Err(CircuitError::Failed { .. }) => Answer::Failed,
            Err(CircuitError::Open) => Answer::Rejected,
        }
    }
}
