//! The default access logs of Envoy and Istio.
//!
//! `[start] "method path protocol" status flags … received sent duration upstream's "forwarded" "agent"
//! "request id" "authority" "upstream" …`. Envoy has nothing between flags and bytes; Istio had a quoted
//! word until 1.2, two until 1.7, and has details, termination and a quoted failure reason since 1.8.
//! So the numbers are found by their shape: three in a row, a fourth or `-`, and a quote.

use crate::reading::dates::Dates;
use crate::reading::layouts::words::{Kind, Places, Word, Words, request};
use crate::reading::malformed::Malformed;
use crate::reading::record::Record;
use crate::reading::rules::Ending;
use crate::reading::value::{Scale, Unit};

/// The word after the flags.
const AFTER_FLAGS: usize = 4;

/// Where the bytes received stand, which are followed by those sent and the duration.
pub(crate) fn bytes_at(words: &Words<'_, '_>) -> Option<usize> {
    (AFTER_FLAGS..words.len().saturating_sub(4)).find(|index| {
        let is = |offset: usize, check: fn(Word<'_>) -> bool| words.get(index + offset).is_some_and(check);
        (0..3).all(|offset| is(offset, is_whole))
            && is(3, |word| is_whole(word) || word.is_bare() && word.text == "-")
            && is(4, |word| word.kind == Kind::Quoted)
    })
}

fn is_whole(word: Word<'_>) -> bool {
    word.is_bare() && !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_digit())
}

pub(crate) fn parse<'a>(
    line: &'a str,
    places: &mut Places,
    dates: &mut Dates,
    key: Option<&str>,
) -> Result<Record<'a>, Malformed> {
    let words = places.split(line)?;
    let time = words.need(0, "start time")?;
    let request_line = words.need(1, "request")?;
    let status = words.need(2, "status")?;
    let flags = words.need(3, "flags")?;
    let bytes = bytes_at(&words).ok_or_else(|| {
        let problem = "no bytes received, bytes sent, duration and upstream's time";
        Malformed::field("duration", problem).at(line.len() + 1)
    })?;
    let duration = words.need(bytes + 2, "duration")?;
    let code = status.read(|value| value.status("status"))?;
    Ok(Record {
        time_us: time.read(|value| value.time("start time", None, dates))?,
        duration_us: duration.read(|value| value.duration("duration", Scale::In(Unit::Ms)))?,
        ending: ending(code, flags.text, request_line.text),
        key: key.and_then(|key| {
            let text = |offset: usize| words.get(bytes + offset).map(|word| word.text.into());
            match key {
                "method" => request(request_line.text).map(|(method, _)| method.into()),
                "path" => request(request_line.text).map(|(_, path)| path.into()),
                "authority" => text(7),
                "upstream" => text(8),
                "cluster" => text(9),
                _ => None,
            }
        }),
    })
}

fn ending(code: u16, flags: &str, request: &str) -> Ending {
    let has = |wanted: &str| flags.split(',').any(|flag| flag == wanted);
    match code {
        // DC: the downstream connection ended, so the caller went away.
        0 if has("DC") => Ending::Cancelled,
        // A TCP connection has no status, only flags where something was wrong.
        0 if request.starts_with("- ") => Ending::Ok(flags == "-"),
        code => Ending::Status(code),
    }
}
