//! What can be asked of the command.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::elsewhere::Library;
use crate::reading::{Between, Format, MaxMalformed, Reading, Rules, SpanKind, Statuses, TimeIs, Unit};

/// Tells from logs what a circuit breaker would have done, and how to set it up
///
/// It reads the access logs of nginx, Apache, Envoy, Istio, HAProxy, Traefik, Caddy, IIS, CloudFront and the
/// load balancers of AWS and Google, OpenTelemetry spans, JSON lines, CSV and logfmt, plain or packed, and
/// plays their calls against the very breaker that a program would use.
#[derive(Debug, Parser)]
#[command(name = "nanobreaker", version, about, long_about, max_term_width = 100)]
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
    /// Print the completions of a shell
    Completions {
        /// Which shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Manual,
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The breaker's settings, or a catalogue of the settings of many, as TOML,
    /// JSON (.json) or YAML (.yaml). Several are played side by side
    #[arg(short, long, value_name = "FILE", required_unless_present = "default")]
    pub(crate) config: Vec<PathBuf>,
    /// Play what SharedBreaker does where nothing is set
    #[arg(long)]
    pub(crate) default: bool,
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
    /// The open times to try [default: parts of the outages in the log, fixed, with backoff and with a
    /// ramp]
    #[arg(
        long,
        value_name = "DURATION",
        value_delimiter = ',',
        value_parser = humantime::parse_duration
    )]
    pub(crate) open_for: Vec<Duration>,
    /// Choose for each key apart, and print a catalogue
    #[arg(long, conflicts_with = "one_breaker")]
    pub(crate) per_key: bool,
    /// Print what comes closest in the settings of another library
    #[arg(long, value_enum, value_name = "LIBRARY")]
    pub(crate) r#as: Option<Library>,
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
    #[arg(long, value_name = "N", value_parser = rate, visible_alias = "calls-per-second")]
    pub(crate) rate: Option<f64>,
    /// The share of calls that fail on a good day, as in 0.2%: tells how often it trips on noise alone
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) normal: Option<f64>,
    /// The timeout that callers have, for warnings about calls that hang
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// The same where the timeout is around the guarded call, and so drops it
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = humantime::parse_duration,
        conflicts_with = "timeout"
    )]
    pub(crate) timeout_outside: Option<Duration>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which logs to read, and how.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Logs")]
