//! Envoy's default access log.
//!
//! `[start] "method path protocol" status flags received sent duration_ms upstream_ms "forwarded"
//! "agent" "request id" "authority" "upstream"`. Its time is when the request began.

use crate::reading::columns::{Columns, Record, TimeIs};
use crate::reading::formats::words::{word, words};
use crate::reading::malformed::Malformed;
use crate::reading::rules::Ending;
use crate::reading::value::Unit;

pub(crate) fn parse<'a>(line: &'a str, columns: &Columns) -> Result<Record<'a>, Malformed> {
    let words = words(line)?;
    let time = word(&words, 0, "start time")?;
    let request = word(&words, 1, "request")?;
    let status = word(&words, 2, "status")?;
    let flags = word(&words, 3, "flags")?;
    let duration = word(&words, 6, "duration")?;
    let code = status
        .value()
        .status("status")
        .map_err(|why| why.at(status.column))?;
    Ok(Record {
        time_us: time
            .value()
            .time("start time", columns.ts_unit)
            .map_err(|why| why.at(time.column))?,
        time_is: TimeIs::Start,
        duration_us: duration
            .value()
            .duration("duration", Unit::Ms)
            .map_err(|why| why.at(duration.column))?,
        // DC: the downstream connection ended, so the caller went away.
        ending: if code == 0 && flags.text.split(',').any(|flag| flag == "DC") {
            Ending::Cancelled
        } else {
            Ending::Status(code)
        },
        key: columns.key.as_deref().and_then(|key| {
            let text = |index: usize| words.get(index).map(|word| word.text.into());
            match key {
                "method" => request.request().map(|(method, _)| method.into()),
                "path" => request.request().map(|(_, path)| path.into()),
                "authority" => text(11),
                "upstream" => text(12),
                _ => None,
            }
        }),
    })
}
