//! What a fleet comes to whose store fails, beside processes that never had one.

use crate::Failure;
use crate::run::{Course, Plan, play};
use crate::scenario::Scenario;
use crate::store::{Fault, Store};

/// Asking a breaker takes less than that, or somebody waits for the store: it times out after 500 ms.
const NOBODY_WAITS_NS: u64 = 100_000_000;

/// Plays these faults, one after the other, and prints what came of them.
///
/// # Errors
///
/// Says what is worse than it may be.
pub(crate) async fn endure(scenario: &Scenario, store: &Store, faults: &[Fault]) -> Result<(), Failure> {
    store.server()?;
    let itself = play(scenario, Plan::EachForItself, store).await?;
    let mut broken = Vec::new();
    for fault in faults.iter().copied() {
        let down = play(scenario, Plan::Faulty { fault, is_down: true }, store).await?;
        let well = play(scenario, Plan::Faulty { fault, is_down: false }, store).await?;
        show(fault, &itself, &down, &well);
        let worse = worse(scenario, &itself, &down, &well);
        broken.extend(worse.into_iter().map(|what| format!("{fault:?}: {what}")));
    }
    if broken.is_empty() { Ok(()) } else { Err(broken.join("; ").into()) }
}

fn worse(scenario: &Scenario, itself: &Course, down: &Course, well: &Course) -> Vec<&'static str> {
    let longest_ms = scenario.longest_wait().as_millis() as u64;
    let waits_too_long = down.waits().into_iter().any(|(_, ms)| ms > longest_ms);
    [
        (down.reached() > itself.reached() + itself.reached() / 10, "more calls reached the dependency"),
        (waits_too_long, "somebody waited for more than an open time, a probe and the spread"),
        (well.opened() > 0, "a breaker opened though the dependency was well"),
        (down.asked_p999_ns().max(well.asked_p999_ns()) > NOBODY_WAITS_NS, "a call waited for the store"),
    ]
    .into_iter()
    .filter_map(|(is_so, what)| is_so.then_some(what))
    .collect()
}

fn show(fault: Fault, itself: &Course, down: &Course, well: &Course) {
    let title = format!("store {fault:?} for half of the outage");
    println!("{title:<52} {:>16} {:>8}", "each for itself", "fleet");
    let row = |what: &str, of: fn(&Course) -> u64| println!("{what:<52} {:>16} {:>8}", of(itself), of(down));
    row("calls that reached the dead dependency", |course| course.reached() as u64);
    row("probes among them", |course| course.probes() as u64);
    row("calls rejected while the dependency was well", |course| course.lost() as u64);
    row("waited afterwards for a probe of their own", |course| waited(course, false).0);
    row("  the longest of them, milliseconds", |course| waited(course, false).1);
    row("waited afterwards for the fleet's", |course| waited(course, true).0);
    row("  the longest of them, milliseconds", |course| waited(course, true).1);
    row("asking the breaker, 99.9 % within, nanoseconds", Course::asked_p999_ns);
    println!("the same while the dependency was well: {} ns", well.asked_p999_ns());
}

/// How many waited after the outage, on advice or not, and for how long at most.
fn waited(course: &Course, on_advice: bool) -> (u64, u64) {
    let waits = course.waits().into_iter().filter(|(why, _)| (*why == "advised") == on_advice);
    waits.fold((0, 0), |(number, longest), (_, ms)| (number + 1, longest.max(ms)))
}
