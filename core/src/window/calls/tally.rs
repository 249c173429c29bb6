//! The last calls in many words: a tally that counts them, and words that hold one outcome a bit.
//!
//! A call takes effect in one exchange of the tally: it takes the next position, adds its own failure
//! and takes away the one that it evicts. Its outcome stands in the tally at first. Whoever exchanges
//! the tally next writes it to its position before. So a thread that stalls holds up nobody, and the
//! count of failures is right at every moment.
//!
//! | tally's content | bits, for a window of `size` calls |
//! | --------------- | ---- |
//! | position        | those of `size` − 1: where the next call goes |
//! | full            | 1 |
//! | last            | 1: whether the last call failed |
//! | failures        | those of `size` |
//! | lap             | the rest: at least 29, or 1 where words are narrow and the size is 1,024 |
//!
//! | outcomes' content | wide | narrow | |
//! | ----------------- | ---- | ------ | - |
//! | outcomes          |   32 |     16 | |
//! | version           |   20 |      8 | one more in each lap |
//!
//! A thread that stalls before it writes an outcome finds another version when it wakes in another
//! lap, and writes nothing. Versions and laps come round: it must not stall for exactly a multiple of
//! 256 laps where words are narrow, nor between looking at the tally and exchanging it for exactly as
//! many laps as the tally can tell apart. That takes 2,048 calls or more, 2²⁰ laps where words are wide.

use crate::state::{CONTENT_BITS, MAX_CONTENT, bit_length, tagged};
use crate::sync::{Ordering, Raw, WIDE, Word};
use crate::window::call::{Call, Stop};
use crate::window::tagged::{own_content, update};

/// Outcomes in a word: a power of two, so that finding one takes no division.
const OUTCOMES_LOG2: u32 = if WIDE { 5 } else { 4 };
const OUTCOMES: u32 = 1 << OUTCOMES_LOG2;
/// The lowest bit of a version, which says whether its lap is an even one.
const VERSION: Raw = 1 << OUTCOMES;

/// Words that a window of `size` calls takes.
pub(super) const fn words(size: u32) -> usize {
    1 + size.div_ceil(OUTCOMES) as usize
}

/// The tally word's content, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Tally {
    size: u32,
    position: u32,
    is_full: bool,
    /// Whether the last call failed.
    last: bool,
    failures: u32,
    lap: Raw,
}

/// The lowest `bits` of `value`, and those above.
const fn split(value: Raw, bits: u32) -> (Raw, Raw) {
    (value & ((1 << bits) - 1), value >> bits)
}

impl Tally {
    #[inline]
    const fn of(content: Raw, size: u32) -> Self {
        let (position, above) = split(content, bit_length(size - 1));
        let (flags, above) = split(above, 2);
        let (failures, lap) = split(above, bit_length(size));
        let (is_full, last) = (flags & 1 != 0, flags & 2 != 0);
        Self { size, position: position as u32, is_full, last, failures: failures as u32, lap }
    }

    const fn content(self) -> Raw {
        let above = self.lap << bit_length(self.size) | self.failures as Raw;
        let above = above << 2 | (self.last as Raw) << 1 | self.is_full as Raw;
        (above << bit_length(self.size - 1) | self.position as Raw) & MAX_CONTENT
    }

    const fn calls(self) -> u32 {
        if self.is_full { self.size } else { self.position }
    }

    /// Where the last call stands, and whether its lap is an even one; `None` before the first.
    const fn last_position(self) -> Option<(u32, bool)> {
        let lap_is_even = self.lap & 1 == 0;
        match self.position.checked_sub(1) {
            Some(last) => Some((last, lap_is_even)),
            None if self.is_full => Some((self.size - 1, !lap_is_even)),
            None => None,
        }
    }

    /// One more call, which evicts the one at its position.
    const fn pushed(self, bad: bool, evicts_bad: bool) -> Self {
        let goes_round = self.position + 1 == self.size;
        Self {
            position: if goes_round { 0 } else { self.position + 1 },
            is_full: self.is_full || goes_round,
            last: bad,
            failures: (self.failures + bad as u32).saturating_sub(evicts_bad as u32),
            lap: self.lap.wrapping_add(goes_round as Raw),
            ..self
        }
    }
}

