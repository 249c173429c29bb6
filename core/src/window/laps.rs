//! Buckets of time, used again every lap, and how a word tells in which lap it was written.
//!
//! | bucket's content | wide | narrow |
//! | ---------------- | ---- | ------ |
//! | count            |   44 |     22 |
//! | lap              |    8 |      2 |
//!
//! The highest bit of a lap's number tells its half turn. Where words are narrow and a lap takes less
//! than 128 ms, its number takes some of the count's bits: then the half turns fit into their word.

use crate::state::{CONTENT_BITS, MAX_CONTENT, bit_length};
use crate::sync::{Raw, WIDE};

const LAP_BITS: u32 = if WIDE { 8 } else { 2 };
/// Bits of the shortest lap whose half turns, in so many bits, the turn's content can hold.
const SHORTEST_LAP_BITS: u32 = if WIDE { 0 } else { bit_length(128) };

/// How time is cut into buckets and laps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Laps {
    pub(super) bucket_ms: u32,
    pub(super) buckets: u32,
}

/// A reading's place among the buckets.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) slot: usize,
    pub(super) lap: Raw,
    /// The half turn that the lap lies in.
    pub(super) half: Raw,
    /// Laps and buckets that are newer are from before the clock was set back.
    pub(super) was_set_back: bool,
}

impl Laps {
    /// How long a lap, all buckets, takes.
    const fn lap_ms(self) -> u32 {
        self.bucket_ms.wrapping_mul(self.buckets)
    }

    #[inline]
    pub(super) fn place(self, now: Raw, was_set_back: bool) -> Place {
        // Plain division: reciprocals would have to be computed anew where the settings may change, and save
        // nothing elsewhere. Neither divisor is 0, unless the numbers were torn.
        let (lap_ms, bucket_ms) = (Raw::from(self.lap_ms()).max(1), self.bucket_ms.max(1));
        let (lap, rest) = (now / lap_ms, now % lap_ms);
        let slot = (rest as u32 / bucket_ms) as usize;
        Place { slot, lap, half: lap >> self.half_bits(), was_set_back }
    }

    /// Bits of a bucket's count.
    const fn count_bits(self) -> u32 {
        CONTENT_BITS - LAP_BITS - SHORTEST_LAP_BITS.saturating_sub(bit_length(self.lap_ms()))
    }

    /// The largest count of a bucket.
    pub(super) const fn most_calls(self) -> Raw {
        (1 << self.count_bits()) - 1
    }

    /// The whole number of a word's lap, which is of the half turn `half` or of the one before it,
    /// and the calls that it counts.
    #[inline]
    pub(super) const fn lap_and_calls(self, content: Raw, half: Raw) -> (Raw, Raw) {
        let (number, half_bits) = (content >> self.count_bits(), self.half_bits());
        let is_odd = number >> half_bits & 1;
        let whole = half.wrapping_sub((is_odd ^ half) & 1) << half_bits;
        (whole | number & ((1 << half_bits) - 1), content & self.most_calls())
    }

    /// The lap's number, in its place within a word.
    pub(super) const fn label(self, lap: Raw) -> Raw {
        (lap << self.count_bits()) & MAX_CONTENT
    }

    /// Bits of a lap's number in a word, less the one that tells half turns apart.
    const fn half_bits(self) -> u32 {
        CONTENT_BITS - self.count_bits() - 1
    }

    /// The whole number of the half turn that a turn's content tells: of all up to `half` the last one.
    pub(super) const fn last_half(half: Raw, turned: Raw) -> Raw {
        half.wrapping_sub(half.wrapping_sub(turned) & MAX_CONTENT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lap_comes_back_from_its_label_in_its_own_half_turn_and_in_the_next() {
        for (bucket_ms, buckets) in [(1, 1), (1, 7), (100, 10), (1_000, 60), (1 << 26, 1)] {
            let laps = Laps { bucket_ms, buckets };
            let lap_ms = Raw::from(bucket_ms * buckets);
            let half = 1 << laps.half_bits();
            for lap in [0, 1, half - 1, half, 2 * half, 1_000, Raw::MAX / lap_ms] {
                for later in [0, 1, half - 1, half] {
                    let Some(now) = lap.checked_add(later).filter(|lap| *lap <= Raw::MAX / lap_ms) else {
                        continue;
                    };
                    let half = now >> laps.half_bits();
                    if half - (lap >> laps.half_bits()) <= 1 {
                        assert_eq!(laps.lap_and_calls(laps.label(lap) | 1, half), (lap, 1));
                    }
                }
            }
        }
    }

    #[test]
    fn every_half_turn_fits_into_its_word() {
        for lap_ms in (1..=300).chain([1_000, 60_000, 1 << 26]) {
            let laps = Laps { bucket_ms: lap_ms, buckets: 1 };
            assert!(laps.place(Raw::MAX, false).half <= MAX_CONTENT || WIDE, "{lap_ms}");
        }
    }

    #[test]
    fn a_place_is_the_rest_of_a_division() {
        let laps = Laps { bucket_ms: 100, buckets: 10 };
        for now in [0, 99, 100, 999, 1_000, 123_456] {
            let place = laps.place(now, false);
            assert_eq!((place.slot as Raw, place.lap), (now / 100 % 10, now / 1_000));
        }
    }
}
