//! The rules by which a word is known to be the duration, from the surest on.

use crate::reading::error::ReadError;
use crate::reading::layouts::combined::Place;
use crate::reading::layouts::words::{Kind, Word};
use crate::reading::length;
use crate::reading::number::Number;
use crate::reading::record::TimeIs;
use crate::reading::understanding::{Head, Reading, Side, order};
use crate::reading::value::{Scale, Unit};

use super::Finding;
use super::asking::{ADVICE, ask, several_words};
use super::rows::{Column, FIRST, Row, is_nginx_time, is_whole, value_named};

pub(super) fn known(columns: &[Column<'_>]) -> Option<Finding> {
    let of_kind = |column: &Column<'_>, kind: Kind| column.words.iter().all(|word| word.kind == kind);
    // Both have the referrer and the agent first.
    let [referer, agent, a, b, c, rest @ ..] = columns else {
        return None;
    };
    if !of_kind(referer, Kind::Quoted) || !of_kind(agent, Kind::Quoted) || !a.all(is_whole) {
        return None;
    }
    if b.all(is_nginx_time) && of_kind(c, Kind::Bracketed) {
        return Some(Finding {
            place: b.place.clone(),
            scale: Scale::In(Unit::S),
            side: Side::Known(TimeIs::End),
            format: "ingress-nginx, default".into(),
            name: "$request_time",
        });
    }
    let is_millis = |text: &str| text.strip_suffix("ms").is_some_and(is_whole);
    match rest {
        [duration] if of_kind(b, Kind::Quoted) && of_kind(c, Kind::Quoted) && duration.all(is_millis) => {
            Some(Finding {
                place: duration.place.clone(),
                scale: Scale::In(Unit::Ms),
                side: Side::Known(TimeIs::Start),
                format: "Traefik, common log format".into(),
                name: "",
            })
        }
        _ => None,
    }
}

/// The duration has one of these names.
pub(super) fn named(
    head: &Head<'_>,
    rows: &[Row<'_>],
    names: &[&str],
    reading: &Reading,
) -> Result<Finding, ReadError> {
    let values = |name: &str| -> Vec<&str> { rows.iter().filter_map(|row| value_named(row, name)).collect() };
    if let [first, others @ ..] = names
        && others.iter().any(|other| values(other) != values(first))
    {
        let matter = "several words have the name of a duration, and they differ";
        let candidates = |word: &Word<'_>| {
            let name = word.text.split_once('=').map(|(name, _)| name);
            name.is_some_and(|name| names.contains(&name))
        };
        let advice = "choose one with --duration-field NAME";
        return Err(ask(head, rows, matter, candidates, advice));
    }
    let name = names.first().copied().unwrap_or_default();
    let values = values(name);
    let unit = reading.duration_unit.or_else(|| Unit::in_name(name));
    let are_of_nginx = !values.is_empty() && values.iter().all(|value| is_nginx_time(value));
    let finding = |scale, side, format: &str| Finding {
        place: Place::Named(name.to_owned()),
        scale,
        side,
        format: format.to_owned(),
        name: "",
    };
    match unit {
        Some(unit) => {
            let side = match unit {
                Unit::S => TimeIs::End,
                _ => TimeIs::Start,
            };
            return Ok(finding(Scale::In(unit), Side::Likely(side), "combined with a named duration"));
        }
        None if are_of_nginx => {
            let format = match is_upstream_first(rows, name) {
                true => "nginx combined with $request_time, named, the upstream's first",
                false => "nginx combined with $request_time, named",
            };
            return Ok(finding(Scale::In(Unit::S), Side::Known(TimeIs::End), format));
        }
        None => {}
    }
    if !values.is_empty() && values.iter().all(|value| length::micros(value).is_some()) {
        let format = "combined with a named duration";
        return Ok(finding(Scale::Written, Side::Likely(TimeIs::End), format));
    }
    let numbers = rows.iter().map(|row| Number::in_text(value_named(row, name)?)?.micros(Unit::S));
    let field = (numbers.collect(), vec![Unit::S, Unit::Ms, Unit::Us]);
    let times: Vec<i64> = rows.iter().map(|row| row.time_us).collect();
    let ways = order::agreeing(&times, &[field], &sides(reading));
    match ways.as_slice() {
        [way] => Ok(finding(Scale::In(way.unit), Side::Known(way.time_is), "combined with a named duration")),
        _ => {
            let matter = format!("in which unit is {name}?");
            let is_it = |word: &Word<'_>| word.text.split_once('=').is_some_and(|(n, _)| n == name);
            let advice = "add --duration-unit s, ms, us or ns";
            Err(ask(head, rows, &matter, is_it, advice))
        }
    }
}

/// Whether a named time of the upstream stands before the one of this name.
fn is_upstream_first(rows: &[Row<'_>], name: &str) -> bool {
    let names = rows.iter().take(1).flat_map(|row| &row.words).filter_map(|word| word.named());
    let mut before = names.map(|(known, _)| known).take_while(|known| *known != name);
    before.any(|known| ["uct", "uht", "urt"].contains(&known) || known.starts_with("upstream_"))
}

/// A word with its unit beside it.
pub(super) fn with_unit(
    head: &Head<'_>,
    rows: &[Row<'_>],
    columns: &[Column<'_>],
) -> Result<Option<Finding>, ReadError> {
    let has_unit = |column: &&Column<'_>| column.all(|text| length::micros(text).is_some());
    let found: Vec<_> = columns.iter().filter(has_unit).collect();
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(Finding {
            place: one.place.clone(),
            scale: Scale::Written,
            side: Side::Likely(TimeIs::End),
            format: "combined with a duration".into(),
            name: "",
        })),
        several => Err(several_words(head, rows, several, "")),
    }
}

/// Words in nginx's form. The upstream's time is `-` where none was asked, and a list after a retry; the
/// request's is always there.
pub(super) fn of_nginx(
    head: &Head<'_>,
    rows: &[Row<'_>],
    columns: &[Column<'_>],
    reading: &Reading,
) -> Result<Option<Finding>, ReadError> {
    // Bytes are whole: where they usually stand, this is something else.
    let instead_of_bytes = Column::of(rows, Place::After(FIRST - 1));
    let times: Vec<_> =
        [&instead_of_bytes].into_iter().chain(columns).filter(|column| column.all(is_nginx_time)).collect();
    let Some(last) = times.last() else {
        return Ok(None);
    };
    let differs = |column: &&Column<'_>| {
        let texts = column.words.iter().map(|word| word.text);
        texts.ne(last.words.iter().map(|word| word.text))
    };
    if times.iter().any(differs) {
        return Err(several_words(head, rows, &times, ""));
    }
    let before = columns.iter().take_while(|column| column.place != last.place);
    let after_length = before.clone().any(|column| column.all(is_whole));
    // The referrer and the agent are quoted, too.
    let quoted: Vec<_> = before.filter(|column| !column.are_bare()).skip(2).collect();
    let format = match quoted.as_slice() {
        _ if after_length => "nginx combined with $request_time after $request_length",
        [] => "nginx combined with $request_time",
        [one] if one.are_addresses() => "nginx combined with $request_time after $http_x_forwarded_for",
        _ => "nginx combined with $request_time after quoted words",
    };
    Ok(Some(Finding {
        place: last.place.clone(),
        scale: Scale::In(reading.duration_unit.unwrap_or(Unit::S)),
        side: Side::Known(TimeIs::End),
        format: format.into(),
        name: "$request_time",
    }))
}

/// Plain numbers: which one is a duration, and in which unit, only the order of the lines can tell.
pub(super) fn by_order(
    head: &Head<'_>,
    rows: &[Row<'_>],
    columns: &[Column<'_>],
    reading: &Reading,
) -> Result<Finding, ReadError> {
    let is_number = |text: &str| Number::in_text(text).is_some_and(|n| n.approximately() >= 0.0);
    let numbers: Vec<_> = columns.iter().filter(|column| column.all(is_number)).collect();
    if numbers.is_empty() {
        let matter = "no word after the request is known to be a duration: does the log format \
                      have one?";
        return Err(ask(head, rows, matter, |_| false, ADVICE));
    }
    let units = units(reading);
    let fields: Vec<_> = numbers.iter().map(|column| (column.numbers(), units.clone())).collect();
    let times: Vec<i64> = rows.iter().map(|row| row.time_us).collect();
    let ways = order::agreeing(&times, &fields, &sides(reading));
    let is_one = |pick: fn(&order::Way) -> (usize, Unit)| {
        ways.iter().all(|way| Some(pick(way)) == ways.first().map(pick))
    };
    match (ways.first(), numbers.as_slice()) {
        (Some(way), _) if is_one(|way| (way.field, way.unit)) => {
            // Where begins and ends both agree: Apache, whose times are begins, is most of them.
            let side = match ways.len() {
                1 => Side::Known(way.time_is),
                _ => Side::Likely(TimeIs::Start),
            };
            let (format, name) = apache(way.unit, side);
            Ok(Finding {
                place: numbers.get(way.field).map_or(Place::After(0), |column| column.place.clone()),
                scale: Scale::In(way.unit),
                side,
                format: format.into(),
                name,
            })
        }
        (Some(_), [_]) => {
            let extra = "a whole number may be microseconds (Apache's %D, Tomcat's from 10 on), \
                         milliseconds (Tomcat's %D until 9) or seconds (%T): ";
            Err(several_words(head, rows, &numbers, extra))
        }
        (None, _) => {
            let matter = "no word after the request is known to be a duration, and none agrees \
                          with the order of the lines";
            Err(ask(head, rows, matter, |_| false, ADVICE))
        }
        (Some(_), several) => Err(several_words(head, rows, several, "")),
    }
}

pub(super) fn apache(unit: Unit, side: Side) -> (&'static str, &'static str) {
    match unit {
        Unit::Ms if side == Side::Known(TimeIs::End) => ("Tomcat combined with %D", "%D"),
        Unit::S => ("Apache combined with %T", "%T"),
        Unit::Ms => ("Apache combined with %{ms}T", "%{ms}T"),
        Unit::Us => ("Apache combined with %D", "%D"),
        Unit::Ns => ("combined with nanoseconds", ""),
    }
}

pub(super) fn units(reading: &Reading) -> Vec<Unit> {
    reading.duration_unit.map_or_else(|| vec![Unit::S, Unit::Ms, Unit::Us], |unit| vec![unit])
}

pub(super) fn sides(reading: &Reading) -> Vec<TimeIs> {
    reading.time_is.map_or_else(|| vec![TimeIs::Start, TimeIs::End], |side| vec![side])
}
