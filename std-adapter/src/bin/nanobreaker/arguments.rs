//! What can be asked of the command.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::reading::{Columns, DurationWord, Format, Reading, Rules, Statuses, TimeIs, Unit};

/// Tells from logs what a circuit breaker would have done, and how to set it up.
#[derive(Debug, Parser)]
#[command(name = "nanobreaker", version, about, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Play logs through a real breaker and tell what it would have done
    Replay(Replay),
    /// Search for the configurations with the best trade-offs between calls saved and calls lost
    Tune(Tune),
    /// Say in plain words what a configuration does, and warn of traps
    Explain(Explain),
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The breaker's settings, or a catalogue of the settings of many, as TOML,
    /// JSON (.json) or YAML (.yaml)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// Print JSON instead of a table; times in it are RFC 3339, durations seconds
    #[arg(long)]
    pub(crate) json: bool,
    /// Draw a timeline to this file, which ends in .svg or .html
    #[arg(long, value_name = "FILE", value_parser = timeline)]
    pub(crate) timeline: Option<PathBuf>,
    /// Trips that the table lists
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) trips: usize,
    #[command(flatten)]
    pub(crate) logs: Logs,
}

#[derive(Debug, Args)]
pub(crate) struct Tune {
    /// Print JSON instead of a table and TOML
    #[arg(long)]
    pub(crate) json: bool,
    /// How many trade-offs to print
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) best: u32,
    /// The most good calls that a configuration may lose, in per cent; where none loses so few, the
    /// one that loses least is printed
    #[arg(long, value_name = "PERCENT", default_value_t = 5, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) max_lost: u8,
    /// The open times to try
    #[arg(
        long,
        value_name = "DURATION",
        value_delimiter = ',',
        default_value = "1s,5s,15s,60s",
        value_parser = humantime::parse_duration
    )]
    pub(crate) open_for: Vec<Duration>,
    /// What all candidates have in common, as TOML: slow_after, ramp, probes and so on
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) logs: Logs,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The breaker's settings, or a catalogue of the settings of many, as TOML,
    /// JSON (.json) or YAML (.yaml)
    #[arg(value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// Calls that the dependency gets in a second, for warnings about traffic
    #[arg(long, value_name = "N", value_parser = rate)]
    pub(crate) calls_per_second: Option<f64>,
    /// The timeout that callers have, for warnings about calls that hang
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which logs to read, and how.
#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// Logs, plain or gzip; - is standard input. Several are merged by time
    #[arg(value_name = "LOG", required = true)]
    pub(crate) paths: Vec<String>,
    /// What the logs are written in; told by the first line where it is not given
    #[arg(long, value_enum, help_heading = "Logs")]
    format: Option<Format>,
    /// Whether the logs' times are when calls began or ended. Where it is not given: began for JSON,
    /// CSV, Envoy and Apache, ended for nginx and ALB
    #[arg(long, value_enum, value_name = "SIDE", help_heading = "Logs")]
    time_is: Option<TimeIs>,
    /// The name of the field with the time: a number since the epoch, or RFC 3339
    #[arg(long, value_name = "NAME", default_value = "ts", help_heading = "Logs")]
    ts_field: String,
    /// The unit of times that are numbers; told by their size where it is not given
    #[arg(long, value_enum, value_name = "UNIT", help_heading = "Logs")]
    ts_unit: Option<Unit>,
    /// The name of the field with the HTTP status
    #[arg(
        long,
        value_name = "NAME",
        default_value = "status",
        help_heading = "Logs"
    )]
    status_field: String,
    /// The name of the field that says true for a success and false for a failure; it comes before
    /// the status where a call has both
    #[arg(long, value_name = "NAME", default_value = "ok", help_heading = "Logs")]
    ok_field: String,
    /// The name of the field with the duration [default: duration_ms or duration_s]
    #[arg(long, value_name = "NAME", help_heading = "Logs")]
    duration_field: Option<String>,
    /// The unit of durations; told by the name's ending (_ms, _s …) where it is not given
    #[arg(long, value_enum, value_name = "UNIT", help_heading = "Logs")]
    duration_unit: Option<Unit>,
    /// The name of the field that says which breaker a call belongs to [default: key]. In combined
    /// logs path, method or host; in Envoy's path, method, authority or upstream; in ALB's path,
    /// method, target, group or domain
    #[arg(long, value_name = "NAME", help_heading = "Logs")]
    pub(crate) key_field: Option<String>,
    /// One breaker for all calls, whatever their keys
    #[arg(long, help_heading = "Logs", conflicts_with = "key_field")]
    one_breaker: bool,
    /// Statuses that are failures; 0 is what Envoy writes where there was no answer
    #[arg(
        long,
        value_name = "SET",
        default_value = "0,500-599",
        help_heading = "Logs"
    )]
    failure_status: Statuses,
    /// Statuses that say nothing about the dependency's health
    #[arg(long, value_name = "SET", default_value = "", help_heading = "Logs")]
    ignored_status: Statuses,
    /// Statuses of calls that their callers gave up
    #[arg(long, value_name = "SET", default_value = "499", help_heading = "Logs")]
    cancelled_status: Statuses,
    /// Lines within which the logs are sorted: a line further out of order is left out and counted
    #[arg(
        long,
        value_name = "LINES",
        default_value_t = 1_000_000,
        value_parser = clap::value_parser!(u32).range(1..=100_000_000),
        help_heading = "Logs"
    )]
    pub(crate) sort: u32,
    /// Malformed lines that are skipped before it is an error
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "Logs")]
    max_malformed: u64,
    /// Keys that get a breaker; calls of further ones are left out and counted
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10_000,
        value_parser = clap::value_parser!(u32).range(1..=10_000_000),
        help_heading = "Logs"
    )]
    pub(crate) max_keys: u32,
    /// No progress bar
    #[arg(short, long, help_heading = "Logs")]
    pub(crate) quiet: bool,
}

