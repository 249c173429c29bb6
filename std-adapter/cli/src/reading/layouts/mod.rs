//! The layouts of logs: how a line of each becomes records. Which layout a log has is found out in
//! `understanding`.

pub(crate) mod by_place;
pub(crate) mod combined;
pub(crate) mod csv;
pub(crate) mod elb;
pub(crate) mod envoy;
mod flat;
pub(crate) mod haproxy;
pub(crate) mod json;
pub(crate) mod logfmt;
pub(crate) mod spans;
pub(crate) mod w3c;
pub(crate) mod words;

use std::sync::Arc;

use crate::reading::dates::Dates;
use crate::reading::malformed::Malformed;
use crate::reading::named::Columns;
use crate::reading::record::Record;
use crate::reading::value::Scale;
use by_place::ByPlace;
use combined::Combined;
use csv::{Csv, Splitter};
use flat::Names;
use json::Tree;
use spans::SpanKind;
use w3c::Fields;
use words::Places;

/// How the lines of one log are read.
#[derive(Clone, Debug)]
pub(crate) enum Layout {
    Json(Columns, Tree),
    Csv(Box<Csv>),
    Logfmt(Columns),
    Combined(Combined),
    Envoy,
    Alb,
    ClassicElb,
    Haproxy,
    W3c(Scale),
    Spans(SpanKind),
    ByPlace(Box<ByPlace>),
}

/// Memory that is used again for each line.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    places: Places,
    pub(crate) dates: Dates,
    splitter: Splitter,
    names: Names,
    values: Vec<(usize, usize)>,
    /// What `#Fields` said last.
    fields: Option<Arc<Fields>>,
}

impl Scratch {
    /// Where `#Fields` said this before.
    pub(crate) fn with_fields(fields: Option<Arc<Fields>>) -> Self {
        Self { fields, ..Self::default() }
    }
}

impl Layout {
    /// Gives each call of a line to `put`. Returns how many things there were in the line that are no
    /// calls of interest.
    pub(crate) fn parse(
        &self,
        line: &str,
        scratch: &mut Scratch,
        key: Option<&str>,
        put: &mut dyn FnMut(Record<'_>),
    ) -> Result<u64, Malformed> {
        let Scratch { places, dates, splitter, names, values, fields } = scratch;
        put(match self {
            Self::Json(columns, tree) => json::parse(line, columns, tree, names, dates)?,
            Self::Csv(csv) => match csv.parse(line, splitter, dates)? {
                Some(record) => record,
                None => return Ok(0),
            },
            Self::Logfmt(columns) => logfmt::parse(line, columns, dates)?,
            Self::Combined(combined) => combined.parse(line, places, dates, key)?,
            Self::Envoy => envoy::parse(line, places, dates, key)?,
            Self::Alb => elb::parse_application(line, places, dates, key)?,
            Self::ClassicElb => elb::parse_classic(line, places, dates, key)?,
            Self::Haproxy => haproxy::parse(line, places, dates, key)?,
            Self::W3c(_) if w3c::is_directive(line) => {
                if let Some(found) = Fields::of(line) {
                    *fields = Some(Arc::new(found));
                }
                return Ok(0);
            }
            Self::W3c(scale) => match fields {
                Some(fields) => fields.parse(line, *scale, values, dates, key)?,
                None => return Err(Malformed::column(1, "before any #Fields line")),
            },
            Self::Spans(kind) => return spans::parse(line, *kind, key, put),
            Self::ByPlace(by_place) => by_place.parse(line, places, dates, key)?,
        });
        Ok(0)
    }
}
