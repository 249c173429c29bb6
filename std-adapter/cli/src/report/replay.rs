//! What a replay came to, as a table or as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::reading::Notes;
use crate::replaying::{Played, Tally, Trip};
use crate::report::humane::{count, counted, duration, seconds, share, time};
use crate::report::{read, skipped};

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

/// What no log can tell, and what is taken for it.
pub(crate) const ASSUMPTION: &str = "rejected calls are taken to have come to what the log says of \
     them: their callers retry no more and no less, and the dependency recovers no sooner for being left \
     alone";

/// For people.
pub(crate) fn table(all: &[Replayed<'_>], trips: usize) -> String {
    let Some(first) = all.first() else {
        return String::new();
    };
    let mut text = read::lines(first.notes).join("\n");
    let names: Vec<_> = all.iter().map(|replayed| replayed.config.as_str()).collect();
    let _ = write!(
        text,
        "\n\n{} against {} from {} to {} ({})\n\n",
        names.join(" and "),
        counted(first.played.tally.calls, "call"),
        time(first.span_us.0),
        time(first.span_us.1),
        duration(first.length_us()),
    );
    match all {
        [one] => {
            text.push_str(&sums(one));
            text.push_str(&breaker_table(one, trips));
            text.push_str(&trip_table(one, trips));
        }
        several => text.push_str(&side_by_side(several)),
    }
    let skipped = skipped::lines(first.notes);
    if !skipped.is_empty() {
        let _ = write!(text, "\n{}\n", skipped.join("\n"));
    }
    let _ = writeln!(text, "\nAssumed: {ASSUMPTION}.");
    text
}

/// The name of a sum, and how it is shown.
type Sum = (&'static str, fn(&Tally) -> String);

const SUMS: [Sum; 8] = [
    ("calls rejected", |tally| count(tally.rejected)),
    ("bad calls saved", |tally| count(tally.saved)),
    ("time saved", |tally| duration(tally.saved_us)),
    ("good calls lost", |tally| count(tally.lost)),
    ("trips", |tally| count(tally.trips)),
    ("opened again", |tally| count(tally.reopenings)),
    ("longest detection", |tally| duration(tally.longest_detection_delay_us)),
    ("not closed", |tally| duration(tally.not_closed_us)),
];

/// A column for each configuration.
fn side_by_side(all: &[Replayed<'_>]) -> String {
    let mut rows = vec![vec![String::new()]];
    if let Some(head) = rows.first_mut() {
        head.extend(all.iter().map(|replayed| shown_key(&replayed.config)));
    }
    for (name, show) in SUMS {
        let mut row = vec![name.to_owned()];
        row.extend(all.iter().map(|replayed| show(&replayed.played.tally)));
        rows.push(row);
    }
    aligned(&rows, |column| column > 0)
}

/// What came of one configuration, with the parts of a whole.
fn sums(replayed: &Replayed<'_>) -> String {
    let tally = &replayed.played.tally;
    let saved_of = format!(
        "{} of {} that failed{}",
        share(tally.saved, tally.bad()),
        count(tally.bad()),
        if tally.slow > 0 {
            format!(" or were slow; {} of them slow", count(tally.saved_slow))
        } else {
            String::new()
        }
    );
    let more = |name: &str| match name {
        "calls rejected" => share(tally.rejected, tally.calls),
        "bad calls saved" => saved_of.clone(),
        "time saved" => format!(
            "{:.1} worker-seconds; at most {} at once, {} for one call",
            seconds(tally.saved_us),
            counted(tally.workers_freed_at_once, "worker"),
            duration(tally.longest_saved_us),
        ),
        "good calls lost" => {
            format!("{} of {} that succeeded", share(tally.lost, tally.good()), count(tally.good()))
        }
        "opened again" => "probes failed, or tripped while recovering".to_owned(),
        "longest detection" => "from the start of the first failed call to the trip".to_owned(),
        "not closed" => "all breakers together".to_owned(),
        _ => String::new(),
    };
    let mut text = String::new();
    for (name, show) in SUMS {
        // The words that people look for.
        let shown = if name == "bad calls saved" && tally.slow == 0 { "doomed calls saved" } else { name };
        let line = format!("{shown:<20} {:>12}  {}", show(tally), more(name));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// The breakers that did something, from the one that saved and lost most on.
fn breaker_table(replayed: &Replayed<'_>, most: usize) -> String {
    let mut breakers: Vec<(u32, Tally)> = by_key(&replayed.played).collect();
    if breakers.len() < 2 {
        return String::new();
    }
    let all = breakers.len();
    breakers.retain(|(_, tally)| tally.trips > 0);
    breakers.sort_by_key(|(key, tally)| (std::cmp::Reverse(tally.saved + tally.lost), *key));
    let idle = all - breakers.len();
    let shown = breakers.len().min(most);
    let mut rows = vec![
        ["calls", "failed", "rejected", "saved", "lost", "trips", "not closed", "breaker"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for (key, tally) in breakers.iter().take(shown) {
        rows.push(vec![
            count(tally.calls),
            count(tally.failed),
            count(tally.rejected),
            count(tally.saved),
            count(tally.lost),
            count(tally.trips),
            duration(tally.not_closed_us),
            shown_key(replayed.notes.keys.name(*key)),
        ]);
    }
    let mut text = String::from("\n");
    if shown > 0 {
        text.push_str(&aligned(&rows, |column| column < 7));
    }
    if breakers.len() > shown {
        let _ = writeln!(text, "and {} more that tripped", count((breakers.len() - shown) as u64));
    }
    if idle > 0 {
        let _ = writeln!(text, "{} did not trip", counted(idle as u64, "breaker"));
    }
    text
}

fn by_key(played: &Played) -> impl Iterator<Item = (u32, Tally)> {
    let sums = played.by_key.iter().map(|[before, after]| before.and(*after));
    (0..).zip(sums)
}

/// Columns of one width each, two blanks apart.
fn aligned(rows: &[Vec<String>], is_right: impl Fn(usize) -> bool) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = if is_right(column) {
                write!(line, "{cell:>width$}  ")
            } else {
                write!(line, "{cell:<width$}  ")
            };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn trip_table(replayed: &Replayed<'_>, most: usize) -> String {
    let trips = &replayed.played.trips;
    let shown = trips.len().min(most);
    if shown == 0 {
        return String::new();
    }
    let mut rows: Vec<Vec<String>> = vec![
        ["trip at", "detected after", "recovered at", "after", "reopened", "saved", "lost", "breaker"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(trips.iter().take(shown).map(|trip| row(trip, replayed)));
    let mut text = format!("\n{}", aligned(&rows, |column| (4..=6).contains(&column)));
    let total = replayed.played.tally.trips;
    if total > shown as u64 {
        let _ = writeln!(text, "and {} more", count(total - shown as u64));
    }
    text
}

fn row(trip: &Trip, replayed: &Replayed<'_>) -> Vec<String> {
    let open_us = trip.recovered_at_us.map(|us| us.abs_diff(trip.at_us));
    vec![
        time(trip.at_us),
        trip.detection_delay_us.map_or("slow calls".to_owned(), duration),
        trip.recovered_at_us.map_or("not in the log".to_owned(), time),
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
        .flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] })
        .collect()
}

/// What the JSON of this command is called: it grows when something is renamed or means something else.
pub(crate) const SCHEMA: u32 = 1;

/// For machines: the first configuration, and all of them where there are several.
pub(crate) fn json(all: &[Replayed<'_>]) -> String {
    let Some(first) = all.first() else {
        return String::new();
    };
    let mut report = json!({
        "schema": SCHEMA,
        "from": time(first.span_us.0),
        "to": time(first.span_us.1),
        "breakers": first.notes.keys.len(),
        "read": read::json(first.notes),
        "warnings": read::warnings(first.notes),
        "assumption": ASSUMPTION,
        "skipped": skipped::json(&first.notes.skipped),
    });
    if let (Some(report), Value::Object(of_first)) = (report.as_object_mut(), one_json(first)) {
        report.extend(of_first);
        if all.len() > 1 {
            let each = all.iter().map(one_json).collect();
            report.insert("configurations".to_owned(), Value::Array(each));
        }
    }
    format!("{report:#}\n")
}

fn one_json(replayed: &Replayed<'_>) -> Value {
    let played = &replayed.played;
    let trips: Vec<Value> = played.trips.iter().map(|trip| trip_json(trip, replayed)).collect();
    let by_breaker: Vec<Value> = by_key(played)
        .map(|(key, tally)| json!({ "key": replayed.notes.keys.name(key), "totals": tally_json(&tally) }))
        .collect();
    json!({
        "config": replayed.config,
        "totals": tally_json(&played.tally),
        "by_breaker": by_breaker,
        "trips": trips,
        "trips_listed": played.trips.len(),
    })
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
        "saved_slow": tally.saved_slow,
        // Slow calls that are rejected count as saved.
        "lost_slow": 0,
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
