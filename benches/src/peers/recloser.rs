//! recloser: `Recloser::call` on its ring of the last hundred calls, tripped at a failure rate of one half.
//!
//! Fair because these are its defaults and it has no other window; its cost does not depend on the ring's
//! length. That a rate needs a full ring before it trips is its own rule, so it trips after a hundred
//! failures where others trip after five.

use recloser::Error;

use crate::subject::{Answer, Limits, OPEN_FOR, Peer, Work, perform};

/// A breaker of recloser.
pub struct Recloser(recloser::Recloser);

impl Peer for Recloser {
    const WHO: &'static str = "recloser";

    fn build(limits: Limits) -> Self {
        let rate = match limits {
            Limits::Ordinary => 0.5,
            Limits::Unreachable => 2.0,
        };
        Self(recloser::Recloser::custom().error_rate(rate).open_wait(OPEN_FOR).build())
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        |work| match self.0.call(|| perform(work)) {
            Ok(()) => Answer::Succeeded,
            Err(Error::Inner(_)) => Answer::Failed,
            Err(Error::Rejected) => Answer::Rejected,
        }
    }
}
