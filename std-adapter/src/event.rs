//! An event for each transition.

use nanobreaker_core::{Phase, Transition};

/// The target of all events.
const TARGET: &str = "nanobreaker";

/// Warns where calls are rejected from here on; informs of everything else.
pub(crate) fn tell(name: &str, transition: &Transition) {
    let Transition { generation, from, to, cause, open_for_ms, streak, .. } = *transition;
    let retry_after_ms = (to == Phase::Open).then_some(open_for_ms);
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
                "breaker {name} is {to}"
            )
        };
    }
    match to {
        Phase::Open | Phase::Isolated => emit!(warn),
        Phase::Closed | Phase::HalfOpen | Phase::Recovering | Phase::Disabled => emit!(info),
    }
}
