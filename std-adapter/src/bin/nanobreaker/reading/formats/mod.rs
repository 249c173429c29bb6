//! The formats of logs: what a file is in, and how its lines become records.

mod alb;
mod combined;
mod csv;
mod envoy;
mod json;
mod words;

use crate::reading::columns::{Columns, Record};
use crate::reading::malformed::Malformed;
use crate::reading::value::Unit;
use combined::Combined;
use csv::Csv;

/// What a log is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// An object a line
    Json,
    /// With a header line that names the columns
    Csv,
    /// nginx's or Apache's combined format, with the request's time after it
    Combined,
    /// Envoy's default format
    Envoy,
    /// AWS Application Load Balancer
    Alb,
}

impl Format {
    /// Told by a log's first line.
    pub(crate) fn of(line: &str) -> Option<Self> {
        let line = line.trim_start();
        let is_dated = |bracket: &str| bracket.contains('/') && bracket.matches(':').count() >= 3;
        let bracketed = line.strip_prefix('[');
        // A list of objects is no log, but JSON can tell best what is wrong with it.
        let is_list = bracketed.is_some_and(|rest| rest.trim_start().starts_with('{'));
        if line.starts_with('{') || is_list {
            return Some(Self::Json);
        }
        if bracketed.is_some() {
            return Some(Self::Envoy);
        }
        let kind = line.split(' ').next().unwrap_or_default();
        if ["http", "https", "h2", "grpcs", "ws", "wss"].contains(&kind) {
            return Some(Self::Alb);
        }
        let bracket = line
            .split_once('[')
            .and_then(|(_, rest)| rest.split_once(']'));
        if bracket.is_some_and(|(time, _)| is_dated(time)) {
            return Some(Self::Combined);
        }
        line.contains([',', ';', '\t']).then_some(Self::Csv)
    }
}

/// Turns the lines of one file into records.
#[derive(Debug)]
pub(crate) enum Parser {
    Json,
    Csv(Box<Csv>),
    Combined(Combined),
    Envoy,
    Alb,
}

/// How the duration is written in formats whose columns have no names.
#[derive(Clone, Debug, Default)]
pub(crate) struct DurationWord {
    pub(crate) name: Option<String>,
    pub(crate) unit: Option<Unit>,
}

/// What became of a file's first line.
pub(crate) enum First {
    /// It only named the columns.
    Header,
    /// It is a call like any other.
    Call,
}

impl Parser {
    /// For a file in this format that starts with this line.
    ///
    /// # Errors
    ///
    /// A CSV header without a column that is needed.
    pub(crate) fn new(
        format: Format,
        first_line: &str,
        columns: &Columns,
        duration: &DurationWord,
    ) -> Result<(Self, First), Malformed> {
        Ok(match format {
            Format::Csv => {
                let csv = Csv::from_header(first_line, columns)?;
                (Self::Csv(Box::new(csv)), First::Header)
            }
            Format::Json => (Self::Json, First::Call),
            Format::Combined => (Self::Combined(Combined::new(duration)), First::Call),
            Format::Envoy => (Self::Envoy, First::Call),
            Format::Alb => (Self::Alb, First::Call),
        })
    }

    pub(crate) fn parse<'a>(
        &'a mut self,
        line: &'a str,
        columns: &Columns,
    ) -> Result<Record<'a>, Malformed> {
        match self {
            Self::Json => json::parse(line, columns),
            Self::Csv(csv) => csv.parse(line, columns),
            Self::Combined(combined) => combined.parse(line, columns),
            Self::Envoy => envoy::parse(line, columns),
            Self::Alb => alb::parse(line, columns),
        }
    }
}

#[cfg(test)]
mod tests;
