//! The extended log format of the W3C, as IIS and CloudFront write it: `#Fields` names the columns.
//!
//! Directives (lines that begin with `#`) may come again, with other columns. Times are UTC, and are when
//! the response was sent.

use std::sync::Arc;

use crate::reading::dates::Dates;
use crate::reading::layouts::words::request;
use crate::reading::malformed::Malformed;
use crate::reading::record::Record;
use crate::reading::rules::Ending;
use crate::reading::value::{Scale, Unit, Value};

/// What `#Fields` says.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    names: Vec<String>,
    date: Option<usize>,
    time: Option<usize>,
    duration: Option<usize>,
    status: Option<usize>,
}

const DIRECTIVE: &str = "#Fields:";

/// Whether a line of this log is about the others.
pub(crate) fn is_directive(line: &str) -> bool {
    line.starts_with('#')
}

impl Fields {
    /// From a `#Fields` line; `None` where it is another line.
    pub(crate) fn of(line: &str) -> Option<Self> {
        let names = line.strip_prefix(DIRECTIVE)?;
        let names: Vec<_> = names.split_ascii_whitespace().map(str::to_owned).collect();
        let at = |wanted: &str| names.iter().position(|name| name == wanted);
        Some(Self {
            date: at("date"),
            time: at("time"),
            duration: at("time-taken"),
            status: at("sc-status"),
            names,
        })
    }

    /// The last one in these lines.
    pub(crate) fn last_in(text: &[u8]) -> Option<Arc<Self>> {
        let at = memchr::memmem::rfind_iter(text, DIRECTIVE.as_bytes())
            .find(|at| *at == 0 || text.get(at - 1) == Some(&b'\n'))?;
        let line = text.get(at..)?.split(|byte| *byte == b'\n').next()?;
        Some(Arc::new(Self::of(str::from_utf8(line).ok()?.trim_end())?))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// CloudFront writes seconds, IIS milliseconds; of others nothing is known.
    pub(crate) fn known_unit(&self) -> Option<Unit> {
        if self.is_cloudfront() {
            Some(Unit::S)
        } else if self.has("sc-win32-status") || self.has("s-sitename") || self.has("sc-substatus") {
            Some(Unit::Ms)
        } else {
            None
        }
    }

    pub(crate) fn is_cloudfront(&self) -> bool {
        self.has("x-edge-location")
    }

    /// What is missing to read calls.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        let needed = [
            (self.date, "date"),
            (self.time, "time"),
            (self.duration, "time-taken"),
            (self.status, "sc-status"),
        ];
        let missing = needed.iter().find(|(index, _)| index.is_none())?;
        Some(missing.1)
    }

    /// The call of a line.
    pub(crate) fn parse<'a>(
        &self,
        line: &'a str,
        scale: Scale,
        values: &mut Vec<(usize, usize)>,
        dates: &mut Dates,
        key: Option<&str>,
    ) -> Result<Record<'a>, Malformed> {
        split(line, values);
        if values.len() != self.names.len() {
            let (found, expected) = (values.len(), self.names.len());
            let problem = format!("{found} columns, but #Fields has {expected}");
            return Err(Malformed::column(line.len() + 1, problem));
        }
        let get = |index: Option<usize>, field: &str| {
            index
                .and_then(|index| values.get(index))
                .and_then(|(start, end)| line.get(*start..*end))
                .ok_or_else(|| Malformed::field(field, "missing"))
        };
        let (date, time) = (get(self.date, "date")?, get(self.time, "time")?);
        let time_us = dates
            .micros(&format!("{date}T{time}Z"))
            .ok_or_else(|| Malformed::field("date", format!("{date:?} {time:?} is no time")))?;
        let duration = Value::text(get(self.duration, "time-taken")?);
        let status = Value::text(get(self.status, "sc-status")?).status("sc-status")?;
        Ok(Record {
            time_us,
            duration_us: duration.duration("time-taken", scale)?,
            // CloudFront's 000: the client left before there was an answer.
            ending: if status == 0 && self.is_cloudfront() {
                Ending::Cancelled
            } else {
                Ending::Status(status)
            },
            key: key.and_then(|key| {
                let name = match key {
                    "method" => "cs-method",
                    "path" => "cs-uri-stem",
                    "host" if self.has("x-host-header") => "x-host-header",
                    "host" => "cs-host",
                    name => name,
                };
                let index = self.names.iter().position(|known| known == name);
                let text = get(index, name).ok()?;
                let path = request(text).map(|(_, path)| path).filter(|_| key == "path");
                Some(path.unwrap_or(text).into())
            }),
        })
    }
}

/// Where the values stand, parted by tabs or, where there is none, by spaces.
fn split(line: &str, values: &mut Vec<(usize, usize)>) {
    let bytes = line.as_bytes();
    let mark = memchr::memchr(b'\t', bytes).map_or(b' ', |_| b'\t');
    values.clear();
    let mut start = 0;
    for end in memchr::memchr_iter(mark, bytes).chain([line.len()]) {
        values.push((start, end));
        start = end + 1;
    }
}
