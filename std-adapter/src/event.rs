//! An event for each transition.
//!
//! Names and reasons may come from strangers. As fields they are quoted by whoever writes them; in the
//! message they are escaped here, so that no name begins a line of its own.

use nanobreaker_core::{Phase, Transition};

use crate::reason;

/// The target of all events.
const TARGET: &str = "nanobreaker";

/// Warns where calls are rejected from here on; informs of everything else.
pub(crate) fn tell(name: &str, transition: &Transition) {
    let Transition { generation, from, to, cause, open_for_ms, streak, .. } = *transition;
    let retry_after_ms = (to == Phase::Open).then_some(open_for_ms);
    let reason = reason::present();
    macro_rules! emit {
        ($level:ident) => {
            tracing::$level!(
                target: TARGET,
                breaker = name,
                generation,
                from = from.name(),
                to = to.name(),
                cause = cause.name(),
                retry_after_ms,
                streak,
                reason = reason.as_deref(),
                "breaker {} is {to}",
                name.escape_debug()
            )
        };
    }
    match to {
        Phase::Open | Phase::Isolated => emit!(warn),
        Phase::Closed | Phase::HalfOpen | Phase::Recovering | Phase::Disabled => emit!(info),
    }
}
