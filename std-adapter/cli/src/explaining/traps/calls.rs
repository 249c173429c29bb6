//! Traps in how the settings go with how long calls take.

use std::time::Duration;

use super::{longest_call, trap};
use crate::explaining::full::Full;
use crate::explaining::words::time;
use crate::explaining::{Surroundings, Trap};

pub(super) fn open_time_shorter_than_timeout(full: &Full, around: &Surroundings) -> Option<Trap> {
    let longest = longest_call(full, around)?;
    // Backoff rests for longer.
    if full.config.latch() || full.max_open() >= longest {
        return None;
    }
    trap(
        "open_for",
        format!(
            "{} is shorter than the {} that a call may hang, and so is max_open: the breaker lets probes through \
             while calls from before the trip still wait, and each failing probe holds a worker \
             for longer than the breaker then rests",
            time(full.open_for()),
            time(longest)
        ),
    )
}

pub(super) fn lease_shorter_than_timeout(full: &Full, around: &Surroundings) -> Option<Trap> {
    let longest = longest_call(full, around)?;
    if full.config.latch() || full.probe_lease() >= longest {
        return None;
    }
    trap(
        "probe_lease",
        format!(
            "probes are given up after {}, though a call may take {}: a dependency that is slow \
             but answers is never found healthy",
            time(full.probe_lease()),
            time(longest)
        ),
    )
}

pub(super) fn lease_shorter_than_slow_calls(full: &Full, _: &Surroundings) -> Option<Trap> {
    let slow_after = full.slow_after?;
    if full.config.latch() || full.probe_lease() >= slow_after {
        return None;
    }
    trap(
        "probe_lease",
        format!(
            "probes are given up after {}, before they would even count as slow ({})",
            time(full.probe_lease()),
            time(slow_after)
        ),
    )
}

pub(super) fn never_slow(full: &Full, around: &Surroundings) -> Option<Trap> {
    let (slow_after, longest) = (full.slow_after?, longest_call(full, around)?);
    if slow_after < longest {
        return None;
    }
    trap(
        "slow_after",
        format!(
            "no call is ever slow: it has failed after {}, before {} are over",
            time(longest),
            time(slow_after)
        ),
    )
}

/// As many calls one after another as the default asks for are no trap.
const FEW_ROUNDS: u32 = 3;

pub(super) fn recovers_slowly(full: &Full, around: &Surroundings) -> Option<Trap> {
    let rounds = u32::from(full.config.probe_successes().div_ceil(full.config.max_probes()));
    let longest = longest_call(full, around)?;
    let wait = longest.saturating_mul(rounds);
    if full.config.latch() || rounds <= FEW_ROUNDS || wait <= full.open_for() {
        return None;
    }
    trap(
        "probe_successes",
        format!(
            "{} successes with {} at a time can take {} to close a healthy but slow dependency's \
             breaker, while all others are rejected",
            full.config.probe_successes(),
            full.config.max_probes(),
            time(wait)
        ),
    )
}

pub(super) fn never_hung(full: &Full, around: &Surroundings) -> Option<Trap> {
    let (timeout, hung_after) = (around.timeout?, full.hung_after?);
    if hung_after < timeout {
        return None;
    }
    trap(
        "hung_after",
        format!(
            "no call is ever hung: its timeout ends it after {}, before {} are over",
            time(timeout),
            time(hung_after)
        ),
    )
}

pub(super) fn dropped(full: &Full, around: &Surroundings) -> Option<Trap> {
    let timeout = around.timeout.filter(|_| around.drops_calls)?;
    let is_judged_before = |limit: Option<Duration>| limit.is_some_and(|limit| limit < timeout);
    if is_judged_before(full.hung_after) || is_judged_before(full.slow_after) {
        return None;
    }
    trap(
        "hung_after",
        format!(
            "a timeout of {} outside of the breaker drops calls, which says nothing about the dependency: one \
             that hangs never opens it; put the timeout inside, or set hung_after below it",
            time(timeout)
        ),
    )
}

pub(super) fn finer_than_the_clock(full: &Full, _: &Surroundings) -> Option<Trap> {
    let slow_after = full.slow_after?;
    if slow_after >= Duration::from_millis(20) {
        return None;
    }
    trap(
        "slow_after",
        format!(
            "the default clock moves in steps of up to 10ms: whether a call took more than {} is \
             told only roughly",
            time(slow_after)
        ),
    )
}