/// Whether all calls of a full window succeeded: then one more changes nothing.
#[inline]
pub(super) const fn is_full_of_successes(content: Raw, size: u32) -> bool {
    let tally = Tally::of(content, size);
    tally.is_full & (tally.failures == 0)
}

/// The bad calls, and all.
pub(super) const fn counts(content: Raw, size: u32) -> (u32, u32) {
    let tally = Tally::of(content, size);
    (tally.failures, tally.calls())
}

/// What the tally holds after one more call, once the last one's outcome is in its place.
pub(super) fn pushed<C>(
    tally: &Word,
    outcomes: &[Word],
    there: Raw,
    size: u32,
    bad: bool,
    call: &Call<'_, C>,
) -> Result<Raw, Stop> {
    let there = Tally::of(there, size);
    write_last(tally, there, outcomes, call)?;
    let evicts_bad = there.is_full && outcome_at(outcomes, there.position, call);
    Ok(there.pushed(bad, evicts_bad).content())
}

/// Writes the last call's outcome to its position, unless another thread did.
fn write_last<C>(tally: &Word, there: Tally, outcomes: &[Word], call: &Call<'_, C>) -> Result<(), Stop> {
    let Some((position, lap_is_even)) = there.last_position() else { return Ok(()) };
    let Some(word) = outcomes.get((position >> OUTCOMES_LOG2) as usize) else { return Ok(()) };
    let bit: Raw = 1 << (position & (OUTCOMES - 1));
    update(word, call, |content| {
        // Relaxed: ordered behind the acquire load of the outcomes. Who wrote outcomes of a later call
        // had seen the tally go on.
        let seen = tally.load(Ordering::Relaxed);
        if seen != tagged(call.generation(), there.content()) {
            return Ok((content, ()));
        }
        // Versions begin at 0 and laps too, so that an even lap writes odd versions.
        let is_of_this_lap = (content & VERSION != 0) == lap_is_even;
        let version = if is_of_this_lap { 0 } else { VERSION };
        let marked = if there.last { content | bit } else { content & !bit };
        Ok((marked.wrapping_add(version) & MAX_CONTENT, ()))
    })
}

fn outcome_at<C>(outcomes: &[Word], position: u32, call: &Call<'_, C>) -> bool {
    outcomes.get((position >> OUTCOMES_LOG2) as usize).is_some_and(|word| {
        // Relaxed: written before the tally came to this position, whose load is an acquire one.
        let content = own_content(word.load(Ordering::Relaxed), call.generation());
        content >> (position & (OUTCOMES - 1)) & 1 != 0
    })
}

const _: () = assert!(OUTCOMES < CONTENT_BITS, "a version has room");

#[cfg(test)]
mod tests {
    use super::*;

    /// As it comes back from its word.
    fn pushed(tally: Tally, bad: bool, evicts_bad: bool) -> Tally {
        Tally::of(tally.pushed(bad, evicts_bad).content(), tally.size)
    }

    #[test]
    fn the_tally_holds_its_extremes() {
        for size in [24, 52, 100, 128, 1_000, 1_024] {
            let mut tally = Tally::of(0, size);
            for n in 1..=size {
                tally = pushed(tally, true, false);
                assert_eq!((tally.failures, tally.calls()), (n, n), "{size}");
                assert!(tally.last);
            }
            assert!(tally.is_full);
            assert_eq!((tally.position, tally.lap), (0, 1));
            for n in 1..=size {
                tally = pushed(tally, false, true);
                assert_eq!((tally.failures, tally.calls()), (size - n, size));
            }
            assert!(bit_length(size - 1) + 2 + bit_length(size) < CONTENT_BITS, "a lap has a bit");
        }
    }

    #[test]
    fn laps_come_round_into_no_other_field() {
        let size = 1_024;
        let mut tally = Tally::of(0, size);
        for lap in 1..=5 {
            for _ in 0..size {
                tally = pushed(tally, false, false);
            }
            let most: Raw = MAX_CONTENT >> (bit_length(size - 1) + 2 + bit_length(size));
            assert_eq!(tally.lap, lap & most);
            assert_eq!((tally.failures, tally.position), (0, 0));
        }
    }
}
