//! What is probably not meant. Each trap is a function that looks for it.

use std::time::Duration;

use crate::explaining::full::{Full, Judges, Over};
use crate::explaining::words::time;
use crate::explaining::{Surroundings, Trap};

type Check = fn(&Full, &Surroundings) -> Option<Trap>;

const CHECKS: [Check; 17] = [
    too_little_traffic_for_failures,
    too_little_traffic_for_rate,
    too_much_traffic_for_a_count,
    trips_on_one_call,
    only_a_total_outage,
    a_success_between,
    one_bucket,
    old_calls_decide,
    open_time_shorter_than_timeout,
    lease_shorter_than_timeout,
    lease_shorter_than_slow_calls,
    never_slow,
    open_for_long,
    no_backoff,
    all_return_at_once,
    fleet_in_step,
    recovers_slowly,
];

pub(super) fn traps(full: &Full, around: &Surroundings) -> Vec<Trap> {
    CHECKS
        .iter()
        .filter_map(|check| check(full, around))
        .collect()
}

fn trap(setting: &'static str, warning: String) -> Option<Trap> {
    Some(Trap { setting, warning })
}

/// The longest that a call is known to take.
fn longest_call(full: &Full, around: &Surroundings) -> Option<Duration> {
    match (around.timeout, full.hung_after) {
        // A hung call is judged then, whatever its timeout.
        (Some(timeout), Some(hung)) => Some(timeout.min(hung)),
        (timeout, hung) => timeout.or(hung),
    }
}

fn too_little_traffic_for_failures(full: &Full, around: &Surroundings) -> Option<Trap> {
    let Judges::Failures { threshold, within } = full.failed else {
        return None;
    };
    let calls = around.calls_per_second? * within.as_secs_f64();
    if calls >= f64::from(threshold) {
        return None;
    }
    trap(
        "window.threshold",
        format!(
            "only {calls:.1} calls come within {}: even if all fail, {threshold} failures never \
             come together, and the breaker never opens",
            time(within)
        ),
    )
}

fn too_little_traffic_for_rate(full: &Full, around: &Surroundings) -> Option<Trap> {
    let rates = [Some(full.failed), full.slow];
    let (span, min_calls) = rates
        .into_iter()
        .flatten()
        .find_map(|judges| match judges {
            Judges::Rate {
                over: Over::Time { span, .. },
                min_calls,
                ..
            } => Some((span, min_calls)),
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
        // Said unasked where it is much for many services.
        None if needed >= 10.0 => trap(
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
fn too_much_traffic_for_a_count(full: &Full, around: &Surroundings) -> Option<Trap> {
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

fn trips_on_one_call(full: &Full, _: &Surroundings) -> Option<Trap> {
    match full.failed {
        Judges::Failures { threshold: 1, .. } | Judges::Consecutive { threshold: 1 } => trap(
            "window.threshold",
            "a single failure opens the breaker".into(),
        ),
        Judges::Rate {
            min_calls, percent, ..
        } if u64::from(min_calls) * u64::from(percent) <= 100 => trap(
            "window.min_calls",
            format!("a single failure among the first {min_calls} calls opens the breaker"),
        ),
        _ => None,
    }
}

fn only_a_total_outage(full: &Full, _: &Surroundings) -> Option<Trap> {
    match full.failed {
        Judges::Rate { percent: 100, .. } => trap(
            "window.failure_rate_percent",
            "a single success among the calls keeps the breaker closed".into(),
        ),
        Judges::Rate { percent, .. } if percent > 90 => trap(
            "window.failure_rate_percent",
            format!(
                "a dependency that still answers {} % of its calls keeps the breaker closed",
                101 - percent
            ),
        ),
        _ => None,
    }
}

fn a_success_between(full: &Full, _: &Surroundings) -> Option<Trap> {
    match full.failed {
        Judges::Consecutive { threshold } if threshold >= 5 => trap(
            "window.kind",
            format!(
                "one success starts the count anew: while half of all calls fail, {threshold} \
                 failures in a row come once in about {} calls",
                2_u64.saturating_pow(threshold.saturating_add(1).min(63))
            ),
        ),
        _ => None,
    }
}

fn one_bucket(full: &Full, _: &Surroundings) -> Option<Trap> {
    match full.failed {
        Judges::Rate {
            over: Over::Time { buckets: 1, span },
            ..
        } => trap(
            "window.buckets",
            format!(
                "with one bucket the window starts empty every {}: failures on both sides of \
                 that moment are not seen together",
                time(span)
            ),
        ),
        _ => None,
    }
}

/// A window of calls has no clock.
fn old_calls_decide(full: &Full, around: &Surroundings) -> Option<Trap> {
    let Judges::Rate {
        over: Over::Calls(size),
        ..
    } = full.failed
    else {
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

fn open_time_shorter_than_timeout(full: &Full, around: &Surroundings) -> Option<Trap> {
    let longest = longest_call(full, around)?;
    if full.config.latch() || full.open_for() >= longest {
        return None;
    }
    trap(
        "open_for",
        format!(
            "{} is shorter than the {} that a call may hang: the breaker lets probes through \
             while calls from before the trip still wait, and each failing probe holds a worker \
             for longer than the breaker then rests",
            time(full.open_for()),
            time(longest)
        ),
    )
}

fn lease_shorter_than_timeout(full: &Full, around: &Surroundings) -> Option<Trap> {
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

fn lease_shorter_than_slow_calls(full: &Full, _: &Surroundings) -> Option<Trap> {
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

fn never_slow(full: &Full, around: &Surroundings) -> Option<Trap> {
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

fn open_for_long(full: &Full, _: &Surroundings) -> Option<Trap> {
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

fn no_backoff(full: &Full, _: &Surroundings) -> Option<Trap> {
    let short = full.open_for() < Duration::from_secs(2);
    if full.config.latch() || !short || full.max_open() > full.open_for() {
        return None;
    }
    trap(
        "max_open",
        format!(
            "without max_open there is no backoff: a dependency that is down for long is probed \
             every {}",
            time(full.open_for())
        ),
    )
}

fn all_return_at_once(full: &Full, around: &Surroundings) -> Option<Trap> {
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

fn fleet_in_step(full: &Full, _: &Surroundings) -> Option<Trap> {
    if full.config.latch() || full.jitter_permille > 0 || full.max_open() == full.open_for() {
        return None;
    }
    trap(
        "jitter_permille",
        "without jitter, instances that tripped together probe together, at every step of the \
         backoff"
            .into(),
    )
}

fn recovers_slowly(full: &Full, around: &Surroundings) -> Option<Trap> {
    let rounds = u32::from(full.config.successes().div_ceil(full.config.probes()));
    let longest = longest_call(full, around)?;
    let wait = longest.saturating_mul(rounds);
    if full.config.latch() || rounds < 2 || wait <= full.open_for() {
        return None;
    }
    trap(
        "successes",
        format!(
            "{} successes with {} at a time can take {} to close a healthy but slow dependency's \
             breaker, while all others are rejected",
            full.config.successes(),
            full.config.probes(),
            time(wait)
        ),
    )
}
