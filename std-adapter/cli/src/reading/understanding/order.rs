//! What the order of a log's lines tells.
//!
//! A server writes a line when its call ends. So ends are in order: times that are ends are, and times
//! that are begins are once the durations are added, in the right unit. Times that are begins are out of
//! order by the length of the long calls. Nothing is told where no calls overlap.

use crate::reading::record::TimeIs;
use crate::reading::value::Unit;

/// Lines may be written this much out of order.
const JITTER_US: i64 = 10_000;

/// A field that may be the duration: its number in each line, in millionths; `None` where it is none.
pub(crate) type Numbers = Vec<Option<i64>>;

/// One way to read a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// Which of the fields is the duration.
    pub(crate) field: usize,
    pub(crate) unit: Unit,
    pub(crate) time_is: TimeIs,
}

/// The ways to read a log that agree with the order of its lines, of all that come into question.
pub(crate) fn agreeing(times_us: &[i64], fields: &[(Numbers, Vec<Unit>)], sides: &[TimeIs]) -> Vec<Way> {
    let resolution_us = resolution(times_us);
    let ends_inverted = inversions(times_us.iter().map(|us| (*us, *us + resolution_us)));
    let mut ways = Vec::new();
    for (field, (numbers, units)) in fields.iter().enumerate() {
        for unit in units {
            for time_is in sides {
                let way = Way { field, unit: *unit, time_is: *time_is };
                let inverted = match time_is {
                    TimeIs::End => Some(ends_inverted),
                    TimeIs::Start => begins(times_us, numbers, *unit, resolution_us),
                };
                ways.extend(inverted.map(|inverted| (way, inverted)));
            }
        }
    }
    let least = ways.iter().map(|(_, inverted)| *inverted).min().unwrap_or(0);
    if least * 100 > times_us.len() {
        // Not in any order.
        return Vec::new();
    }
    let agrees = |inverted: usize| inverted <= least * 3;
    let are_in_order = agrees(ends_inverted);
    ways.retain(|(way, inverted)| {
        let is_told = || are_in_order || explains(fields, way);
        agrees(*inverted) && (way.time_is == TimeIs::End || is_told())
    });
    ways.into_iter().map(|(way, _)| way).collect()
}

/// Whether the order of the lines speaks against this reading, and for the other side.
pub(crate) fn contradicts(times_us: &[i64], durations_us: &[i64], time_is: TimeIs) -> bool {
    let resolution_us = resolution(times_us);
    let as_ends = inversions(times_us.iter().map(|us| (*us, *us + resolution_us)));
    let ends = times_us.iter().zip(durations_us);
    let as_begins = inversions(ends.map(|(us, d)| (us + d, us + d + resolution_us)));
    let (this, other) = match time_is {
        TimeIs::Start => (as_begins, as_ends),
        TimeIs::End => (as_ends, as_begins),
    };
    this > other * 3 && other * 100 <= times_us.len()
}

/// The step of a log's times: a second, a millisecond or less.
pub(crate) fn resolution(times_us: &[i64]) -> i64 {
    let all = |step: i64| times_us.iter().all(|us| us % step == 0);
    if all(1_000_000) {
        1_000_000
    } else if all(1_000) {
        1_000
    } else {
        1
    }
}

/// How often a line would have been written before the one above it, with times as exact as these bounds.
fn inversions(mut bounds: impl Iterator<Item = (i64, i64)>) -> usize {
    let Some((mut low_before, _)) = bounds.next() else {
        return 0;
    };
    let mut inverted = 0;
    for (low, high) in bounds {
        inverted += usize::from(high + JITTER_US < low_before);
        low_before = low;
    }
    inverted
}

/// The inversions of the ends, where times are begins; `None` where a number can't be a duration.
fn begins(times_us: &[i64], numbers: &Numbers, unit: Unit, resolution_us: i64) -> Option<usize> {
    let step_us = step(numbers, unit);
    let mut bounds = Vec::with_capacity(times_us.len());
    for (time_us, number) in times_us.iter().zip(numbers) {
        let Some(number) = number else {
            continue;
        };
        let us = in_micros(*number, unit);
        if !(0..=366 * 86_400 * 1_000_000).contains(&us) {
            return None;
        }
        bounds.push((time_us + us, time_us + us + resolution_us + step_us));
    }
    Some(inversions(bounds.into_iter()))
}

/// Whole numbers are rounded down to their unit.
fn step(numbers: &Numbers, unit: Unit) -> i64 {
    let are_whole = numbers.iter().flatten().all(|number| number % 1_000_000 == 0);
    if are_whole { in_micros(1_000_000, unit) } else { 0 }
}

fn in_micros(millionths: i64, unit: Unit) -> i64 {
    match unit {
        Unit::S => millionths,
        Unit::Ms => millionths / 1_000,
        Unit::Us => millionths / 1_000_000,
        Unit::Ns => millionths / 1_000_000_000,
    }
}

/// Whether it is the durations that bring the ends into order. A column that only ever grows, such as a
/// counter, would bring any times into order if it were large enough.
fn explains(fields: &[(Numbers, Vec<Unit>)], way: &Way) -> bool {
    let Some((numbers, _)) = fields.get(way.field) else {
        return false;
    };
    let micros = numbers.iter().flatten().map(|number| in_micros(*number, way.unit));
    let step_us = step(numbers, way.unit);
    inversions(micros.map(|us| (us, us + step_us))) > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000;
    const UNITS: [Unit; 3] = [Unit::S, Unit::Ms, Unit::Us];
    const BOTH: [TimeIs; 2] = [TimeIs::Start, TimeIs::End];

    fn numbers(numbers: &[i64]) -> (Numbers, Vec<Unit>) {
        let millionths = numbers.iter().map(|number| Some(number * S));
        (millionths.collect(), UNITS.to_vec())
    }

    #[test]
    fn long_calls_tell_the_unit_of_durations_after_begins() {
        let times = [6, 8, 10, 0, 14].map(|s| s * S);
        let field = numbers(&[65_000, 25_000, 46_000, 10_600_111, 3_000]);
        let ways = agreeing(&times, &[field], &BOTH);
        let expected = Way { field: 0, unit: Unit::Us, time_is: TimeIs::Start };
        assert_eq!(ways, [expected]);
    }

    #[test]
    fn ends_in_order_tell_no_unit() {
        let times = [6, 8, 10, 10, 14].map(|s| s * S);
        let ways = agreeing(&times, &[numbers(&[26, 66, 213, 10_600, 70])], &BOTH);
        let ends = ways.iter().filter(|way| way.time_is == TimeIs::End);
        assert_eq!(ends.count(), 3);
    }

    #[test]
    fn a_column_that_only_grows_is_no_duration() {
        let times = [6, 8, 10, 0, 14].map(|s| s * S);
        let ways = agreeing(&times, &[numbers(&[4_096, 4_127, 4_158, 4_189, 4_220])], &BOTH);
        assert_eq!(ways, []);
    }

    #[test]
    fn a_log_in_no_order_tells_nothing() {
        let times = [6, 2, 10, 0, 14, 3, 8, 1].map(|s| s * S);
        let ways = agreeing(&times, &[numbers(&[26, 66, 213, 600, 70, 1, 5, 9])], &BOTH);
        assert_eq!(ways, []);
    }
}
