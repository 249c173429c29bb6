//! The outage: a payment provider hangs, and an API server with 200 workers either drowns or does not.
//!
//! `cargo run --release --example outage` plays the scenario three times on loopback, for real: a provider
//! in a process of its own, an axum server with a bounded worker pool, an HTTP client with a real timeout,
//! and a load generator that never slows down. First without a breaker, then with the breaker of the article,
//! then with a breaker that also judges calls while they still hang. Every figure it prints was measured in that run.
//!
//! `scenario` fixes the numbers, `run` plays one run, `provider`, `api`, `pool`, `guard` and `load` are its parts;
//! `statistics` and `verdict` judge it, `table`, `json` and `picture` show it.

mod api;
mod guard;
mod json;
mod load;
mod picture;
mod pool;
mod provider;
mod run;
mod scenario;
mod statistics;
mod table;
mod verdict;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::scenario::{Kind, Knobs, Scenario};

/// A payment provider hangs: what happens to everything else, with and without a circuit breaker.
#[derive(Parser)]
#[command(
    name = "outage",
    args_conflicts_with_subcommands = true,
    after_help = "Exit status: 0 the breakers protected the other endpoints, 1 one did not, 2 the demonstration itself failed."
)]
struct Arguments {
    #[command(flatten)]
    knobs: Knobs,

    /// Write every figure to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the picture to this file
    #[arg(long, value_name = "FILE", default_value = "target/outage.svg")]
    svg: PathBuf,

    #[command(subcommand)]
    role: Option<Role>,
}

#[derive(Subcommand)]
enum Role {
    /// The payment provider: the demonstration starts itself once more in this role.
    #[command(hide = true)]
    Provider {
        #[arg(long)]
        takes_ms: u64,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.role {
        Some(Role::Provider { takes_ms }) => provider::serve(takes_ms).map(|()| true),
        None => demonstrate(&arguments),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("outage: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether the breakers protected the other endpoints.
fn demonstrate(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    for file in arguments.json.iter().chain([&arguments.svg]) {
        create_folder_of(file)?;
    }
    let scenario = Scenario::new(&arguments.knobs);
    println!("{}\n", scenario.introduction());

    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut runs = Vec::new();
    for kind in Kind::ALL {
        runs.push(run::play(kind, &scenario, &runtime)?);
    }

    let verdicts: Vec<_> = runs.iter().filter_map(|run| verdict::judge(run, &scenario)).collect();
    for run in &runs {
        println!("{}", table::of_run(run, &scenario));
    }
    println!("{}", table::against_the_article(&runs, &scenario));
    for verdict in &verdicts {
        println!("{verdict}");
    }

    if let Some(file) = &arguments.json {
        write(file, &json::of_runs(&runs, &scenario)?)?;
        println!("\nfigures: {}", file.display());
    }
    write(&arguments.svg, &picture::of_runs(&runs, &scenario))?;
    println!("\npicture: {}", arguments.svg.display());
    Ok(verdicts.iter().all(|verdict| verdict.protected))
}

/// Before the runs: half a minute is too long to wait for a mistyped path.
fn create_folder_of(file: &Path) -> Result<(), String> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))
}
