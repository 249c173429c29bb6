//! Traps in what trips.

use super::trap;
use crate::explaining::full::{Full, Judges, Over};
use crate::explaining::words::time;
use crate::explaining::{Surroundings, Trap};

pub(super) fn trips_on_one_call(full: &Full, _: &Surroundings) -> Option<Trap> {
    match full.failed {
        Judges::Failures { threshold: 1, .. } | Judges::Consecutive { threshold: 1 } => {
            trap("window.threshold", "a single failure opens the breaker".into())
        }
        Judges::Rate { min_calls, percent, .. } if f64::from(min_calls) * percent <= 100.0 => trap(
            "window.min_calls",
            format!("a single failure among the first {min_calls} calls opens the breaker"),
        ),
        _ => None,
    }
}

pub(super) fn only_a_total_outage(full: &Full, _: &Surroundings) -> Option<Trap> {
    match full.failed {
        Judges::Rate { percent: 100.0, .. } => trap(
            "window.failure_rate_percent",
            "a single success among the calls keeps the breaker closed".into(),
        ),
        Judges::Rate { percent, .. } if percent > 90.0 => trap(
            "window.failure_rate_percent",
            format!(
                "a dependency that still answers {} % of its calls keeps the breaker closed",
                101.0 - percent
            ),
        ),
        _ => None,
    }
}

pub(super) fn a_success_between(full: &Full, _: &Surroundings) -> Option<Trap> {
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

pub(super) fn one_bucket(full: &Full, _: &Surroundings) -> Option<Trap> {
    match full.failed {
        Judges::Rate { over: Over::Time { buckets: 1, span }, .. } => trap(
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

pub(super) fn ordinary_errors(full: &Full, _: &Surroundings) -> Option<Trap> {
    match full.failed {
        Judges::Rate { percent, .. } if percent <= 5.0 => trap(
            "window.failure_rate_percent",
            format!(
                "{percent} % of failures are ordinary for many dependencies: the breaker then \
                 rejects the other {} %, too",
                100.0 - percent
            ),
        ),
        _ => None,
    }
}
