//! The combined log format of nginx and Apache, with the request's time after it.
//!
//! `host ident user [time] "request" status bytes "referer" "agent" … time …`. nginx writes
//! `$request_time` as seconds with a point, and its lines when requests end; Apache writes `%D` as
//! whole microseconds, and the times when requests began. So the point tells who wrote the line.

use crate::reading::columns::{Columns, Record, TimeIs};
use crate::reading::formats::DurationWord;
use crate::reading::formats::words::{Word, word, words};
use crate::reading::malformed::Malformed;
use crate::reading::rules::Ending;
use crate::reading::value::{Unit, Value};

/// Reads the lines of one log.
#[derive(Clone, Debug)]
pub(crate) struct Combined {
    /// With a name it is in `name=0.123`, rather than the first bare number.
    duration: DurationWord,
    /// A second has many lines: the last one's time, to parse it once.
    last: Option<(String, i64)>,
}

/// Names under which servers write the request's time.
const NAMES: [&str; 6] = [
    "request_time",
    "rt",
    "request_time_us",
    "duration_ms",
    "duration_s",
    "duration",
];

impl Combined {
    pub(crate) fn new(duration: &DurationWord) -> Self {
        Self {
            duration: duration.clone(),
            last: None,
        }
    }

    pub(crate) fn parse<'a>(
        &mut self,
        line: &'a str,
        columns: &Columns,
    ) -> Result<Record<'a>, Malformed> {
        let words = words(line)?;
        let time = word(&words, 3, "time")?;
        let request = word(&words, 4, "request")?;
        let status = word(&words, 5, "status")?;
        let rest = words.get(7..).unwrap_or_default();
        let (duration, unit) = self.duration(rest).ok_or_else(|| {
            let problem = "no number after the status: does the log format have one?";
            Malformed::field("request time", problem).at(line.len() + 1)
        })?;
        Ok(Record {
            time_us: self.time(time.text).map_err(|why| why.at(time.column))?,
            time_is: match unit {
                Unit::S => TimeIs::End,
                _ => TimeIs::Start,
            },
            duration_us: duration.duration("request time", unit)?,
            ending: status
                .value()
                .status("status")
                .map(Ending::Status)
                .map_err(|why| why.at(status.column))?,
            key: columns.key.as_deref().and_then(|key| match key {
                "host" => word(&words, 0, "host").ok().map(|word| word.text.into()),
                "method" => request.request().map(|(method, _)| method.into()),
                "path" => request.request().map(|(_, path)| path.into()),
                _ => None,
            }),
        })
    }

    fn duration<'a>(&self, words: &[Word<'a>]) -> Option<(Value<'a>, Unit)> {
        let named = words.iter().find_map(|word| {
            let (name, number) = word.text.split_once('=')?;
            let known = match &self.duration.name {
                Some(wanted) => name == wanted,
                None => NAMES.contains(&name),
            };
            known.then_some((Some(name), number.trim_matches('"')))
        });
        let bare = || {
            let numbers = words.iter().map(|word| word.text);
            let mut numbers = numbers.filter(|text| is_number(text));
            numbers.next().map(|number| (None, number))
        };
        let (name, number) = match &self.duration.name {
            Some(_) => named,
            None => named.or_else(bare),
        }?;
        let unit = self
            .duration
            .unit
            .or_else(|| name.and_then(Unit::in_name))
            .unwrap_or(if number.contains('.') {
                Unit::S
            } else {
                Unit::Us
            });
        Some((Value::text(number), unit))
    }

    fn time(&mut self, text: &str) -> Result<i64, Malformed> {
        if let Some((last, us)) = &self.last
            && last == text
        {
            return Ok(*us);
        }
        let parsed = jiff::Timestamp::strptime("%d/%b/%Y:%H:%M:%S %z", text)
            .map(|time| time.as_microsecond())
            .ok();
        // Servers can be told to write ISO 8601 instead.
        let us = match parsed {
            Some(us) => us,
            None => Value::text(text).time("time", None).map_err(|_| {
                let shown: String = text.chars().take(40).collect();
                Malformed::field(
                    "time",
                    format!("{shown:?} is not a time as in 31/Dec/2025:23:59:59 +0000"),
                )
            })?,
        };
        self.last = Some((text.to_owned(), us));
        Ok(us)
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
}
