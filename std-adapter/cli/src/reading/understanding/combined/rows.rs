//! The lines of a combined log, taken apart: what stands in each place of all of them.

use std::collections::HashMap;

use crate::reading::dates::Dates;
use crate::reading::layouts::combined::Parts;
use crate::reading::layouts::words::{Kind, Places, Word};
use crate::reading::number::Number;
use crate::reading::understanding::Head;
use crate::reading::understanding::order::Numbers;
use crate::reading::value::Unit;

/// Status and bytes come right after the request line, and are no durations.
pub(super) const FIRST: usize = 2;

/// A line's time and the words after its request.
pub(super) struct Row<'h> {
    pub(super) number: u64,
    pub(super) time_us: i64,
    pub(super) words: Vec<Word<'h>>,
}

/// The words at one place in all lines.
pub(super) struct Column<'r> {
    pub(super) at: usize,
    pub(super) words: Vec<&'r Word<'r>>,
}

impl Column<'_> {
    pub(super) fn are_bare(&self) -> bool {
        self.words.iter().all(|word| word.kind == Kind::Bare)
    }

    pub(super) fn all(&self, check: impl Fn(&str) -> bool) -> bool {
        !self.words.is_empty() && self.are_bare() && self.words.iter().all(|word| check(word.text))
    }

    /// In millionths.
    pub(super) fn numbers(&self) -> Numbers {
        let number = |word: &&Word<'_>| Number::in_text(word.text)?.micros(Unit::S);
        self.words.iter().map(number).collect()
    }
}

/// The lines that can be taken apart, with as many words as most have.
pub(super) fn rows<'h>(head: &'h Head<'_>) -> Vec<Row<'h>> {
    let mut places = Places::default();
    let mut dates = Dates::default();
    let mut rows: Vec<Row<'_>> = Vec::new();
    for (number, line) in &head.lines {
        let Ok(parts) = Parts::of(line, &mut places) else {
            continue;
        };
        let Some(time_us) = dates.micros(parts.time) else {
            continue;
        };
        rows.push(Row { number: *number, time_us, words: parts.after.iter().collect() });
    }
    let mut lengths = HashMap::new();
    for row in &rows {
        *lengths.entry(row.words.len()).or_insert(0_usize) += 1;
    }
    let most = lengths.into_iter().max_by_key(|(length, count)| (*count, *length));
    if let Some((length, _)) = most {
        rows.retain(|row| row.words.len() == length);
    }
    rows
}

pub(super) fn columns<'r>(rows: &'r [Row<'_>]) -> Vec<Column<'r>> {
    let words = rows.first().map_or(0, |row| row.words.len());
    (FIRST..words)
        .map(|at| Column { at, words: rows.iter().filter_map(|row| row.words.get(at)).collect() })
        .collect()
}

pub(super) fn is_whole(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

pub(super) fn value_named<'h>(row: &Row<'h>, wanted: &str) -> Option<&'h str> {
    row.words.iter().find_map(|word| word.value_of(wanted))
}

pub(super) fn has(rows: &[Row<'_>], name: &str) -> bool {
    let with = rows.iter().filter(|row| value_named(row, name).is_some()).count();
    with * 2 > rows.len()
}

/// nginx writes times in seconds, with three decimals.
pub(in crate::reading::understanding) fn is_nginx_time(text: &str) -> bool {
    let parts = text.split_once('.');
    let is_time = |whole: &str, part: &str| {
        // Longer ones are times since the epoch.
        whole.len() <= 8 && part.len() == 3 && is_whole(whole) && is_whole(part)
    };
    parts.is_some_and(|(whole, part)| is_time(whole, part))
}
