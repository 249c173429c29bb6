//! Which field is the duration, and in which unit.

use crate::reading::error::ReadError;
use crate::reading::record::TimeIs;
use crate::reading::understanding::known::Known;
use crate::reading::understanding::{Head, Reading, Side, order};
use crate::reading::value::{Scale, Unit};

use super::names::is_duration;
use super::rows::{Rows, ask, top_names};
use super::times::{Ts, pairs};

/// The fields with the duration.
pub(super) struct Durations {
    pub(super) columns: Vec<(String, Scale)>,
    pub(super) scale: Scale,
    /// What the order of the lines told along with the unit.
    pub(super) side: Option<Side>,
}

pub(super) fn durations(
    head: &Head<'_>,
    rows: &Rows,
    known: Option<&Known>,
    ts: &Ts,
    reading: &Reading,
) -> Result<Durations, ReadError> {
    let of = |name: &str, scale, side| Durations { columns: vec![(name.to_owned(), scale)], scale, side };
    if let Some(name) = &reading.duration_field {
        return scaled(head, rows, name, ts, reading);
    }
    if let Some(known) = known {
        // Some layouts can be told to write text instead.
        let usual = written(rows, known.duration).unwrap_or(known.scale);
        let scale = reading.duration_unit.map_or(usual, Scale::In);
        let written = known.unit.map_or(scale, Scale::In);
        return Ok(Durations { scale: written, ..of(known.duration, scale, None) });
    }
    let names: Vec<&str> = top_names(rows).filter(|name| is_duration(name)).map(|n| &**n).collect();
    match names.as_slice() {
        [] => {
            let usual = [("duration_ms", Unit::Ms), ("duration_s", Unit::S)];
            let columns = usual.map(|(name, unit)| (name.to_owned(), Scale::In(unit)));
            Ok(Durations { columns: columns.to_vec(), scale: Scale::In(Unit::Ms), side: None })
        }
        [name] => scaled(head, rows, name, ts, reading),
        several => {
            let matter = "which field is the duration? These differ, or may";
            let advice = "choose one with --duration-field NAME";
            Err(ask(head, rows, matter, several, advice))
        }
    }
}

/// A duration of this name, in the unit that is told.
pub(super) fn scaled(
    head: &Head<'_>,
    rows: &Rows,
    name: &str,
    ts: &Ts,
    reading: &Reading,
) -> Result<Durations, ReadError> {
    let of = |scale, side| Durations { columns: vec![(name.to_owned(), scale)], scale, side };
    if let Some(scale) = reading.duration_unit.map(Scale::In).or_else(|| unit_of(rows, name)) {
        return Ok(of(scale, None));
    }
    let sides = match (reading.time_is, ts.side) {
        (Some(side), _) | (None, Side::Known(side)) => vec![side],
        (None, Side::Likely(_)) => vec![TimeIs::Start, TimeIs::End],
    };
    let (times_us, numbers) = pairs(rows, &ts.name, name);
    let ways = order::agreeing(&times_us, &[(numbers, all_units())], &sides);
    match ways.as_slice() {
        [way] => Ok(of(Scale::In(way.unit), Some(Side::Known(way.time_is)))),
        _ => {
            let matter = format!(
                "--duration-field {name} does not end in its unit (_ms, _s, _us, _ns), and the order \
                 of the lines does not tell it"
            );
            let advice = "add --duration-unit s, ms, us or ns";
            Err(ask(head, rows, &matter, &[name], advice))
        }
    }
}

/// The unit, as far as a field's name or its values say it.
pub(super) fn unit_of(rows: &Rows, name: &str) -> Option<Scale> {
    Unit::in_name(name).map(Scale::In).or_else(|| written(rows, name))
}

/// Whether the values say their units themselves.
fn written(rows: &Rows, name: &str) -> Option<Scale> {
    let mut values = rows.values(name).flatten().peekable();
    let are_texts = values.peek().is_some()
        && values.all(|value| {
            value.written_duration().is_some()
                || value.number().is_some_and(|number| number.approximately() == 0.0)
        });
    are_texts.then_some(Scale::Written)
}

pub(super) fn unit(scale: Scale) -> Unit {
    match scale {
        Scale::In(unit) => unit,
        Scale::Written => Unit::S,
    }
}

pub(super) fn all_units() -> Vec<Unit> {
    vec![Unit::S, Unit::Ms, Unit::Us, Unit::Ns]
}
