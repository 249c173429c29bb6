//! The upper bits of the time that the state word holds.
//!
//! A time in the state word has few bits where words are narrow, and so has a lease in any width. It
//! comes round: a caller who asks in steps of exactly one round would read the same time for ever.
//! A second word tells the rounds apart. Whoever sets a time stores its upper bits there, after the
//! exchange that set it.
//!
//! | field      | wide | narrow | meaning |
//! | ---------- | ---- | ------ | ------- |
//! | upper bits |   49 |     21 | of the time, two of which the state word holds as well |
//! | phase      |    3 |      3 | the phase whose time it is |
//! | generation |   12 |      8 | the generation whose time it is |
//!
//! It is stored apart from the state word, so it may be missing or be another time's. It is believed
//! only where generation, phase and the two shared bits fit. A thread that stalls before it stores an
//! anchor stores none once somebody else has stored one. Where nothing fits, the time is taken to be the
//! one that is nearest to now.
//!
//! Two limits. A narrow lease has 25 bits in both words together, so it comes round after
//! 2²⁵ units: 9 hours for a lease of up to 15 ms, 12 days for one of 472 ms. And where a round of probes
//! was idle for a whole round of its lease's bits, and the thread that admits the next probe or takes an
//! answer stalls between its two stores, whoever comes in that moment may find the new lease over.

use super::tag::{CONTENT_BITS, tagged};
use super::{Code, Field, State};
use crate::sync::{Raw, Signed};

/// Bits that both words hold.
const SHARED: u32 = 2;
const PHASE_BITS: u32 = 3;
const UPPER: Field = Field { shift: 0, bits: CONTENT_BITS - PHASE_BITS };
const PHASE: Field = Field::after(UPPER, PHASE_BITS);
/// The upper bits that the state word does not hold.
const ALONE: Field = Field { shift: SHARED, bits: UPPER.bits - SHARED };

/// The second word's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Anchor(pub(crate) Raw);

impl Anchor {
    /// The anchor of `state`, whose whole time is `time`.
    // On small chips once, since it takes more bytes than a call.
    #[cfg_attr(not(target_has_atomic = "64"), inline(never))]
    pub(crate) const fn of(state: State, time: Raw) -> Self {
        let upper = time >> (Raw::BITS - state.time_shift() - SHARED);
        // So that an empty word is the anchor of an isolated state, which has no time.
        let phase = state.code().0 ^ Code::ISOLATED.0;
        Self(tagged(state.generation(), UPPER.put(upper) | PHASE.put(phase)))
    }

    /// The whole time of `state`, and the anchor that is to stand here.
    ///
    /// Where this is the anchor of `state`, or none is needed, it stays. Otherwise the time is the one that is
    /// nearest to `now` of all that have the bits which the state holds.
    pub(crate) const fn whole_time_of(self, state: State, now: Raw) -> (Raw, Self) {
        let shift = state.time_shift();
        // The state's time lies at the top of the word, so that the difference has a sign.
        let ahead = state.0.wrapping_sub(now << shift) as Signed >> shift;
        let nearest = now.wrapping_add(ahead as Raw);
        if state.needs_no_anchor() {
            return (nearest, self);
        }
        let own = Self::of(state, nearest);
        if (self.0 ^ own.0) & !ALONE.put(ALONE.max()) != 0 {
            (nearest, own)
        } else {
            // What the anchor alone knows tells how many rounds lie between.
            (nearest.wrapping_add(self.0.wrapping_sub(own.0) << (Raw::BITS - shift - SHARED)), self)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open_until(time: Raw) -> State {
        State::NEW.entered(Code::OPEN).until(time)
    }

    #[test]
    fn a_whole_time_comes_back() {
        for time in [0, 1, 77, 0x7FFF, 0x8000, 0x12_3456, Raw::MAX >> 1 >> 20] {
            for state in [open_until(time), open_until(5).probe_admitted().until(time)] {
                let anchor = Anchor::of(state, time);
                for now in [time, time + 1_000_000] {
                    assert_eq!(anchor.whole_time_of(state, now), (time, anchor));
                }
            }
        }
    }

    fn probing_until(time: Raw) -> State {
        open_until(0).probe_admitted().until(time)
    }

    #[test]
    fn an_anchor_of_another_generation_phase_or_time_is_not_believed() {
        let state = probing_until(0x1_0001);
        let anchor = Anchor::of(state, 0x1_0001);
        let later = state.entered(Code::OPEN).probe_admitted().until(0x1_0001);
        let quarter = 1 << (Raw::BITS - state.time_shift() - SHARED);
        for other in
            [later, state.in_phase(Code::RECOVERING).until(0x1_0001), probing_until(0x1_0001 + quarter)]
        {
            assert!(anchor.whole_time_of(other, 0).1 != anchor || other.needs_no_anchor(), "{other:?}");
        }
    }

    #[test]
    fn an_empty_word_is_no_anchor() {
        for state in [State::NEW.closed(), open_until(0), probing_until(0)] {
            let empty = Anchor(tagged(state.generation(), 0));
            assert!(empty.whole_time_of(state, 0).1 != empty || state.needs_no_anchor(), "{state:?}");
        }
    }

    #[test]
    fn the_nearest_time_lies_on_either_side() {
        let state = probing_until(10);
        let nearest_to = |now| Anchor(0).whole_time_of(state, now).0;
        let range = 1 << (Raw::BITS - state.time_shift());
        assert_eq!(nearest_to(8), 10);
        assert_eq!(nearest_to(12), 10);
        assert_eq!(nearest_to(3 * range + 12), 3 * range + 10);
        assert_eq!(nearest_to(3 * range - 12), 3 * range + 10);
    }
}
