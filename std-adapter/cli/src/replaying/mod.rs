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
    let mut events = Vec::with_capacity(2 * CALLS_AT_ONCE);
    loop {
        events.clear();
        for _ in 0..CALLS_AT_ONCE {
            match logs.next_call()? {
                Some(call) => schedule.start(call, &mut events),
                None => {
                    schedule.finish(&mut events);
                    return play(&events, &logs.notes().keys);
                }
            }
        }
        play(&events, &logs.notes().keys)?;
    }
}

#[cfg(test)]
mod tests;
