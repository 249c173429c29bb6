//! Which field is the time, and of which side of a call.

use crate::reading::dates::Dates;
use crate::reading::error::ReadError;
use crate::reading::record::TimeIs;
use crate::reading::understanding::known::Known;
use crate::reading::understanding::{Format, Head, Reading, Side, order};
use crate::reading::value::Unit;

use super::durations::{all_units, unit, unit_of};
use super::names::{BEGINS, ENDS, TIMES, is_duration, side_of};
use super::rows::{Rows, ask, in_header, top_names};

/// The field with the time.
pub(super) struct Ts {
    pub(super) name: String,
    pub(super) side: Side,
}

pub(super) fn ts(
    head: &Head<'_>,
    format: Format,
    rows: &Rows,
    known: Option<&Known>,
    reading: &Reading,
) -> Result<Ts, ReadError> {
    let of = |name: &str, side| Ts { name: name.to_owned(), side };
    let found = |name: &&&str| rows.have(name) || in_header(rows, name);
    if let Some(name) = &reading.ts_field {
        let known = known.and_then(|known| known.ts.iter().find(|(ts, _)| ts == name));
        let side = known.map_or_else(|| side_of(name, format), |(_, side)| Side::Known(*side));
        return Ok(of(name, side));
    }
    if let Some((name, side)) = known.and_then(|known| known.ts.iter().find(|(ts, _)| rows.have(ts))) {
        return Ok(of(name, Side::Known(*side)));
    }
    if rows.have("ts") || in_header(rows, "ts") {
        return Ok(of("ts", side_of("ts", format)));
    }
    let names: Vec<&str> = BEGINS.iter().chain(&ENDS).chain(&TIMES).filter(found).copied().collect();
    match names.as_slice() {
        [name] => {
            let side = side_of(name, format);
            // A name that tells nothing is not taken unless the order of the lines tells.
            let is_open = matches!(side, Side::Likely(_)) && format != Format::Logfmt;
            if is_open && reading.time_is.is_none() && !order_tells(rows, name) {
                return Ok(of("ts", side_of("ts", format)));
            }
            Ok(of(name, side))
        }
        [] => Ok(of("ts", side_of("ts", format))),
        [first, others @ ..] => {
            let texts = |name: &str| -> Vec<_> { rows.values(name).collect() };
            if others.iter().all(|other| texts(other) == texts(first)) {
                return Ok(of(first, side_of(first, format)));
            }
            let matter = "which field is the time? These differ";
            let advice = "choose one with --ts-field NAME, and say with --time-is start or end what \
                          it is";
            Err(ask(head, rows, matter, &names, advice))
        }
    }
}

pub(super) fn times(rows: &Rows, name: &str) -> Vec<Option<i64>> {
    let mut dates = Dates::default();
    rows.values(name).map(|value| value?.time(name, None, &mut dates).ok()).collect()
}

/// Whether the order of the lines tells of which side these times are, whatever the duration is.
pub(super) fn order_tells(rows: &Rows, name: &str) -> bool {
    let durations: Vec<&String> = top_names(rows).filter(|name| is_duration(name)).collect();
    let [duration] = durations.as_slice() else {
        return false;
    };
    let (times_us, numbers) = pairs(rows, name, duration);
    let units = unit_of(rows, duration).map_or_else(all_units, |scale| vec![unit(scale)]);
    let sides = [TimeIs::Start, TimeIs::End];
    let ways = order::agreeing(&times_us, &[(numbers, units)], &sides);
    let all = |side| !ways.is_empty() && ways.iter().all(|way| way.time_is == side);
    all(TimeIs::Start) || all(TimeIs::End)
}

/// Times and numbers of the lines that have both.
pub(super) fn pairs(rows: &Rows, ts: &str, duration: &str) -> (Vec<i64>, order::Numbers) {
    let numbers = rows.values(duration).map(|value| {
        let value = value?;
        let number = value.number().and_then(|number| number.micros(Unit::S));
        number.or_else(|| value.written_duration())
    });
    times(rows, ts).into_iter().zip(numbers).filter_map(|(time, number)| Some((time?, Some(number?)))).unzip()
}
