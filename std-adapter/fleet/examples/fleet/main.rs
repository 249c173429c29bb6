//! What a fleet changes in an outage: fifty processes and a dependency that counts what reaches it, each
//! process for itself and then as a fleet.
//!
//! `cargo run --release -p nanobreaker-fleet --example fleet -- [--fast] [--json FILE] [--picture FILE]`
//!
//! Ten processes call 20 times a second, forty once in ten seconds. Five failures in 10 s trip, for 10 to
//! 15 s less up to 20 %. The dependency fails for 60 s. With `--fast` all times are a quarter. Where redis-server is
//! installed the processes meet there, otherwise they are tasks of one process and meet in memory.
//!
//! With `--fault killed` or another of `--help`'s that happens to the store for half of the outage, and once more while
//! the dependency is well; several play one after the other. It fails where more calls reach the dependency than each
//! for itself, where somebody waits for longer than an open time, a probe and the spread, where a breaker opens though
//! all is well, and where a call waits for the store. That takes all its time, since how long a store is waited for is
//! no setting. How many calls one outage loses is chance, so that is held by the simulation in
//! `std-adapter/fleet/tests`.

mod dependency;
mod endurance;
mod instance;
mod picture;
#[path = "../../tests/redis/relay.rs"]
mod relay;
mod run;
mod scenario;
mod store;
mod summary;

use std::path::PathBuf;

use clap::Parser;

use endurance::endure;
use run::{Plan, play};
use scenario::Scenario;
use store::{Fault, Store};
use summary::{Poisoned, Summary};

#[derive(Parser)]
struct Arguments {
    /// A quarter of all times: an outage of 15 s.
    #[arg(long)]
    fast: bool,
    /// What happens to the store.
    #[arg(long, value_enum, num_args = 1.., conflicts_with = "fast")]
    fault: Vec<Fault>,
    /// Writes the figures here.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draws the picture here.
    #[arg(long, value_name = "FILE", default_value = "fleet.svg")]
    picture: PathBuf,
    /// Lives as one of the processes, with this part, as JSON.
    #[arg(long, hide = true)]
    part: Option<String>,
}

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match &arguments.part {
        Some(part) => runtime.block_on(instance::process(part)),
        None => runtime.block_on(compare(&arguments)),
    }
}

async fn compare(arguments: &Arguments) -> Result<(), Failure> {
    let scenario = Scenario::new(arguments.fast);
    let store = Store::start().await?;
    println!("{}", store.says());
    if !arguments.fault.is_empty() {
        return endure(&scenario, &store, &arguments.fault).await;
    }
    let itself = play(&scenario, Plan::EachForItself, &store).await?;
    let fleet = play(&scenario, Plan::Fleet, &store).await?;
    let poisoned = Poisoned {
        quorum1_opened_others: play(&scenario, Plan::Poisoned { quorum: 1 }, &store).await?.opened_others(),
        quorum2_opened_others: play(&scenario, Plan::Poisoned { quorum: 2 }, &store).await?.opened_others(),
    };
    let summary = Summary::new(&itself, &fleet, poisoned, store.name());
    println!("{summary}");
    picture::draw(&arguments.picture, &scenario, &itself, &fleet)?;
    println!("drew {}", arguments.picture.display());
    if let Some(file) = &arguments.json {
        std::fs::write(file, serde_json::to_string_pretty(&summary)? + "\n")?;
    }
    Ok(())
}
