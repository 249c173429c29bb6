//! HAProxy's HTTP log.
//!
//! `client [accept date] frontend backend/server TR/Tw/Tc/Tr/Ta status bytes - - state … {captured} "request"`.
//! The date is when the request came, in the host's own zone; the last timer is all that it took. What a
//! client chooses stands behind.

use crate::reading::dates::Dates;
use crate::reading::layouts::words::{Kind, Places, Words, request};
use crate::reading::malformed::Malformed;
use crate::reading::record::Record;
use crate::reading::rules::Ending;
use crate::reading::value::{Scale, Unit, Value};

/// Where the date stands in brackets, where this is such a line.
pub(crate) fn date_at(words: &Words<'_, '_>) -> Option<usize> {
    let date = words.iter().position(|word| word.kind == Kind::Bracketed && word.text.contains('/'))?;
    let timers = words.get(date + 3)?;
    let are_timers = timers.is_bare()
        && timers.text.split('/').count() == 5
        && timers.text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'/' | b'-' | b'+'));
    (date >= 1 && are_timers).then_some(date)
}

pub(crate) fn parse<'a>(
    line: &'a str,
    places: &mut Places,
    dates: &mut Dates,
    key: Option<&str>,
) -> Result<Record<'a>, Malformed> {
    let words = places.split(line)?;
    let date = date_at(&words).ok_or_else(|| {
        let problem = "no [date] frontend backend/server TR/Tw/Tc/Tr/Ta";
        Malformed::field("timers", problem).at(line.len() + 1)
    })?;
    let timers = words.need(date + 3, "timers")?;
    let (_, last) = timers.text.rsplit_once('/').unwrap_or_default();
    // A plus says that the line was written before the response was over.
    let total = Value::text(last.trim_start_matches('+'));
    let total = total.duration("Ta", Scale::In(Unit::Ms));
    let status = words.need(date + 4, "status")?;
    let state = words.need(date + 8, "termination state")?;
    Ok(Record {
        time_us: words.need(date, "accept date")?.read(|value| value.time("accept date", None, dates))?,
        duration_us: total.map_err(|why| why.at(timers.column))?,
        ending: match status.text {
            // C: the client went away. Else the connection to the server was lost.
            "-1" if state.text.starts_with('C') => Ending::Cancelled,
            "-1" => Ending::Ok(false),
            _ => Ending::Status(status.read(|value| value.status("status"))?),
        },
        key: key.and_then(|key| {
            let backend = words.get(date + 2).map(|word| word.text);
            let line = || words.iter().next_back().and_then(|word| request(word.text));
            match key {
                "frontend" => words.get(date + 1).map(|word| word.text.into()),
                "backend" => backend?.split('/').next().map(Into::into),
                "server" => backend.map(Into::into),
                "method" => line().map(|(method, _)| method.into()),
                "path" => line().map(|(_, path)| path.into()),
                _ => None,
            }
        }),
    })
}
