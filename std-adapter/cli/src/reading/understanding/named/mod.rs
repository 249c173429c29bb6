//! Which field of a JSON, CSV or logfmt log is what, told by the fields' names.
//!
//! Only fields at the top of an object come into question unasked: what is nested may be a header that a
//! client sent.

mod durations;
mod names;
mod rows;
mod times;

use crate::reading::error::ReadError;
use crate::reading::layouts::csv::Csv;
use crate::reading::layouts::json::Tree;
use crate::reading::layouts::{Layout, csv};
use crate::reading::named::Columns;
use crate::reading::understanding::known::{self, Known};
use crate::reading::understanding::{Draft, Format, Head, Reading};
use crate::reading::value::Value;
use durations::durations;
use names::{STATUSES, is_time};
use rows::{Rows, csv_rows, in_header, json_row, logfmt_row, rows};
use times::ts;

pub(super) fn understand(head: &Head<'_>, format: Format, reading: &Reading) -> Result<Draft, ReadError> {
    let rows = match format {
        Format::Json => rows(head, json_row),
        Format::Logfmt => rows(head, logfmt_row),
        _ => csv_rows(head, reading),
    };
    let known = known::of_fields(|name| rows.have(name))
        .filter(|known| format == Format::Json && values_fit(known, &rows));
    let ts = ts(head, format, &rows, known, reading)?;
    let durations = durations(head, &rows, known, &ts, reading)?;
    let columns = Columns {
        ts: ts.name,
        ts_unit: reading.ts_unit,
        status: status(&rows, known, reading),
        ok: reading.ok_field.clone().unwrap_or_else(|| "ok".to_owned()),
        durations: durations.columns,
        key: reading.key.clone(),
    };
    let name = known.map_or(
        match format {
            Format::Json => "JSON lines",
            Format::Logfmt => "logfmt",
            _ => "CSV",
        },
        |known| known.format,
    );
    let from = columns.durations();
    Ok(Draft {
        layout: match format {
            Format::Json => {
                let tree = Tree::new(&columns);
                Layout::Json(columns, tree)
            }
            Format::Logfmt => Layout::Logfmt(columns),
            _ => Layout::Csv(Box::new(csv_layout(head, &rows, &columns)?)),
        },
        format: name.to_owned(),
        duration_from: if format == Format::Logfmt { format!("{from}=") } else { from },
        scale: durations.scale,
        side: durations.side.unwrap_or(ts.side),
    })
}

/// nginx writes seconds with a point: whole numbers under its names are another's.
fn values_fit(known: &Known, rows: &Rows) -> bool {
    known.format != "nginx JSON"
        || rows.values(known.duration).flatten().all(|value| match value {
            Value::Float(_) => true,
            Value::Text(text) => text.contains('.'),
            _ => false,
        })
}

fn csv_layout(head: &Head<'_>, rows: &Rows, columns: &Columns) -> Result<Csv, ReadError> {
    let (_, header) = rows.header.clone().unwrap_or_default();
    Csv::from_header(&header, columns).map_err(|why| ReadError::Header {
        path: head.path.to_owned(),
        why,
        advice: others(&header),
    })
}

/// What of a header might be meant.
fn others(header: &str) -> String {
    let (names, _) = csv::names(header);
    let is_time = |name: &&String| is_time(name);
    match names.iter().find(is_time) {
        Some(name) if name != "ts" => format!(
            "\nif {name} is when calls began, add --ts-field {name}; if it is when they ended, \
             --time-is end, too"
        ),
        _ => String::new(),
    }
}

fn status(rows: &Rows, known: Option<&Known>, reading: &Reading) -> String {
    if let Some(name) = &reading.status_field {
        return name.clone();
    }
    if let Some(known) = known {
        return known.status.to_owned();
    }
    let found = STATUSES.iter().find(|name| rows.have(name) || in_header(rows, name));
    found.map_or("status", |name| name).to_owned()
}
