//! Plays logs against the real breaker: `schedule` puts starts and ends in order, `player` drives the
//! breakers and counts, `trips` and `trouble` say what was detected and how late.

mod histogram;
mod player;
mod schedule;
mod tally;
mod trips;
mod trouble;

pub(crate) use histogram::{Bin, Histogram};
pub(crate) use player::{Played, Player};
pub(crate) use tally::Tally;
pub(crate) use trips::Trip;

use crate::reading::{Keys, Ordered, ReadError};
use schedule::Schedule;
pub(crate) use schedule::{Event, Moment};

/// Calls that are taken from the logs before they are played: enough for several players to work side
/// by side, little enough to stay in a cache.
const CALLS_AT_ONCE: usize = 1 << 12;

/// Feeds the logs, a part at a time, to whoever plays them. Memory stays the same however long they
/// are.
pub(crate) fn feed<E: From<ReadError>>(
    logs: &mut Ordered,
    mut play: impl FnMut(&[Event], &Keys) -> Result<(), E>,
) -> Result<(), E> {
    let mut schedule = Schedule::default();
    let mut calls = Vec::with_capacity(CALLS_AT_ONCE);
    let mut events = Vec::with_capacity(2 * CALLS_AT_ONCE);
    loop {
        calls.clear();
        events.clear();
        while let Some(call) = logs.next_call()? {
            calls.push(call);
            if calls.len() == CALLS_AT_ONCE {
                break;
            }
        }
        schedule.take(&calls, &mut events);
        let is_over = calls.len() < CALLS_AT_ONCE;
        if is_over {
            schedule.finish(&mut events);
        }
        play(&events, &logs.notes().keys)?;
        if is_over {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests;