pub(crate) struct Logs {
    /// Logs, plain, gzip or zstd; - is standard input. Several are merged by time
    #[arg(value_name = "LOG", required = true, help_heading = None)]
    pub(crate) paths: Vec<String>,
    /// What the logs are written in; told by their first lines where it is not given
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The server's own log format, as nginx ($request_time), Apache (%D) or Envoy (%DURATION%) have it
    #[arg(long, value_name = "TEMPLATE", visible_alias = "template")]
    log_format: Option<String>,
    /// Whether the logs' times are when calls began or ended. Where it is not given: as the layout is
    /// known to have it, or as the order of the lines tells
    #[arg(long, value_enum, value_name = "SIDE")]
    time_is: Option<TimeIs>,
    /// The name of the field with the time: a number since the epoch, RFC 3339 or the common log format
    /// [default: ts]. In JSON, names may be paths: a.b.c
    #[arg(long, value_name = "NAME")]
    ts_field: Option<String>,
    /// The unit of times that are numbers; told by their size where it is not given
    #[arg(long, value_enum, value_name = "UNIT")]
    ts_unit: Option<Unit>,
    /// The name of the field with the status, HTTP's or gRPC's [default: status]
    #[arg(long, value_name = "NAME")]
    status_field: Option<String>,
    /// The name of the field that says true for a success and false for a failure; it comes before
    /// the status where a call has both [default: ok]
    #[arg(long, value_name = "NAME")]
    ok_field: Option<String>,
    /// The name of the field with the duration [default: the only one that has such a name:
    /// duration_ms, latency, request_time …]
    #[arg(long, value_name = "NAME")]
    duration_field: Option<String>,
    /// The unit of durations; told by the name's ending (_ms, _s …), by the layout, by the text or by
    /// the order of the lines where it is not given
    #[arg(long, value_enum, value_name = "UNIT")]
    duration_unit: Option<Unit>,
    /// The word of a line that is the duration, counted from 1, or with a minus from the end
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = word, conflicts_with = "duration_field")]
    duration_word: Option<i32>,
    /// The word that is the time, where the layout is none that is known
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = word)]
    time_word: Option<i32>,
    /// The word that is the status, where the layout is none that is known [default: the one after the
    /// first quoted word]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = word)]
    status_word: Option<i32>,
    /// Which OpenTelemetry spans are calls
    #[arg(long, value_enum, value_name = "KIND", default_value_t)]
    span_kind: SpanKind,
    /// The name of the field that says which breaker a call belongs to [default: key]. In combined
    /// logs path, method or host; in Envoy's path, method, authority, upstream or cluster; in load
    /// balancers' path, method, target, group or domain; in HAProxy's frontend, backend, server, path or
    /// method; of spans name or an attribute
    #[arg(long, value_name = "NAME")]
    pub(crate) key_field: Option<String>,
    /// One breaker for all calls, whatever their keys
    #[arg(long, conflicts_with = "key_field")]
    one_breaker: bool,
    /// Only calls that began at this time or later
    #[arg(long, value_name = "TIME", value_parser = time)]
    from: Option<i64>,
    /// Only calls that began before this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    to: Option<i64>,
    /// Statuses that are failures [default: as the configuration says, else 0,500-599; of gRPC
    /// 2,4,8,13-15]
    #[arg(long, value_name = "SET")]
    failure_status: Option<Statuses>,
    /// Statuses that say nothing about the dependency's health
    #[arg(long, value_name = "SET", default_value = "")]
    ignored_status: Statuses,
    /// Statuses of calls that their callers gave up [default: 460,499; of gRPC 1]
    #[arg(long, value_name = "SET")]
    cancelled_status: Option<Statuses>,
    /// Lines within which the logs are sorted: a line further out of order is left out and counted
    #[arg(
        long,
        value_name = "LINES",
        default_value_t = 1_000_000,
        value_parser = clap::value_parser!(u32).range(1..=100_000_000)
    )]
    pub(crate) sort: u32,
    /// Malformed lines that are skipped before it is an error: a share of each log, or a number
    #[arg(long, value_name = "SHARE", default_value = "1%")]
    pub(crate) max_malformed: MaxMalformed,
    /// Keys that get a breaker; calls of further ones are left out and counted
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10_000,
        value_parser = clap::value_parser!(u32).range(1..=10_000_000)
    )]
    pub(crate) max_keys: u32,
    /// No progress bar
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl Logs {
    /// How to read them, for breakers whose settings say this of statuses.
    pub(crate) fn reading(&self, declared: nanobreaker::Statuses) -> Reading {
        Reading {
            format: self.format,
            ts_field: self.ts_field.clone(),
            ts_unit: self.ts_unit,
            status_field: self.status_field.clone(),
            ok_field: self.ok_field.clone(),
            duration_field: self.duration_field.clone(),
            duration_unit: self.duration_unit,
            duration_word: self.duration_word,
            time_word: self.time_word,
            status_word: self.status_word,
            log_format: self.log_format.clone(),
            time_is: self.time_is,
            span_kind: self.span_kind,
            key: match (&self.key_field, self.one_breaker) {
                (_, true) => None,
                (Some(name), false) => Some(name.clone()),
                (None, false) => Some("key".to_owned()),
            },
            rules: Rules {
                failure: self.failure_status.clone(),
                ignored: self.ignored_status.clone(),
                cancelled: self.cancelled_status.clone(),
                declared,
            },
        }
    }

    /// Which calls count.
    pub(crate) fn between(&self) -> Between {
        Between { from_us: self.from, to_us: self.to }
    }
}

fn word(text: &str) -> Result<i32, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("words are counted from 1, or with a minus from the end".to_owned()),
        Ok(number) => Ok(number),
    }
}

fn time(text: &str) -> Result<i64, String> {
    let time: Result<jiff::Timestamp, _> = text.parse();
    time.map(|time| time.as_microsecond())
        .map_err(|_| "must be a time such as 2026-03-01T12:00:00Z".to_owned())
}

fn timeline(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg" | "html") => Ok(path),
        _ => Err("a timeline ends in .svg or .html".to_owned()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let number = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.trim().parse(),
    };
    match number {
        Ok(share) if (1e-9..1.0).contains(&share) => Ok(share),
        _ => Err("must be a share between 0% and 100%, such as 0.2%".to_owned()),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if (1e-6..=1e9).contains(&rate) => Ok(rate),
        _ => Err("must be a number from 0.000001 to 1000000000".to_owned()),
    }
}
