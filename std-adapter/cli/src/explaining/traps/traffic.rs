//! Traps in how the settings go with the traffic.

use std::time::Duration;

use super::trap;
use crate::explaining::full::{Full, Judges, Over};
use crate::explaining::noise::{Noise, number};
use crate::explaining::words::time;
use crate::explaining::{Surroundings, Trap};

/// Calls per second that many services don't have: a need for more is said unasked.
const MUCH: f64 = 10.0;

pub(super) fn too_little_traffic_for_failures(full: &Full, around: &Surroundings) -> Option<Trap> {
    let Judges::Failures { threshold, within } = full.failed else {
        return None;
    };
    let needed = f64::from(threshold) / within.as_secs_f64();
    match around.calls_per_second {
        Some(rate) if rate >= needed => None,
        Some(rate) => trap(
            "window.threshold",
            format!(
                "only {:.1} calls come within {}: even if all fail, {threshold} failures never \
                 come together, and the breaker never opens",
                rate * within.as_secs_f64(),
                time(within)
            ),
        ),
        None if needed >= MUCH => trap(
            "window.threshold",
            format!(
                "{threshold} failures within {} take {needed:.1} failed calls per second: below \
                 that the breaker never opens",
                time(within)
            ),
        ),
        None => None,
    }
}

pub(super) fn too_little_traffic_for_rate(full: &Full, around: &Surroundings) -> Option<Trap> {
    let rates = [Some(full.failed), full.slow];
    let (span, min_calls) = rates.into_iter().flatten().find_map(|judges| match judges {
        Judges::Rate { over: Over::Time { span, .. }, min_calls, .. } => Some((span, min_calls)),
        _ => None,
    })?;
    let needed = f64::from(min_calls) / span.as_secs_f64();
    match around.calls_per_second {
        Some(rate) if rate >= needed => None,
        Some(rate) => trap(
            "window.min_calls",
            format!(
                "only {:.1} calls come in {}, fewer than min_calls = {min_calls}: the breaker \
                 never opens",
                rate * span.as_secs_f64(),
                time(span)
            ),
        ),
        None if needed >= MUCH => trap(
            "window.min_calls",
            format!(
                "{min_calls} calls within {} take {needed:.1} calls per second: below that the \
                 breaker never opens",
                time(span)
            ),
        ),
        None => None,
    }
}

/// A count knows no traffic: at a thousand calls a second five failures are noise.
pub(super) fn too_much_traffic_for_a_count(full: &Full, around: &Surroundings) -> Option<Trap> {
    let Judges::Failures { threshold, within } = full.failed else {
        return None;
    };
    let calls = around.calls_per_second? * within.as_secs_f64();
    let percent = f64::from(threshold) / calls * 100.0;
    if percent >= 1.0 {
        return None;
    }
    trap(
        "window.kind",
        format!(
            "{threshold} failures within {} are {percent:.2} % of the {calls:.0} calls that come \
             in that time: ordinary errors will open the breaker; a rate (kind = \"time\") suits \
             this traffic",
            time(within)
        ),
    )
}

/// Trips in a day that nobody minds.
const FALSE_TRIPS: f64 = 0.1;

/// A breaker that opens though the dependency is well.
pub(in crate::explaining) fn noise(full: &Full, noise: &Noise) -> Option<Trap> {
    let per_day = noise.per_day().filter(|per_day| *per_day > FALSE_TRIPS && !noise.is_more)?;
    let why = match full.failed {
        Judges::Failures { threshold, within } => format!(
            "on a good day {} calls fail within {} anyway, and {threshold} open it; ",
            number(noise.normal * noise.calls_per_second? * within.as_secs_f64()),
            time(within)
        ),
        _ => String::new(),
    };
    let rejected = noise
        .open_share()
        .map_or(String::new(), |share| format!(", and rejects {:.1} % of the good calls", share * 100.0));
    trap("window", format!("{why}it opens {} times a day on noise alone{rejected}", number(per_day)))
}

/// A window of calls has no clock.
pub(super) fn old_calls_decide(full: &Full, around: &Surroundings) -> Option<Trap> {
    let Judges::Rate { over: Over::Calls(size), .. } = full.failed else {
        return None;
    };
    let seconds = f64::from(size) / around.calls_per_second?;
    if seconds < 300.0 {
        return None;
    }
    trap(
        "window.kind",
        format!(
            "the last {size} calls reach back {}: old failures count like new ones; a window of \
             time forgets them",
            time(Duration::from_secs(seconds as u64))
        ),
    )
}

pub(super) fn all_return_at_once(full: &Full, around: &Surroundings) -> Option<Trap> {
    let rate = around.calls_per_second?;
    if full.config.latch() || rate < 100.0 || !full.ramp().is_zero() {
        return None;
    }
    trap(
        "ramp",
        format!(
            "once probes succeed, all {rate:.0} calls per second come back at once, and may bring \
             down what has just come up; a ramp lets them back bit by bit"
        ),
    )
}

/// Probes are calls that come anyway: nothing makes any.
pub(super) fn closes_rarely(full: &Full, around: &Surroundings) -> Option<Trap> {
    let successes = full.config.probe_successes();
    let wait = f64::from(successes) / around.calls_per_second?;
    if full.config.latch() || successes < 2 || wait < 60.0 {
        return None;
    }
    trap(
        "probe_successes",
        format!(
            "{successes} calls take {} to come at all: for so long the breaker stays half-open, \
             though the dependency is well",
            time(Duration::from_secs(wait as u64))
        ),
    )
}
