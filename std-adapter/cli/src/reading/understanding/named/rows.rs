//! The lines of a log as fields with names.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::reading::error::ReadError;
use crate::reading::layouts::csv::{self, Splitter};
use crate::reading::layouts::logfmt;
use crate::reading::understanding::question::Question;
use crate::reading::understanding::{Head, Reading};
use crate::reading::value::Value;

use super::names::is_duration;

/// Lines whose fields are looked at.
pub(super) const LOOKED_AT: usize = 5_000;

/// How deep objects are looked into, for the names of known layouts.
pub(super) const DEEPEST: usize = 3;

/// A line's fields; those within objects by their paths.
pub(super) type Row = BTreeMap<String, Value<'static>>;

pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    /// The number of the first line that has fields.
    pub(super) first: u64,
    /// Of a CSV file, its header's line number and text.
    pub(super) header: Option<(u64, String)>,
}

impl Rows {
    /// How many lines have this field.
    pub(super) fn count(&self, name: &str) -> usize {
        self.rows.iter().filter(|row| row.contains_key(name)).count()
    }

    /// Whether most lines have it.
    pub(super) fn have(&self, name: &str) -> bool {
        self.count(name) * 2 > self.rows.len()
    }

    pub(super) fn values(&self, name: &str) -> impl Iterator<Item = Option<&Value<'static>>> {
        self.rows.iter().map(move |row| row.get(name))
    }
}

pub(super) fn rows(head: &Head<'_>, read: impl Fn(&str) -> Option<Row>) -> Rows {
    let lines = head.lines.iter().take(LOOKED_AT);
    let read: Vec<_> = lines.filter_map(|(number, line)| Some((*number, read(line)?))).collect();
    Rows {
        first: read.first().map_or(1, |(number, _)| *number),
        rows: read.into_iter().map(|(_, row)| row).collect(),
        header: None,
    }
}

pub(super) fn json_row(line: &str) -> Option<Row> {
    let Json::Object(object) = serde_json::from_str(line).ok()? else {
        return None;
    };
    let mut row = Row::new();
    flatten("", object, DEEPEST, &mut row);
    Some(row)
}

pub(super) fn flatten(prefix: &str, object: serde_json::Map<String, Json>, depth: usize, row: &mut Row) {
    for (name, value) in object {
        let path = format!("{prefix}{name}");
        let value = match value {
            Json::Null => continue,
            Json::Bool(value) => Value::Boolean(value),
            Json::Number(number) => match number.as_i64() {
                Some(number) => Value::Integer(number),
                None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::Text(Cow::Owned(text)),
            Json::Array(_) => Value::Nested,
            Json::Object(inner) => {
                if depth > 1 {
                    flatten(&format!("{path}."), inner, depth - 1, row);
                }
                continue;
            }
        };
        row.insert(path, value);
    }
}

pub(super) fn logfmt_row(line: &str) -> Option<Row> {
    let mut row = Row::new();
    for pair in logfmt::pairs(line) {
        let (name, value) = pair.ok()?;
        if !value.is_empty() {
            row.insert(name.to_owned(), Value::Text(Cow::Owned(value.into_owned())));
        }
    }
    Some(row)
}

/// The header is the first line that has what is needed; where none has, the first of all.
pub(super) fn csv_rows(head: &Head<'_>, reading: &Reading) -> Rows {
    let mut lines = head.lines.iter().take(10);
    let is_header = |line: &str| {
        let (names, _) = csv::names(line);
        let has = |wanted: &dyn Fn(&str) -> bool| names.iter().any(|name| wanted(name));
        let is_ts = |name: &str| reading.ts_field.as_deref().map_or(name == "ts", |ts| ts == name);
        let is_duration = |name: &str| match &reading.duration_field {
            Some(wanted) => name == wanted,
            None => is_duration(name),
        };
        has(&is_ts) && has(&is_duration)
    };
    let header = lines.find(|(_, line)| is_header(line)).or(head.lines.first());
    let Some((number, header)) = header else {
        return Rows { rows: Vec::new(), first: 1, header: None };
    };
    let (names, delimiter) = csv::names(header);
    let after = head.lines.iter().filter(|(line, _)| line > number).take(LOOKED_AT);
    let mut splitter = Splitter::default();
    let rows = after.filter_map(|(_, line)| {
        let values = splitter.fields(line, delimiter);
        (values.len() == names.len()).then(|| {
            let pairs = names.iter().zip(values).filter(|(_, value)| !value.trim().is_empty());
            pairs.map(|(name, value)| (name.clone(), Value::Text(Cow::Owned(value)))).collect()
        })
    });
    Rows { rows: rows.collect(), first: number + 1, header: Some((*number, header.clone().into_owned())) }
}

pub(super) fn in_header(rows: &Rows, wanted: &str) -> bool {
    let header = rows.header.as_ref();
    header.is_some_and(|(_, header)| csv::names(header).0.iter().any(|name| name == wanted))
}

/// The names of fields that are at the top of most lines. All are counted at once: a hostile line may have no end
/// of them.
pub(super) fn top_names(rows: &Rows) -> impl Iterator<Item = &String> {
    let mut counts = BTreeMap::<_, usize>::new();
    for name in rows.rows.iter().flat_map(BTreeMap::keys) {
        *counts.entry(name).or_default() += 1;
    }
    let are_usual = counts.into_iter().filter(|(_, count)| count * 2 > rows.rows.len());
    are_usual.map(|(name, _)| name).filter(|name| !name.contains('.'))
}

pub(super) fn ask(head: &Head<'_>, rows: &Rows, matter: &str, names: &[&str], advice: &str) -> ReadError {
    let mut question =
        Question { matter: matter.to_owned(), advice: advice.to_owned(), ..Question::default() };
    for (index, (name, value)) in rows.rows.iter().take(1).flatten().enumerate() {
        question.words.push(format!("{name} = {}", value.shown()));
        if names.contains(&&**name) {
            question.candidates.push(index);
        }
    }
    head.ask(rows.first, &question)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_line_with_no_end_of_names_is_counted_once_through() {
        let row = |names: u32| -> Row { (0..names).map(|n| (format!("k{n}"), Value::Integer(1))).collect() };
        let mut rows: Vec<Row> = (0..800).map(|_| row(3)).collect();
        rows.push(row(60_000));
        let rows = Rows { rows, first: 1, header: None };
        let start = Instant::now();
        let names: Vec<_> = top_names(&rows).collect();
        assert_eq!(names, ["k0", "k1", "k2"]);
        // Each name looked for in each line would take many times as long.
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }
}
