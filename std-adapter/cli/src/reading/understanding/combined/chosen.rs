//! The word that an argument says to be the duration.

use crate::reading::error::ReadError;
use crate::reading::length;
use crate::reading::record::TimeIs;
use crate::reading::understanding::{Head, Reading, Side, order};
use crate::reading::value::{Scale, Unit};

use super::Finding;
use super::asking::{ask, no_unit, shown_words};
use super::rows::{Column, Row, is_nginx_time};
use super::rules::{apache, named, sides, units};

/// The word that was chosen, counted as in a line that is shown.
pub(super) fn chosen(
    head: &Head<'_>,
    rows: &[Row<'_>],
    number: i32,
    reading: &Reading,
) -> Result<Finding, ReadError> {
    let words = rows.first().map(shown_words).unwrap_or_default();
    let total = words.len();
    let index = if number > 0 {
        (number.unsigned_abs() as usize).checked_sub(1)
    } else {
        total.checked_sub(number.unsigned_abs() as usize)
    };
    let no_word = || {
        let matter = format!("--duration-word {number}: the lines have {total} words");
        ask(head, rows, &matter, |_| false, "choose one of these")
    };
    let (place, _) = index.and_then(|index| words.get(index)).ok_or_else(no_word)?;
    let Some(place) = place.clone() else {
        let matter = format!("--duration-word {number} is the time or the request");
        return Err(ask(head, rows, &matter, |_| false, "choose another one"));
    };
    let column = Column::of(rows, place);
    let texts = || column.words.iter().map(|word| word.text);
    if let Some((name, _)) = texts().next().and_then(|text| text.split_once('=')) {
        return named(head, rows, &[name], reading);
    }
    let finding = |scale, side, format: &str, name| Finding {
        place: column.place.clone(),
        scale,
        side,
        format: format.into(),
        name,
    };
    if reading.duration_unit.is_none() && texts().all(is_nginx_time) {
        let format = "nginx combined with a time";
        return Ok(finding(Scale::In(Unit::S), Side::Known(TimeIs::End), format, ""));
    }
    if texts().all(|text| length::micros(text).is_some()) {
        let format = "combined with a duration";
        return Ok(finding(Scale::Written, Side::Likely(TimeIs::End), format, ""));
    }
    let times: Vec<i64> = rows.iter().map(|row| row.time_us).collect();
    let field = (column.numbers(), units(reading));
    let ways = order::agreeing(&times, &[field], &sides(reading));
    let unit = match (reading.duration_unit, ways.as_slice()) {
        (Some(unit), _) => unit,
        (None, [first, others @ ..]) if others.iter().all(|way| way.unit == first.unit) => first.unit,
        _ => return Err(no_unit(head, rows)()),
    };
    let side = match ways.as_slice() {
        [way] => Side::Known(way.time_is),
        _ => Side::Likely(TimeIs::Start),
    };
    let (format, name) = apache(unit, side);
    Ok(finding(Scale::In(unit), side, format, name))
}
