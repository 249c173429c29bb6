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

use crate::settings::Threshold;
use crate::state::{CONTENT_BITS, MAX_CONTENT, tagged};
use crate::sync::{Ordering, Raw, WIDE, Word};
use crate::window::call::Call;
use crate::window::judge::Verdict;
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

/// The largest window that fits into `words` words.
pub(super) const fn largest_size(words: usize) -> u32 {
    let outcomes = words.saturating_sub(1);
    if outcomes > 1_024 { 1_024 * OUTCOMES } else { outcomes as u32 * OUTCOMES }
}

/// The tally word's content, and the size that lays it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Tally {
    content: Raw,
    size: u32,
}

impl Tally {
    /// Bits of the position.
    const fn position_bits(self) -> u32 {
        u32::BITS - (self.size - 1).leading_zeros()
    }

    const fn failures_shift(self) -> u32 {
        self.position_bits() + 2
    }

    const fn lap_shift(self) -> u32 {
        self.failures_shift() + u32::BITS - self.size.leading_zeros()
    }

    const fn position(self) -> u32 {
        (self.content & ((1 << self.position_bits()) - 1)) as u32
    }

    const fn is_full(self) -> bool {
        self.content >> self.position_bits() & 1 != 0
    }

    /// Whether the last call failed.
    const fn last(self) -> bool {
        self.content >> (self.position_bits() + 1) & 1 != 0
    }

    const fn failures(self) -> u32 {
        let below_lap = self.content & ((1 << self.lap_shift()) - 1);
        (below_lap >> self.failures_shift()) as u32
    }

    const fn lap(self) -> Raw {
        self.content >> self.lap_shift()
    }

    const fn calls(self) -> u32 {
        if self.is_full() { self.size } else { self.position() }
    }

    /// Where the last call stands, and whether its lap is an even one; `None` before the first.
    const fn last_position(self) -> Option<(u32, bool)> {
        let lap_is_even = self.lap() & 1 == 0;
        if self.calls() == 0 {
            None
        } else if self.position() == 0 {
            Some((self.size - 1, !lap_is_even))
        } else {
            Some((self.position() - 1, lap_is_even))
        }
    }

    /// One more call, which evicts the one at its position.
    const fn pushed(self, bad: bool, evicts_bad: bool) -> Self {
        let next = self.position() + 1;
        let goes_round = next == self.size;
        let failures = (self.failures() + bad as u32).saturating_sub(evicts_bad as u32);
        let position = if goes_round { 0 } else { next as Raw };
        let full = (self.is_full() || goes_round) as Raw;
        let content = position
            | full << self.position_bits()
            | (bad as Raw) << (self.position_bits() + 1)
            | (failures as Raw) << self.failures_shift()
            | self.lap().wrapping_add(goes_round as Raw) << self.lap_shift();
        Self { content: content & MAX_CONTENT, ..self }
    }

    const fn is_reached(self, threshold: Threshold) -> bool {
        threshold.is_reached(self.failures() as u64, self.calls() as u64)
    }
}

/// Whether all calls of a full window succeeded: then one more changes nothing.
#[inline]
pub(super) const fn is_full_of_successes(content: Raw, size: u32) -> bool {
    let tally = Tally { content, size };
    tally.is_full() && tally.failures() == 0
}

/// The bad calls, and all.
pub(super) const fn counts(content: Raw, size: u32) -> (u32, u32) {
    let tally = Tally { content, size };
    (tally.failures(), tally.calls())
}

/// Takes in one call.
#[inline]
pub(super) fn count<C>(
    tally: &Word,
    outcomes: &[Word],
    size: u32,
    threshold: Threshold,
    bad: bool,
    call: &Call<'_, C>,
) -> Verdict {
    update(tally, call, |content| {
        let there = Tally { content, size };
        if !bad && is_full_of_successes(content, size) {
            return (content, Verdict::Holds);
        }
        if write_last(tally, there, outcomes, call).is_none() {
            return (content, Verdict::Stale);
        }
        let evicts_bad = there.is_full() && outcome_at(outcomes, there.position(), call);
        let new = there.pushed(bad, evicts_bad);
        (new.content, Verdict::of(new.is_reached(threshold)))
    })
    .unwrap_or(Verdict::Stale)
}

/// Writes the last call's outcome to its position, unless another thread did. `None` where the call's
/// generation is over.
fn write_last<C>(tally: &Word, there: Tally, outcomes: &[Word], call: &Call<'_, C>) -> Option<()> {
    let Some((position, lap_is_even)) = there.last_position() else { return Some(()) };
    let Some(word) = outcomes.get((position >> OUTCOMES_LOG2) as usize) else { return Some(()) };
    let bit: Raw = 1 << (position & (OUTCOMES - 1));
    update(word, call, |content| {
        // Relaxed: ordered behind the acquire load of the outcomes. Who wrote outcomes of a later call
        // had seen the tally go on.
        let seen = tally.load(Ordering::Relaxed);
        if seen != tagged(call.generation(), there.content) {
            return (content, ());
        }
        // Versions begin at 0 and laps too, so that an even lap writes odd versions.
        let is_of_this_lap = (content & VERSION != 0) == lap_is_even;
        let version = if is_of_this_lap { 0 } else { VERSION };
        let marked = if there.last() { content | bit } else { content & !bit };
        (marked.wrapping_add(version) & MAX_CONTENT, ())
    })
}

fn outcome_at<C>(outcomes: &[Word], position: u32, call: &Call<'_, C>) -> bool {
    outcomes.get((position >> OUTCOMES_LOG2) as usize).is_some_and(|word| {
        // Relaxed: written before the tally came to this position, whose load is an acquire one.
        let content = own_content(word.load(Ordering::Relaxed), call);
        content >> (position & (OUTCOMES - 1)) & 1 != 0
    })
}

const _: () = assert!(OUTCOMES < CONTENT_BITS, "a version has room");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tally_holds_its_extremes() {
        for size in [24, 52, 100, 128, 1_000, 1_024] {
            let mut tally = Tally { content: 0, size };
            for n in 1..=size {
                tally = tally.pushed(true, false);
                assert_eq!((tally.failures(), tally.calls()), (n, n), "{size}");
                assert!(tally.last());
            }
            assert!(tally.is_full());
            assert_eq!((tally.position(), tally.lap()), (0, 1));
            for n in 1..=size {
                tally = tally.pushed(false, true);
                assert_eq!((tally.failures(), tally.calls()), (size - n, size));
            }
            assert!(tally.lap_shift() < CONTENT_BITS, "a lap has a bit");
        }
    }

    #[test]
    fn laps_come_round_into_no_other_field() {
        let size = 1_024;
        let mut tally = Tally { content: 0, size };
        for lap in 1..=5 {
            for _ in 0..size {
                tally = tally.pushed(false, false);
            }
            let most: Raw = MAX_CONTENT >> tally.lap_shift();
            assert_eq!(tally.lap(), lap & most);
            assert_eq!((tally.failures(), tally.position()), (0, 0));
        }
    }
}
