//! Lines that are no calls: what is wrong with one, and how many there may be.

use std::fmt;

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
        Self {
            field: Some(field.to_owned()),
            column: None,
            problem: problem.into(),
        }
    }

    /// The line can't be read from this column (counted in bytes from 1) on.
    pub(crate) fn column(column: usize, problem: impl Into<String>) -> Self {
        Self {
            field: None,
            column: Some(column),
            problem: problem.into(),
        }
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

/// Counts skipped lines and keeps the first few to show.
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
}

/// How many malformed lines are shown.
const SHOWN: usize = 10;

impl Skipped {
    pub(crate) fn add(&mut self, path: &str, line: u64, why: &Malformed) {
        self.malformed += 1;
        if self.shown.len() < SHOWN {
            self.shown.push(format!("{path}:{line}: {why}"));
        }
    }
}
