//! Which word of a combined log is the duration.
//!
//! In this order: a known layout (ingress-nginx, Traefik), a name (`rt=0.123`), a unit in the text (`71ms`),
//! nginx's form (three decimals: seconds), and what the order of the lines tells of whole numbers. Words that
//! a client chooses (the user, the request line, whatever is quoted) never come into question.

mod asking;
mod chosen;
mod rows;
mod rules;

use crate::reading::error::ReadError;
use crate::reading::layouts::Layout;
use crate::reading::layouts::combined::{Combined, Place};
use crate::reading::understanding::{Draft, Head, Reading, Side};
use crate::reading::value::Scale;
use asking::in_words;
use chosen::chosen;
pub(super) use rows::is_nginx_time;
use rows::{Row, columns, has, rows};
use rules::{by_order, known, named, of_nginx, with_unit};

/// Names of the whole request's time.
const NAMES: [&str; 10] = [
    "request_time",
    "rt",
    "request_time_us",
    "request_time_ms",
    "duration_ms",
    "duration_s",
    "duration_us",
    "duration",
    "latency",
    "elapsed",
];

/// What can be said of a duration before its lines are read.
struct Finding {
    place: Place,
    scale: Scale,
    side: Side,
    format: String,
    name: &'static str,
}

pub(super) fn understand(head: &Head<'_>, reading: &Reading) -> Result<Draft, ReadError> {
    let rows = rows(head);
    let Some(first) = rows.first() else {
        return Err(head.unknown("no line is in the combined format"));
    };
    let words_after = first.words.len();
    let finding = match reading.duration_word {
        Some(number) => chosen(head, &rows, number, reading)?,
        None => found(head, &rows, reading)?,
    };
    let place = match (&finding.place, finding.name) {
        (Place::Named(name), _) => format!("{name}="),
        (place, "") => in_words(place, &first.words),
        (place, name) => format!("{name}, {}", in_words(place, &first.words)),
    };
    Ok(Draft {
        layout: Layout::Combined(Combined { duration: finding.place, scale: finding.scale, words_after }),
        format: finding.format,
        duration_from: place,
        scale: finding.scale,
        side: finding.side,
    })
}

fn found(head: &Head<'_>, rows: &[Row<'_>], reading: &Reading) -> Result<Finding, ReadError> {
    let columns = columns(rows);
    if let Some(name) = &reading.duration_field {
        return named(head, rows, &[name.as_str()], reading);
    }
    if let Some(finding) = known(&columns) {
        return Ok(finding);
    }
    let names: Vec<&str> = NAMES.into_iter().filter(|name| has(rows, name)).collect();
    if !names.is_empty() {
        return named(head, rows, &names, reading);
    }
    if let Some(finding) = with_unit(head, rows, &columns)? {
        return Ok(finding);
    }
    if let Some(finding) = of_nginx(head, rows, &columns, reading)? {
        return Ok(finding);
    }
    by_order(head, rows, &columns, reading)
}
