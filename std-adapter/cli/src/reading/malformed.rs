//! Lines that are no calls: what is wrong with one, and how many there may be.

use std::fmt;
use std::str::FromStr;

/// What is wrong with a line, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    field: Option<String>,
    column: Option<usize>,
    problem: String,
}

impl Malformed {
    /// A field's value is wrong.
    pub(crate) fn field(field: &str, problem: impl Into<String>) -> Self {
        Self { field: Some(field.to_owned()), column: None, problem: problem.into() }
    }

    /// The line can't be read from this column (counted in bytes from 1) on.
    pub(crate) fn column(column: usize, problem: impl Into<String>) -> Self {
        Self { field: None, column: Some(column), problem: problem.into() }
    }

    /// The same, with the column where the field stands.
    pub(crate) fn at(mut self, column: usize) -> Self {
        self.column = Some(column);
        self
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(column) = self.column {
            write!(f, "column {column}: ")?;
        }
        if let Some(field) = &self.field {
            write!(f, "field `{field}`: ")?;
        }
        f.write_str(&self.problem)
    }
}

/// How many lines may be malformed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MaxMalformed {
    /// So many over all logs.
    Count(u64),
    /// So many per cent of each log.
    Share(f64),
}

impl FromStr for MaxMalformed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let share = text.trim().strip_suffix('%').map(|number| number.trim().parse::<f64>());
        match share {
            Some(Ok(percent)) if (0.0..=100.0).contains(&percent) => Ok(Self::Share(percent)),
            Some(_) => Err("a share is from 0% to 100%".to_owned()),
            None => {
                let count = text.trim().parse().map(Self::Count);
                count.map_err(|_| "must be a number of lines, or a share such as 1%".to_owned())
            }
        }
    }
}

/// Counts what is left out, and keeps the first few malformed lines to show.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skipped {
    /// Lines that are no calls.
    pub(crate) malformed: u64,
    /// The first of them, with file and line.
    pub(crate) shown: Vec<String>,
    /// Calls that began earlier than others already played: too far out of order to be sorted in.
    pub(crate) out_of_order: u64,
    /// Calls of keys beyond the permitted number.
    pub(crate) beyond_keys: u64,
    /// Calls that began before --from or after --to.
    pub(crate) outside: u64,
    /// Spans of other kinds than --span-kind.
    pub(crate) other_spans: u64,
}

/// How many malformed lines are shown.
const SHOWN: usize = 10;

impl Skipped {
    pub(crate) fn show(&mut self, path: &str, line: u64, why: &Malformed) {
        if self.shown.len() < SHOWN {
            self.shown.push(format!("{path}:{line}: {why}"));
        }
    }
}
