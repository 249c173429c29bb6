//! What is probably not meant. Each trap is a function that looks for it.

mod calls;
mod opening;
mod traffic;
mod window;

use std::time::Duration;

use crate::explaining::full::Full;
use crate::explaining::{Surroundings, Trap};

type Check = fn(&Full, &Surroundings) -> Option<Trap>;

const CHECKS: [Check; 23] = [
    traffic::too_little_traffic_for_failures,
    traffic::too_little_traffic_for_rate,
    traffic::too_much_traffic_for_a_count,
    window::trips_on_one_call,
    window::only_a_total_outage,
    window::a_success_between,
    window::one_bucket,
    window::ordinary_errors,
    traffic::old_calls_decide,
    calls::open_time_shorter_than_timeout,
    calls::lease_shorter_than_timeout,
    calls::lease_shorter_than_slow_calls,
    calls::never_slow,
    calls::never_hung,
    calls::dropped,
    calls::finer_than_the_clock,
    opening::open_for_long,
    opening::no_backoff,
    opening::backs_off_for_long,
    traffic::all_return_at_once,
    opening::fleet_in_step,
    calls::recovers_slowly,
    traffic::closes_rarely,
];

pub(super) use traffic::noise;

pub(super) fn traps(full: &Full, around: &Surroundings) -> Vec<Trap> {
    CHECKS.iter().filter_map(|check| check(full, around)).collect()
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
