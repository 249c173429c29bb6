//! A layout that the arguments describe: by the places of words, or by the server's own log format.
//!
//! Templates are nginx's (`$request_time`), Apache's (`%D`, `%{ms}T`) and Envoy's (`%DURATION%`); their words
//! are those of the lines.

use crate::reading::error::ReadError;
use crate::reading::layouts::Layout;
use crate::reading::layouts::by_place::{At, ByPlace};
use crate::reading::layouts::words::{Kind, Places, Word};
use crate::reading::length;
use crate::reading::record::TimeIs;
use crate::reading::understanding::combined::is_nginx_time;
use crate::reading::understanding::question::{Question, words_of};
use crate::reading::understanding::{Draft, Head, Reading, Side};
use crate::reading::value::{Scale, Unit};

/// What a word of a template stands for.
enum Part {
    Time(TimeIs),
    Status,
    Duration(Unit),
    Request,
    Other,
}

pub(super) fn understand(head: &Head<'_>, reading: &Reading) -> Result<Draft, ReadError> {
    match &reading.log_format {
        Some(template) => of_template(head, template, reading),
        None => of_words(head, reading),
    }
}

fn of_template(head: &Head<'_>, template: &str, reading: &Reading) -> Result<Draft, ReadError> {
    let mut places = Places::default();
    let refuse = |matter: &str| head.unknown(&format!("--log-format {template:?}: {matter}"));
    let words = places.split(template).map_err(|why| refuse(&why.to_string()))?;
    let (mut time, mut status, mut durations, mut request) = (None, None, Vec::new(), None);
    let mut names = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let at = At::Start(index);
        match part(word.text) {
            Part::Time(side) => time = time.or(Some((at, side))),
            Part::Status => status = Some(at),
            Part::Duration(unit) => durations.push((at, unit, word.text.to_owned())),
            Part::Request => request = Some(at),
            Part::Other => names.extend(name(word).map(|name| (name, at))),
        }
    }
    let (time, side) = time.ok_or_else(|| refuse("it has no time"))?;
    let status = status.ok_or_else(|| refuse("it has no status"))?;
    let [(duration, unit, from)] = durations.as_slice() else {
        return Err(refuse("it has not one duration of the request"));
    };
    let scale = Scale::In(reading.duration_unit.unwrap_or(*unit));
    Ok(Draft {
        layout: Layout::ByPlace(Box::new(ByPlace {
            time,
            ts_unit: reading.ts_unit,
            status,
            duration: *duration,
            scale,
            names,
            request,
            words: Some(words.len()),
        })),
        format: "as --log-format says".to_owned(),
        duration_from: from.clone(),
        scale,
        side: Side::Known(side),
    })
}

/// What the variables in a word are.
fn part(text: &str) -> Part {
    let has = |names: &[&str]| names.iter().any(|name| has_variable(text, name));
    if has(&["$time_local", "$time_iso8601", "$msec"]) {
        Part::Time(TimeIs::End)
    } else if has(&["%START_TIME%", "%START_TIME("]) || is_apache_time(text) {
        Part::Time(TimeIs::Start)
    } else if has(&["$status", "%s", "%>s", "%RESPONSE_CODE%"]) {
        Part::Status
    } else if has(&["$request_time", "%T", "%{s}T"]) {
        Part::Duration(Unit::S)
    } else if has(&["%DURATION%", "%{ms}T"]) {
        Part::Duration(Unit::Ms)
    } else if has(&["%D", "%{us}T"]) {
        Part::Duration(Unit::Us)
    } else if has(&["$request", "%r"]) {
        Part::Request
    } else {
        Part::Other
    }
}

/// Whether a variable stands in the text, and not another that only begins like it.
fn has_variable(text: &str, name: &str) -> bool {
    let mut found = text.match_indices(name);
    found.any(|(at, _)| {
        let next = text.as_bytes().get(at + name.len());
        !next.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') || name.ends_with(['%', '('])
    })
}

/// `%t`, or `%{format}t`: when the request began, unless it says `end:`.
fn is_apache_time(text: &str) -> bool {
    has_variable(text, "%t") || text.contains("%{") && text.ends_with("}t")
}

/// A name for the keys of breakers: that of the only variable in a word.
fn name(word: Word<'_>) -> Option<String> {
    let text = word.named().map_or(word.text, |(_, value)| value);
    let inner = text.strip_prefix('$').or_else(|| text.strip_prefix('%'))?;
    let name = inner.trim_end_matches('%').trim_matches(['{', '}']);
    (!name.is_empty()).then(|| name.to_owned())
}

fn of_words(head: &Head<'_>, reading: &Reading) -> Result<Draft, ReadError> {
    let mut places = Places::default();
    let question = |matter: String| {
        let (number, line) = head.lines.first().map_or((1, ""), |(n, line)| (*n, &**line));
        let question = Question {
            matter,
            words: words_of(line),
            candidates: Vec::new(),
            advice: "choose with --time-word N --duration-word N --status-word N, counted from 1 or \
                     with a minus from the end"
                .to_owned(),
            is_numbered: true,
        };
        head.ask(number, &question)
    };
    let at = |number: Option<i32>, option: &str| {
        let number = number.ok_or_else(|| question(format!("{option} is missing")))?;
        At::counted(number).ok_or_else(|| question(format!("{option} counts from 1")))
    };
    let time = at(reading.time_word, "--time-word")?;
    let duration = at(reading.duration_word, "--duration-word")?;
    let first = head.lines.first().map_or("", |(_, line)| line);
    let words = places.split(first).map_err(|why| question(why.to_string()))?;
    let request = words.iter().position(|word| word.kind == Kind::Quoted);
    let status = match (reading.status_word, request) {
        (None, Some(request)) => At::Start(request + 1),
        (number, _) => at(number, "--status-word")?,
    };
    let text = duration.index(words.len()).and_then(|index| words.get(index));
    let text = text.map_or("", |word| word.named().map_or(word.text, |(_, value)| value));
    let scale = match reading.duration_unit {
        Some(unit) => Scale::In(unit),
        None if length::micros(text).is_some() => Scale::Written,
        None if is_nginx_time(text) => Scale::In(Unit::S),
        None => {
            let matter = "in which unit is the duration? Add --duration-unit s, ms, us or ns";
            return Err(question(matter.to_owned()));
        }
    };
    Ok(Draft {
        layout: Layout::ByPlace(Box::new(ByPlace {
            time,
            ts_unit: reading.ts_unit,
            status,
            duration,
            scale,
            names: Vec::new(),
            request: request.map(At::Start),
            words: None,
        })),
        format: "words".to_owned(),
        duration_from: "the word of --duration-word".to_owned(),
        scale,
        side: Side::Likely(TimeIs::End),
    })
}