impl Logs {
    /// How to read them.
    ///
    /// # Errors
    ///
    /// What is missing among the arguments.
    pub(crate) fn reading(&self) -> Result<Reading, String> {
        Ok(Reading {
            format: self.format,
            columns: Columns {
                ts: self.ts_field.clone(),
                status: self.status_field.clone(),
                ok: self.ok_field.clone(),
                durations: self.durations()?,
                key: match (&self.key_field, self.one_breaker) {
                    (_, true) => None,
                    (Some(name), false) => Some(name.clone()),
                    (None, false) => Some("key".to_owned()),
                },
                ts_unit: self.ts_unit,
            },
            duration: DurationWord {
                name: self.duration_field.clone(),
                unit: self.duration_unit,
            },
            time_is: self.time_is,
            rules: Rules {
                failure: self.failure_status.clone(),
                ignored: self.ignored_status.clone(),
                cancelled: self.cancelled_status.clone(),
            },
            max_malformed: self.max_malformed,
        })
    }

    fn durations(&self) -> Result<Vec<(String, Unit)>, String> {
        let Some(name) = &self.duration_field else {
            return Ok(vec![
                ("duration_ms".to_owned(), Unit::Ms),
                ("duration_s".to_owned(), Unit::S),
            ]);
        };
        match self.duration_unit.or_else(|| Unit::in_name(name)) {
            Some(unit) => Ok(vec![(name.clone(), unit)]),
            // Combined logs tell the unit by the number itself.
            None if self.format == Some(Format::Combined) => Ok(Vec::new()),
            None => Err(format!(
                "--duration-field {name} does not end in its unit (_ms, _s, _us, _ns): add \
                 --duration-unit"
            )),
        }
    }
}

fn timeline(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg" | "html") => Ok(path),
        _ => Err("a timeline ends in .svg or .html".to_owned()),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if (1e-6..=1e9).contains(&rate) => Ok(rate),
        _ => Err("must be a number from 0.000001 to 1000000000".to_owned()),
    }
}
