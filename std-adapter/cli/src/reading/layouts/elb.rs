//! The access logs of AWS's load balancers.
//!
//! Application: `type time elb client target request_s target_s response_s status target_status received
//! sent "request" "agent" cipher protocol group "trace" "domain" "certificate" priority created …`. Its time
//! is when the response was sent; where a part never happened it is −1, and the request's creation time
//! tells how long it took. Classic: `time elb client backend request_s backend_s response_s status
//! backend_status received sent "request" "agent" cipher protocol`. Its time is when the request came.

use crate::reading::dates::Dates;
use crate::reading::layouts::words::{Places, Words, request};
use crate::reading::malformed::Malformed;
use crate::reading::record::Record;
use crate::reading::rules::Ending;
use crate::reading::value::{Scale, Unit};

const CREATED: usize = 21;

pub(crate) fn parse_application<'a>(
    line: &'a str,
    places: &mut Places,
    dates: &mut Dates,
    key: Option<&str>,
) -> Result<Record<'a>, Malformed> {
    let words = places.split(line)?;
    let time_us = time(&words, 1, "time", dates)?;
    let duration_us = match parts(&words, 5)? {
        Parts::All(sum) => sum,
        Parts::Some(_) => {
            let created_us = time(&words, CREATED, "request_creation_time", dates)?;
            time_us.saturating_sub(created_us).max(0)
        }
    };
    Ok(Record {
        time_us,
        duration_us,
        ending: status(&words, 8)?,
        key: key.and_then(|key| {
            let text = |index: usize| words.get(index).map(|word| word.text.into());
            match key {
                "target" => text(4),
                "group" => text(16),
                "domain" => text(18),
                key => of_request(&words, 12, key).map(Into::into),
            }
        }),
    })
}

pub(crate) fn parse_classic<'a>(
    line: &'a str,
    places: &mut Places,
    dates: &mut Dates,
    key: Option<&str>,
) -> Result<Record<'a>, Malformed> {
    let words = places.split(line)?;
    let (Parts::All(duration_us) | Parts::Some(duration_us)) = parts(&words, 4)?;
    Ok(Record {
        time_us: time(&words, 0, "time", dates)?,
        duration_us,
        ending: status(&words, 7)?,
        key: key.and_then(|key| match key {
            "target" => words.get(3).map(|word| word.text.into()),
            key => of_request(&words, 11, key).map(Into::into),
        }),
    })
}

fn time(words: &Words<'_, '_>, index: usize, field: &str, dates: &mut Dates) -> Result<i64, Malformed> {
    words.need(index, field)?.read(|value| value.time(field, None, dates))
}

fn status(words: &Words<'_, '_>, index: usize) -> Result<Ending, Malformed> {
    let field = "elb_status_code";
    let code = words.need(index, field)?.read(|value| value.status(field))?;
    Ok(Ending::Status(code))
}

/// The three parts of a request's time.
enum Parts {
    All(i64),
    /// Some never happened; this is what the others took.
    Some(i64),
}

fn parts(words: &Words<'_, '_>, first: usize) -> Result<Parts, Malformed> {
    let (mut sum, mut all) = (0, true);
    for index in first..first + 3 {
        let word = words.need(index, "processing time")?;
        if word.text.starts_with('-') {
            all = false;
            continue;
        }
        sum += word.read(|value| value.duration("processing time", Scale::In(Unit::S)))?;
    }
    Ok(if all { Parts::All(sum) } else { Parts::Some(sum) })
}

fn of_request<'a>(words: &Words<'a, '_>, index: usize, key: &str) -> Option<&'a str> {
    let (method, path) = request(words.get(index)?.text)?;
    match key {
        "method" => Some(method),
        "path" => Some(path),
        _ => None,
    }
}
