//! Asks the breaker whether a call may be made.

use nanobreaker_core::window::Window;
use nanobreaker_core::{Breaker, Clock, Observer, Rejected, Token};

use crate::call::probing;
use crate::rejection::Rejection;

/// How a call was admitted.
pub(super) enum Admitted {
    Counted(Token),
    /// As part of a probe of the same breaker.
    WithinProbe,
}

/// Asks the breaker. Always inline: its answer would have to be written to memory, and read back from there.
#[inline(always)]
pub(super) fn allow<W: Window, C: Clock, O: Observer>(
    breaker: &Breaker<W, C, O>,
) -> Result<Admitted, Rejection> {
    match breaker.allow_token() {
        Ok(token) => Ok(Admitted::Counted(token)),
        // Put together anew here: were the answer passed on as it is, the healthy path's would have to lie in
        // memory, too.
        Err(rejected) => match refuse(breaker, rejected) {
            Some(rejection) => Err(rejection),
            None => Ok(Admitted::WithinProbe),
        },
    }
}

/// A rejection, unless a probe of the same breaker makes this call.
#[cold]
#[inline(never)]
fn refuse<W: Window, C: Clock, O: Observer>(
    breaker: &Breaker<W, C, O>,
    rejected: Rejected,
) -> Option<Rejection> {
    let is_within_probe = probing::is_running(probing::address(breaker));
    (!is_within_probe).then(|| Rejection::by(breaker, rejected))
}
