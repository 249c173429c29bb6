//! What was understood of the logs: it is said before the result, so that a wrong reading is seen.

use serde_json::{Value, json};

use crate::reading::{LogNotes, Notes};
use crate::report::humane::{counted, duration};
use crate::report::replay::shown_key;

/// A line for each log, and one for all of them.
pub(crate) fn lines(notes: &Notes) -> Vec<String> {
    let mut lines = Vec::new();
    for log in &notes.logs {
        let Some(read) = &log.understood else {
            lines.push(format!("{}: no lines", shown_key(&log.path)));
            continue;
        };
        lines.push(format!(
            "{}: {}; {} of {}; times are when calls {}, in steps of 1 {}; durations from {}, {}",
            shown_key(&log.path),
            read.format,
            counted(log.calls, "call"),
            counted(log.lines, "line"),
            if read.times_are == "end" { "ended" } else { "began" },
            read.resolution,
            shown_key(&read.duration_from),
            match read.duration_unit {
                "text" => "with their units".to_owned(),
                unit => format!("in {unit}"),
            },
        ));
    }
    let quantile = |share| notes.durations.quantile(share).map_or("-".to_owned(), duration);
    lines.push(format!(
        "{}; half of the calls took up to {}, 99 % up to {}",
        counted(notes.keys.len() as u64, "breaker"),
        quantile(0.5),
        quantile(0.99),
    ));
    lines.extend(warnings(notes).iter().map(|warning| format!("warning: {warning}")));
    lines
}

/// What may have been understood wrongly, and what could not be.
pub(crate) fn warnings(notes: &Notes) -> Vec<String> {
    let mut warnings = Vec::new();
    let several = notes.logs.len() > 1;
    for log in &notes.logs {
        for warning in log.understood.iter().flat_map(|read| &read.warnings) {
            warnings.push(if several {
                format!("{}: {warning}", shown_key(&log.path))
            } else {
                warning.clone()
            });
        }
    }
    if notes.durations.quantile(0.5).is_some_and(|us| us < 1_000) {
        warnings.push(
            "half of the calls took less than a millisecond: is the unit of the durations right \
             (--duration-unit)? Where durations are whole seconds, most are 0"
                .to_owned(),
        );
    }
    warnings
}

/// For machines.
pub(crate) fn json(notes: &Notes) -> Value {
    let millis = |share| notes.durations.quantile(share).map(|us| us as f64 / 1e3);
    let of_all = |field: fn(&LogNotes) -> Option<&str>| {
        let mut values = notes.logs.iter().filter_map(field);
        let first = values.next();
        match first {
            Some(first) if values.all(|other| other == first) => json!(first),
            Some(_) => json!("several"),
            None => Value::Null,
        }
    };
    let logs: Vec<Value> = notes.logs.iter().map(log_json).collect();
    json!({
        "format": of_all(|log| Some(&log.understood.as_ref()?.format)),
        "times_are": of_all(|log| Some(log.understood.as_ref()?.times_are)),
        "time_resolution": of_all(|log| Some(log.understood.as_ref()?.resolution)),
        "duration_from": of_all(|log| Some(&log.understood.as_ref()?.duration_from)),
        "duration_unit": of_all(|log| Some(log.understood.as_ref()?.duration_unit)),
        "statuses": of_all(|log| Some(log.understood.as_ref()?.statuses)),
        "calls": notes.logs.iter().map(|log| log.calls).sum::<u64>(),
        "median_ms": millis(0.5),
        "p99_ms": millis(0.99),
        "breakers": notes.keys.len(),
        "logs": logs,
    })
}

fn log_json(log: &LogNotes) -> Value {
    let read = log.understood.as_ref();
    json!({
        "path": log.path,
        "format": read.map(|read| &read.format),
        "times_are": read.map(|read| read.times_are),
        "time_resolution": read.map(|read| read.resolution),
        "duration_from": read.map(|read| &read.duration_from),
        "duration_unit": read.map(|read| read.duration_unit),
        "statuses": read.map(|read| read.statuses),
        "lines": log.lines,
        "calls": log.calls,
        "malformed": log.malformed,
    })
}
