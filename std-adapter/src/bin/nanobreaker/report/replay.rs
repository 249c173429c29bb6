//! What a replay came to, as a table or as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::reading::Notes;
use crate::replaying::{Played, Tally, Trip};
use crate::report::humane::{count, counted, duration, seconds, share, time};
use crate::report::skipped;

/// What a replay came to, with what is needed to put it into words.
#[derive(Debug)]
pub(crate) struct Replayed<'a> {
    pub(crate) config: String,
    pub(crate) span_us: (i64, i64),
    pub(crate) played: Played,
    pub(crate) notes: &'a Notes,
}

impl Replayed<'_> {
    pub(crate) fn length_us(&self) -> u64 {
        self.span_us.1.abs_diff(self.span_us.0)
    }
}

/// For people.
pub(crate) fn table(replayed: &Replayed<'_>, trips: usize) -> String {
    let tally = &replayed.played.tally;
    let mut text = format!(
        "{} against {} from {} to {} ({})\n\n",
        replayed.config,
        counted(tally.calls, "call"),
        time(replayed.span_us.0),
        time(replayed.span_us.1),
        duration(replayed.length_us()),
    );
    let saved_of = format!(
        "{} of {} that failed",
        share(tally.saved, tally.failed),
        count(tally.failed)
    );
    let lost_of = format!(
        "{} of {} that succeeded{}",
        share(tally.lost, tally.succeeded),
        count(tally.succeeded),
        if tally.lost_slow > 0 {
            format!("; {} of them slow", count(tally.lost_slow))
        } else {
            String::new()
        }
    );
    let worker_seconds = format!(
        "{:.1} worker-seconds; at most {} at once, {} for one call",
        seconds(tally.saved_us),
        counted(tally.workers_freed_at_once, "worker"),
        duration(tally.longest_saved_us),
    );
    let rows: [(&str, String, String); 8] = [
        (
            "calls rejected",
            count(tally.rejected),
            share(tally.rejected, tally.calls),
        ),
        ("doomed calls saved", count(tally.saved), saved_of),
        ("time saved", duration(tally.saved_us), worker_seconds),
        ("good calls lost", count(tally.lost), lost_of),
        ("trips", count(tally.trips), String::new()),
        (
            "opened again",
            count(tally.reopenings),
            "probes failed, or tripped while recovering".to_owned(),
        ),
        (
            "longest detection",
            duration(tally.longest_detection_delay_us),
            "from the start of the first failed call to the trip".to_owned(),
        ),
        (
            "not closed",
            duration(tally.not_closed_us),
            "all breakers together".to_owned(),
        ),
    ];
    let keys = replayed.notes.keys.len() as u64;
    let breakers = ("breakers", count(keys), String::new());
    for (name, value, more) in rows.iter().chain((keys > 1).then_some(&breakers)) {
        let line = format!("{name:<20} {value:>12}  {more}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push_str(&trip_table(replayed, trips));
    let skipped = skipped::lines(replayed.notes);
    if !skipped.is_empty() {
        let _ = write!(text, "\n{}\n", skipped.join("\n"));
    }
    text
}

fn trip_table(replayed: &Replayed<'_>, most: usize) -> String {
    let trips = &replayed.played.trips;
    let shown = trips.len().min(most);
    if shown == 0 {
        return String::new();
    }
    let mut rows = vec![
        [
            "trip at",
            "detected after",
            "recovered at",
            "after",
            "reopened",
            "saved",
            "lost",
            "breaker",
        ]
        .map(str::to_owned),
    ];
    rows.extend(trips.iter().take(shown).map(|trip| row(trip, replayed)));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let mut text = String::from("\n");
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = width(column).unwrap_or(0);
            let _ = match column {
                4..=6 => write!(line, "{cell:>width$}  "),
                _ => write!(line, "{cell:<width$}  "),
            };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let total = replayed.played.tally.trips;
    if total > shown as u64 {
        let _ = writeln!(text, "and {} more", count(total - shown as u64));
    }
    text
}

fn row(trip: &Trip, replayed: &Replayed<'_>) -> [String; 8] {
    let open_us = trip.recovered_at_us.map(|us| us.abs_diff(trip.at_us));
    [
        time(trip.at_us),
        trip.detection_delay_us
            .map_or("slow calls".to_owned(), duration),
        trip.recovered_at_us
            .map_or("not in the log".to_owned(), time),
        open_us.map_or(String::new(), duration),
        count(trip.reopenings),
        count(trip.saved),
        count(trip.lost),
        shown_key(replayed.notes.keys.name(trip.key)),
    ]
}

/// A key comes from a log: nothing in it may reach the terminal as anything but text.
pub(crate) fn shown_key(key: &str) -> String {
    key.chars()
        .take(60)
        .flat_map(|c| {
            if c.is_control() {
                c.escape_default().collect::<Vec<_>>()
            } else {
                vec![c]
            }
        })
        .collect()
}

/// For machines.
pub(crate) fn json(replayed: &Replayed<'_>) -> String {
    let tally = &replayed.played.tally;
    let trips: Vec<Value> = replayed
        .played
        .trips
        .iter()
        .map(|trip| trip_json(trip, replayed))
        .collect();
    let report = json!({
        "config": replayed.config,
        "from": time(replayed.span_us.0),
        "to": time(replayed.span_us.1),
        "breakers": replayed.notes.keys.len(),
        "totals": tally_json(tally),
        "trips": trips,
        "trips_listed": replayed.played.trips.len(),
        "skipped": skipped::json(&replayed.notes.skipped),
    });
    format!("{report:#}\n")
}

/// The sums, with durations in seconds.
pub(crate) fn tally_json(tally: &Tally) -> Value {
    json!({
        "calls": tally.calls,
        "failed": tally.failed,
        "succeeded": tally.succeeded,
        "uncounted": tally.uncounted,
        "slow": tally.slow,
        "rejected": tally.rejected,
        "saved": tally.saved,
        "lost": tally.lost,
        "lost_slow": tally.lost_slow,
        "time_saved_s": seconds(tally.saved_us),
        "worker_seconds_saved": seconds(tally.saved_us),
        "longest_call_saved_s": seconds(tally.longest_saved_us),
        "workers_freed_at_once": tally.workers_freed_at_once,
        "trips": tally.trips,
        "reopenings": tally.reopenings,
        "longest_detection_delay_s": seconds(tally.longest_detection_delay_us),
        "not_closed_s": seconds(tally.not_closed_us),
    })
}

fn trip_json(trip: &Trip, replayed: &Replayed<'_>) -> Value {
    json!({
        "key": replayed.notes.keys.name(trip.key),
        "at": time(trip.at_us),
        "cause": trip.cause.name(),
        "detection_delay_s": trip.detection_delay_us.map(seconds),
        "open_for_s": f64::from(trip.open_for_ms) / 1e3,
        "recovered_at": trip.recovered_at_us.map(time),
        "recovered_after_s": trip.recovered_at_us.map(|us| seconds(us.abs_diff(trip.at_us))),
        "reopenings": trip.reopenings,
        "saved": trip.saved,
        "lost": trip.lost,
        "time_saved_s": seconds(trip.saved_us),
    })
}
