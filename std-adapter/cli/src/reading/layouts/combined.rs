//! The combined (or common) log format of nginx, Apache, Tomcat and Traefik, with a duration in it.
//!
//! `host ident user [time] "request" status bytes "referer" "agent" … duration …`. A client chooses the
//! user, the request line and whatever is quoted. So the request is found by the first quote behind a bracket
//! (servers escape quotes in what a client sends), and words are counted from there.

use memchr::memrchr;

use crate::reading::dates::Dates;
use crate::reading::layouts::words::{Places, Words, closing_quote, quote, request};
use crate::reading::malformed::Malformed;
use crate::reading::record::Record;
use crate::reading::rules::Ending;
use crate::reading::value::{Scale, Value};

/// Where the duration stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// So many words after the request line: 0 is the status.
    After(usize),
    /// So many words from the line's start on, before the time.
    Before(usize),
    /// The one with this index of so many between the time and the request line.
    Between { at: usize, of: usize },
    /// In a word such as `rt=0.123`.
    Named(String),
}

/// Which word of a line is what.
#[derive(Clone, Debug)]
pub(crate) struct Combined {
    pub(crate) duration: Place,
    pub(crate) scale: Scale,
    /// Words after the request line: a line with more or fewer can't be counted through.
    pub(crate) words_after: usize,
}

/// A line, taken apart.
pub(crate) struct Parts<'a, 'p> {
    /// Up to the time.
    pub(crate) before: &'a str,
    pub(crate) time: &'a str,
    pub(crate) time_column: usize,
    /// Between the time and the request line, where nothing is quoted.
    pub(crate) between: &'a str,
    pub(crate) request: &'a str,
    pub(crate) after: Words<'a, 'p>,
}

impl<'a, 'p> Parts<'a, 'p> {
    /// Takes a line apart.
    pub(crate) fn of(line: &'a str, places: &'p mut Places) -> Result<Self, Malformed> {
        let bytes = line.as_bytes();
        let no_request = || Malformed::field("request", "no quoted request line").at(line.len());
        let no_time = || Malformed::field("time", "no time in brackets before the request").at(1);
        let mut from = 0;
        let (opening, close) = loop {
            let opening = quote(bytes, from).ok_or_else(|| match from {
                0 => no_request(),
                _ => no_time(),
            })?;
            match memrchr(b']', bytes.get(from..opening).unwrap_or_default()) {
                Some(at) => break (opening, from + at),
                // Quoted words before the time: a host, X-Forwarded-For.
                None => from = closing_quote(bytes, opening + 1).ok_or_else(no_time)? + 1,
            }
        };
        let open = from + memrchr(b'[', bytes.get(from..close).unwrap_or_default()).ok_or_else(no_time)?;
        let end = closing_quote(bytes, opening + 1).ok_or_else(|| {
            let problem = "a quote or bracket that does not close";
            Malformed::column(opening + 1, problem)
        })?;
        Ok(Self {
            before: line.get(..open).unwrap_or_default(),
            time: line.get(open + 1..close).unwrap_or_default(),
            time_column: open + 1,
            between: line.get(close + 1..opening).unwrap_or_default(),
            request: line.get(opening + 1..end).unwrap_or_default(),
            after: places.split_from(line, end + 1)?,
        })
    }
}

impl Combined {
    #[inline]
    pub(crate) fn parse<'a>(
        &self,
        line: &'a str,
        places: &mut Places,
        dates: &mut Dates,
        key: Option<&str>,
    ) -> Result<Record<'a>, Malformed> {
        let parts = Parts::of(line, places)?;
        let time_us = dates.micros(parts.time).ok_or_else(|| {
            let shown: String = parts.time.chars().take(40).collect();
            let problem = format!("{shown:?} is not a time as in 31/Dec/2025:23:59:59 +0000");
            Malformed::field("time", problem).at(parts.time_column)
        })?;
        let status = parts.after.need(0, "status")?;
        Ok(Record {
            time_us,
            duration_us: self.duration(&parts, line.len())?,
            ending: Ending::Status(status.read(|value| value.status("status"))?),
            key: key.and_then(|key| match key {
                "host" => parts.before.split(' ').next().map(Into::into),
                "method" => request(parts.request).map(|(method, _)| method.into()),
                "path" => request(parts.request).map(|(_, path)| path.into()),
                name => named(&parts.after, name).map(Into::into),
            }),
        })
    }

    fn duration(&self, parts: &Parts<'_, '_>, length: usize) -> Result<i64, Malformed> {
        let missing = |name: &str| Malformed::field(name, "missing").at(length + 1);
        match &self.duration {
            Place::Named(name) => {
                let mut values = parts.after.iter().filter_map(|word| word.value_of(name));
                let value = values.next().ok_or_else(|| missing(name))?;
                if values.next().is_some() {
                    return Err(Malformed::field(name, "stands there twice"));
                }
                Value::text(value).duration(name, self.scale)
            }
            Place::Before(index) => {
                let word = parts.before.split_ascii_whitespace().nth(*index);
                let value = word.ok_or_else(|| missing("duration"))?;
                Value::text(value).duration("duration", self.scale)
            }
            Place::Between { at, of } => {
                let words = || parts.between.split_ascii_whitespace();
                let value = words().nth(*at).filter(|_| words().count() == *of);
                let value = value.ok_or_else(|| missing("duration"))?;
                Value::text(value).duration("duration", self.scale)
            }
            Place::After(index) => {
                let (found, expected) = (parts.after.len(), self.words_after);
                if found != expected {
                    let problem = format!("{found} words after the request, where others have {expected}");
                    return Err(Malformed::column(length + 1, problem));
                }
                let word = parts.after.need(*index, "duration")?;
                word.read(|value| value.duration("duration", self.scale))
            }
        }
    }
}

fn named<'a>(words: &Words<'a, '_>, name: &str) -> Option<&'a str> {
    let found = words.iter().find_map(|word| word.value_of(name));
    found.filter(|value| !value.is_empty())
}
