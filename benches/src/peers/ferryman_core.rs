//! ferryman-core: `try_acquire` and `record_success` or `record_failure`, five failures in a row.
//!
//! Fair because this is its only interface, used as its example does. The nearest rival: atomics without a
//! lock, and a store on each success.

use ::ferryman_core::{Breaker, BreakerConfig};

use crate::subject::{Answer, Limits, OPEN_FOR, Peer, Work, perform};

/// A breaker of ferryman-core.
pub struct FerrymanCore(Breaker);

impl Peer for FerrymanCore {
    const WHO: &'static str = "ferryman-core";

    fn build(limits: Limits) -> Self {
        let failures = match limits {
            Limits::Ordinary => 5,
            Limits::Unreachable => u32::MAX,
        };
        let config = BreakerConfig::default().with_failure_threshold(failures).with_cooldown(OPEN_FOR);
        Self(Breaker::new(config).expect("these limits are allowed"))
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        |work| {
            let Some(ticket) = self.0.try_acquire() else {
                return Answer::Rejected;
            };
            match perform(work) {
                Ok(()) => {
                    self.0.record_success(ticket);
                    Answer::Succeeded
                }
                Err(_) => {
                    self.0.record_failure(ticket);
                    Answer::Failed
                }
            }
        }
    }
}
