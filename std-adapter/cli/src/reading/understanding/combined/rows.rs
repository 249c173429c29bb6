//! The lines of a combined log, taken apart: what stands in each place of all of them.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::reading::dates::Dates;
use crate::reading::layouts::combined::{Parts, Place};
use crate::reading::layouts::words::{Kind, Places, Word};
use crate::reading::number::Number;
use crate::reading::understanding::Head;
use crate::reading::understanding::order::Numbers;
use crate::reading::value::Unit;

/// Status and bytes come right after the request line, and are no durations.
pub(super) const FIRST: usize = 2;

/// Host, identity and user.
const USUAL_BEFORE: usize = 3;

/// A line, taken apart.
pub(super) struct Row<'h> {
    pub(super) number: u64,
    pub(super) time_us: i64,
    /// Before the time.
    pub(super) before: Vec<Word<'h>>,
    pub(super) time: &'h str,
    /// Between the time and the request.
    pub(super) between: Vec<Word<'h>>,
    pub(super) request: &'h str,
    /// After the request.
    pub(super) words: Vec<Word<'h>>,
}

impl<'h> Row<'h> {
    /// The word at a place.
    pub(super) fn at(&self, place: &Place) -> Option<&Word<'h>> {
        match place {
            Place::Before(at) => self.before.get(*at),
            Place::Between { at, .. } => self.between.get(*at),
            Place::After(at) => self.words.get(*at),
            Place::Named(name) => self.words.iter().find(|word| word.value_of(name).is_some()),
        }
    }

    /// How many words there are between and after: lines with others can't be counted through.
    fn lengths(&self) -> (usize, usize) {
        (self.between.len(), self.words.len())
    }
}

/// The words at one place in all lines.
pub(super) struct Column<'r> {
    pub(super) place: Place,
    pub(super) words: Vec<&'r Word<'r>>,
}

impl<'r> Column<'r> {
    pub(super) fn of(rows: &'r [Row<'_>], place: Place) -> Self {
        Self { words: rows.iter().filter_map(|row| row.at(&place)).collect(), place }
    }
    pub(super) fn are_bare(&self) -> bool {
        self.words.iter().all(|word| word.kind == Kind::Bare)
    }

    pub(super) fn all(&self, check: impl Fn(&str) -> bool) -> bool {
        !self.words.is_empty() && self.are_bare() && self.words.iter().all(|word| check(word.text))
    }

    /// Whether most are addresses, or lists of them. A client may send anything instead.
    pub(super) fn are_addresses(&self) -> bool {
        let is_one = |text: &str| text.trim().parse::<IpAddr>().is_ok();
        let are_all = self.words.iter().filter(|word| word.text.split(',').all(is_one));
        are_all.count() * 2 > self.words.iter().filter(|word| word.text != "-").count()
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
        rows.push(Row {
            number: *number,
            time_us,
            before: bare(parts.before),
            time: parts.time,
            between: bare(parts.between),
            request: parts.request,
            words: parts.after.iter().collect(),
        });
    }
    let mut lengths = HashMap::new();
    for row in &rows {
        *lengths.entry(row.lengths()).or_insert(0_usize) += 1;
    }
    let most = lengths.into_iter().max_by_key(|(lengths, count)| (*count, *lengths));
    if let Some((lengths, _)) = most {
        rows.retain(|row| row.lengths() == lengths);
    }
    rows
}

fn bare(text: &str) -> Vec<Word<'_>> {
    let word = |text| Word { text, column: 0, kind: Kind::Bare };
    text.split_ascii_whitespace().map(word).collect()
}

/// The words that may be durations: what comes before the host, and all that is neither host, identity, user,
/// time, request, status nor bytes.
pub(super) fn columns<'r>(rows: &'r [Row<'_>]) -> Vec<Column<'r>> {
    let (of, words) = rows.first().map_or((0, 0), Row::lengths);
    let has_more = rows.iter().all(|row| row.before.len() > USUAL_BEFORE);
    let before = has_more.then_some(Place::Before(0)).into_iter();
    let between = (0..of).map(|at| Place::Between { at, of });
    let after = (FIRST..words).map(Place::After);
    before.chain(between).chain(after).map(|place| Column::of(rows, place)).collect()
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
