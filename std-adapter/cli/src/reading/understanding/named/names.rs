//! What fields are called, and what that says of them.

use crate::reading::record::TimeIs;
use crate::reading::understanding::{Format, Side};
use crate::reading::value::Unit;

/// Names of times that say which side they are of.
pub(super) const BEGINS: [&str; 8] =
    ["start_time", "startTime", "start", "started_at", "startedAt", "begin", "request_start", "StartUTC"];

pub(super) const ENDS: [&str; 6] = ["end_time", "endTime", "end", "ended_at", "finished_at", "time_iso8601"];

/// Names of times that don't.
pub(super) const TIMES: [&str; 8] =
    ["time", "timestamp", "@timestamp", "t", "datetime", "date", "time_local", "eventTime"];

/// Names of durations, without their unit, in lower case and without marks between words.
pub(super) const DURATIONS: [&str; 18] = [
    "duration",
    "latency",
    "elapsed",
    "elapsedtime",
    "took",
    "requesttime",
    "responsetime",
    "timetaken",
    "totaltime",
    "requestduration",
    "responseduration",
    "totalduration",
    "dur",
    "rt",
    "calltime",
    "runtime",
    "requestlatency",
    "responselatency",
];

pub(super) const STATUSES: [&str; 9] = [
    "status",
    "status_code",
    "statusCode",
    "http_status",
    "response_code",
    "code",
    "grpc_status",
    "grpc_code",
    "grpc.code",
];

pub(super) fn is_time(name: &str) -> bool {
    BEGINS.iter().chain(&ENDS).chain(&TIMES).any(|known| *known == name)
}

/// Whether a name is that of a duration, with a unit or without.
pub(super) fn is_duration(name: &str) -> bool {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(char::is_ascii_alphanumeric);
        letters.map(|c| c.to_ascii_lowercase()).collect()
    };
    let whole = plain(name);
    if DURATIONS.contains(&&*whole) {
        return true;
    }
    let units = [
        "s",
        "sec",
        "secs",
        "seconds",
        "ms",
        "msec",
        "millis",
        "milliseconds",
        "us",
        "usec",
        "micros",
        "microseconds",
        "ns",
        "nsec",
        "nanos",
        "nanoseconds",
    ];
    Unit::in_name(name).is_some()
        && units.iter().any(|unit| whole.strip_suffix(unit).is_some_and(|rest| DURATIONS.contains(&rest)))
}

/// In JSON lines and CSV `ts`, and a field that is named by an argument, is when a call began.
pub(super) fn side_of(name: &str, format: Format) -> Side {
    if BEGINS.contains(&name) {
        Side::Known(TimeIs::Start)
    } else if ENDS.contains(&name) {
        Side::Known(TimeIs::End)
    } else if format == Format::Logfmt {
        // Whoever logs in this way does so when a call is over.
        Side::Likely(TimeIs::End)
    } else if TIMES.contains(&name) {
        Side::Likely(TimeIs::Start)
    } else {
        Side::Known(TimeIs::Start)
    }
}
