//! `nanobreaker`: what a circuit breaker would have done, and how to set it up.
//!
//! `reading` turns logs into calls, `replaying` plays them against the real breaker, `tuning` does so
//! with many configurations, `explaining` puts one into words, `elsewhere` into other libraries' settings,
//! `configuration` reads them, `report` prints what came of it, and
//! `commands` ties them together.

#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod configuration;
mod elsewhere;
mod explaining;
mod failure;
mod reading;
mod replaying;
mod report;
mod tuning;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use failure::Failure;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        Command::Replay(replay) => commands::replay(replay),
        Command::Tune(tune) => commands::tune(tune),
        Command::Explain(explain) => commands::explain(explain),
        Command::Completions { shell } => commands::completions(*shell),
        Command::Manual => commands::manual(),
    };
    match done.and_then(|text| print(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Where nothing can be said to anyone, the exit code still tells.
            let _ = writeln!(io::stderr(), "error: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a report. A reader that has seen enough (`| head`) is no error.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let done = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match done {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Print(error)),
        _ => Ok(()),
    }
}
