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

use super::tag::{CONTENT_BITS, content, tag, tagged};
use super::{Code, Field, State};
use crate::sync::{Raw, Signed};

/// Bits that both words hold.
const SHARED: u32 = 2;
const PHASE_BITS: u32 = 3;
const UPPER: Field = Field::first(CONTENT_BITS - PHASE_BITS);
const PHASE: Field = Field::after(UPPER, PHASE_BITS);

/// The second word's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Anchor(pub(crate) Raw);

impl Anchor {
    /// The anchor of `state`, whose whole time is `time`.
    pub(crate) const fn of(state: State, time: Raw) -> Self {
        let upper = time >> (state.time_field().bits - SHARED);
        let content = UPPER.put(upper) | PHASE.put(phase_of(state));
        Self(tagged(state.generation(), content))
    }

    /// The whole time of `state`, and whether this is its anchor: of all times that have the bits of both
    /// words, or where it is another time's anchor those of `state`, the one nearest to `now`.
    pub(crate) const fn whole_time_of(self, state: State, now: Raw) -> (Raw, bool) {
        let bits = state.time_field().bits;
        let (upper, low) = (UPPER.get(content(self.0)), state.time());
        let is_told = tag(self.0) == state.generation()
            && PHASE.get(content(self.0)) == phase_of(state)
            && upper & ((1 << SHARED) - 1) == low >> (bits - SHARED);
        let (time, bits) =
            if is_told { ((upper >> SHARED) << bits | low, UPPER.bits - SHARED + bits) } else { (low, bits) };
        (nearest_to(now, time, bits), is_told)
    }
}

impl State {
    /// The whole time of this state, if it is the one nearest to `now`.
    pub(crate) const fn time_nearest_to(self, now: Raw) -> Raw {
        nearest_to(now, self.time(), self.time_field().bits)
    }
}

/// The phase field, so that an empty word is the anchor of an isolated state, which has no time.
const fn phase_of(state: State) -> Raw {
    state.code() ^ Code::Isolated as Raw
}

/// Of all times with these lower `bits` the one that is nearest to `now`.
const fn nearest_to(now: Raw, time: Raw, bits: u32) -> Raw {
    let above = Raw::BITS.saturating_sub(bits);
    // The lower bits of what lies between, and above them what makes it negative where the time has passed.
    let ahead = (time.wrapping_sub(now) << above) as Signed >> above;
    now.wrapping_add(ahead as Raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Opening, State};

    fn open_until(time: Raw) -> State {
        State::NEW.opened(Opening { retry_at: time, ..Opening::BY_STREAK })
    }

    #[test]
    fn a_whole_time_comes_back() {
        for time in [0, 1, 77, 0x7FFF, 0x8000, 0x12_3456, Raw::MAX >> 1 >> 20] {
            for state in [open_until(time), open_until(5).probe_admitted(time)] {
                let anchor = Anchor::of(state, time);
                assert_eq!(anchor.whole_time_of(state, time), (time, true));
                let later = time + 1_000_000;
                assert_eq!(anchor.whole_time_of(state, later), (time, true));
            }
        }
    }

    #[test]
    fn an_anchor_of_another_generation_phase_or_time_is_not_believed() {
        let state = open_until(0x1_0001);
        let anchor = Anchor::of(state, 0x1_0001);
        assert!(!anchor.whole_time_of(state.reset().opened(Opening::BY_STREAK), 0).1);
        assert!(!anchor.whole_time_of(state.probe_admitted(0x1_0001), 0).1);
        let quarter = 1 << (state.time_field().bits - SHARED);
        let other = open_until(0x1_0001 + quarter);
        assert!(!anchor.whole_time_of(other, 0).1);
    }

    #[test]
    fn an_empty_word_is_no_anchor() {
        let closed = State::NEW.closed(0);
        for state in [closed, open_until(0), open_until(0).probe_admitted(0)] {
            let empty = Anchor(tagged(state.generation(), 0));
            assert!(!empty.whole_time_of(state, 0).1);
        }
    }

    #[test]
    fn the_nearest_time_lies_on_either_side() {
        let state = open_until(10).probe_admitted(10);
        let range = state.time_field().max() + 1;
        assert_eq!(state.time_nearest_to(8), 10);
        assert_eq!(state.time_nearest_to(12), 10);
        assert_eq!(state.time_nearest_to(3 * range + 12), 3 * range + 10);
        assert_eq!(state.time_nearest_to(3 * range - 12), 3 * range + 10);
    }
}
