//! reliakit-circuit: `allow`, `on_success` or `on_failure`, inside a parking_lot mutex, five failures in a row.
//!
//! Its breaker takes `&mut self` and is handed the time, so sharing it needs a lock and a clock of the user's
//! choice. Fair because the lock is the quickest at hand, held apart for asking and for reporting (the
//! protected call must not run under it), and the clock is the coarse one, read only where an open breaker
//! or a failure needs the time.

use ::reliakit_circuit::{CircuitBreaker, State};
use parking_lot::Mutex;

use crate::subject::{Answer, Limits, OPEN_FOR, Peer, Work, perform};
use crate::yardsticks::coarse_now_ms;

/// A breaker of reliakit-circuit, and the lock that its users put around it.
pub struct ReliakitCircuit(Mutex<CircuitBreaker>);

impl Peer for ReliakitCircuit {
    const WHO: &'static str = "reliakit-circuit";

    fn build(limits: Limits) -> Self {
        let failures = match limits {
            Limits::Ordinary => 5,
            Limits::Unreachable => u32::MAX,
        };
        Self(Mutex::new(CircuitBreaker::new(failures, OPEN_FOR.as_millis() as u64)))
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        |work| {
            let allowed = {
                let mut breaker = self.0.lock();
                let now = if breaker.state() == State::Open { coarse_now_ms() } else { 0 };
                breaker.allow(now)
            };
            if !allowed {
                return Answer::Rejected;
            }
            match perform(work) {
                Ok(()) => {
                    self.0.lock().on_success();
                    Answer::Succeeded
                }
                Err(_) => {
                    let now = coarse_now_ms();
                    self.0.lock().on_failure(now);
                    Answer::Failed
                }
            }
        }
    }

    fn force_open(&self) -> bool {
        self.0.lock().trip(coarse_now_ms());
        true
    }
}
