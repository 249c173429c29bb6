//! What a fleet comes to whose store fails, beside processes that never had one.

use crate::Failure;
use crate::run::{Course, Plan, play};
use crate::scenario::Scenario;
use crate::store::{Fault, Store};

/// Asking a breaker takes less than that, or somebody waits for the store: it times out after 500 ms.
const NOBODY_WAITS_NS: u64 = 100_000_000;

/// Plays and prints it.
///
/// # Errors
///
/// Says what is worse than it may be.
pub(crate) async fn endure(scenario: &Scenario, store: &Store, fault: Fault) -> Result<(), Failure> {
    store.server()?;
    let itself = play(scenario, Plan::EachForItself, store).await?;
    let down = play(scenario, Plan::Faulty { fault, is_down: true }, store).await?;
    let well = play(scenario, Plan::Faulty { fault, is_down: false }, store).await?;
    println!(
        "{:<52} {:>16} {:>8}",
        format!("store {fault:?} for half of the outage"),
        "each for itself",
        "fleet"
    );
    let row =
        |what: &str, of: fn(&Course) -> u64| println!("{what:<52} {:>16} {:>8}", of(&itself), of(&down));
    row("calls that reached the dead dependency", |course| course.reached() as u64);
    row("probes among them", |course| course.probes() as u64);
    row("calls rejected while the dependency was well", |course| course.lost() as u64);
    row("asking the breaker, 99.9 % within, nanoseconds", Course::asked_p999_ns);
    println!("the same while the dependency was well: {} ns", well.asked_p999_ns());
    let broken: Vec<_> = [
        (down.reached() > itself.reached() + itself.reached() / 10, "more calls reached the dependency"),
        (down.rejected_at_the_end() > 0, "a breaker stayed open long after the outage"),
        (well.opened() > 0, "a breaker opened though the dependency was well"),
        (down.asked_p999_ns().max(well.asked_p999_ns()) > NOBODY_WAITS_NS, "a call waited for the store"),
    ]
    .into_iter()
    .filter_map(|(is_so, what)| is_so.then_some(what))
    .collect();
    if broken.is_empty() { Ok(()) } else { Err(broken.join("; ").into()) }
}
