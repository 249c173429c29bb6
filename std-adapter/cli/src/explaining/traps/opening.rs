//! Traps in how long the breaker stays open.

use std::time::Duration;

use super::trap;
use crate::explaining::full::Full;
use crate::explaining::words::time;
use crate::explaining::{Surroundings, Trap};

pub(super) fn open_for_long(full: &Full, _: &Surroundings) -> Option<Trap> {
    if full.config.latch() || full.open_for() <= Duration::from_secs(300) {
        return None;
    }
    trap(
        "open_for",
        format!(
            "a blip of a second keeps every call out for {}; a short open time with backoff \
             (max_open) comes back sooner",
            time(full.open_for())
        ),
    )
}

pub(super) fn no_backoff(full: &Full, _: &Surroundings) -> Option<Trap> {
    let short = full.open_for() < Duration::from_secs(2);
    if full.config.latch() || !short || full.max_open() > full.open_for() {
        return None;
    }
    trap(
        "max_open",
        format!(
            "with max_open no longer than open_for there is no backoff: a dependency that is down for \
             long is probed every {}",
            time(full.open_for())
        ),
    )
}

/// Instances whose open times are no longer than this meet anyway.
const SHORT: Duration = Duration::from_secs(10);

pub(super) fn fleet_in_step(full: &Full, _: &Surroundings) -> Option<Trap> {
    let has_backoff = full.max_open() > full.open_for().max(SHORT);
    if full.config.latch() || full.jitter_permille > 0 || !has_backoff {
        return None;
    }
    trap(
        "jitter_permille",
        "without jitter, instances that tripped together probe together, at every step of the \
         backoff"
            .into(),
    )
}

pub(super) fn backs_off_for_long(full: &Full, _: &Surroundings) -> Option<Trap> {
    let (open_for, max_open) = (full.open_for(), full.max_open());
    if full.config.latch() || max_open == open_for || max_open <= Duration::from_secs(900) {
        return None;
    }
    trap(
        "max_open",
        format!(
            "after a long outage a dependency that is well again may wait for up to {} to be asked",
            time(max_open)
        ),
    )
}
