//! The access log of AWS's Application Load Balancer.
//!
//! `type time elb client target request_s target_s response_s status target_status received sent
//! "request" "agent" cipher protocol group "trace" "domain" "certificate" priority created …`. Its
//! time is when the response was sent; where the target gave none, the durations are −1, and the
//! request's creation time tells how long it took.

use crate::reading::columns::{Columns, Record, TimeIs};
use crate::reading::formats::words::{Word, word, words};
use crate::reading::malformed::Malformed;
use crate::reading::rules::Ending;
use crate::reading::value::Unit;

const CREATED: usize = 21;

pub(crate) fn parse<'a>(line: &'a str, columns: &Columns) -> Result<Record<'a>, Malformed> {
    let words = words(line)?;
    let time = word(&words, 1, "time")?;
    let status = word(&words, 8, "elb_status_code")?;
    let request = word(&words, 12, "request")?;
    let time_us = in_place(time, |value| value.time("time", None))?;
    Ok(Record {
        time_us,
        time_is: TimeIs::End,
        duration_us: match words.get(5..8) {
            Some(parts) if parts.iter().all(|part| !part.text.starts_with('-')) => {
                let part = |word: &Word<'a>| {
                    in_place(*word, |value| value.duration("processing time", Unit::S))
                };
                let parts: Result<Vec<i64>, _> = parts.iter().map(part).collect();
                parts?.iter().sum()
            }
            _ => {
                let created = word(&words, CREATED, "request_creation_time")?;
                let created_us =
                    in_place(created, |value| value.time("request_creation_time", None))?;
                time_us.saturating_sub(created_us).max(0)
            }
        },
        ending: Ending::Status(in_place(status, |value| value.status("elb_status_code"))?),
        key: columns.key.as_deref().and_then(|key| {
            let text = |index: usize| words.get(index).map(|word| word.text.into());
            match key {
                "method" => request.request().map(|(method, _)| method.into()),
                "path" => request.request().map(|(_, path)| path.into()),
                "target" => text(4),
                "group" => text(16),
                "domain" => text(18),
                _ => None,
            }
        }),
    })
}

/// Reads a word's value; an error says where the word stands.
fn in_place<'a, T>(
    word: Word<'a>,
    read: impl FnOnce(crate::reading::value::Value<'a>) -> Result<T, Malformed>,
) -> Result<T, Malformed> {
    read(word.value()).map_err(|why| why.at(word.column))
}
