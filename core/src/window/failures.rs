//! The sliding failure ring: trips on K failures within a time.
//!
//! K−1 slots, each one failure's stamp. A failure takes the first slot whose stamp is not live
//! (expired, or another generation's); when all K−1 are live it is the K-th, and trips. So the ring
//! is exact: it slides with every millisecond, and successes touch nothing.
//!
//! | slot's content | wide | narrow |
//! | -------------- | ---- | ------ |
//! | stamp          |   51 |     23 |
//! | taken          |    1 |      1 |
//!
//! A stamp in milliseconds (wide), or in units of about 1/8,192 of the window where that is longer. The
//! first word is no slot: where words are narrow it counts half turns of the stamp, see [`turn`](super::turn).

use crate::settings::{attempt, within};
use crate::state::{CONTENT_BITS, MAX_SPAN_MS, Span, tagged};
use crate::sync::{Ordering, Raw, WIDE, Word, const_unless_loom};
use crate::window::Measured;
use crate::window::call::{Call, Stop};
use crate::window::judge::Verdict;
use crate::window::reading::Reading;
use crate::window::ruled::{Room, Rows, Rule, Ruled};
use crate::window::tagged::{change, own_content};
use crate::window::turn::Turning;
use crate::{Clock, ConfigError};

const TAKEN: Raw = 1 << (CONTENT_BITS - 1);
const STAMP: Raw = TAKEN - 1;
const STAMP_BITS: u32 = CONTENT_BITS - 1;
/// Significant bits of the window's length in stamps; the rest of the field tells old from new.
const DIGITS: u32 = if WIDE { 28 } else { 14 };

/// Trips on `K` failures within a time, exactly.
///
/// It costs a word (8 bytes, or 4) for each failure. A success costs nothing. A failure costs a clock
/// read, at most `K` loads and one exchange.
///
/// Where words are 32 bits wide and the time is over 16,383 ms, a failure counts for up to 1/4,096 of it
/// longer. Where the clock was set back, failures that lie ahead of it count as near as they are; narrow
/// words may forget them.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, Phase, window::Failures};
///
/// let clock = ManualClock::new(0);
/// let breaker = Breaker::new(Failures::<3>::within_ms(1_000)?, Config::DEFAULT, &clock);
/// breaker.allow()?.failure();
/// clock.advance(600);
/// breaker.allow()?.failure();
/// clock.advance(600); // the first failure is forgotten
/// breaker.allow()?.failure();
/// assert_eq!(breaker.phase(), Phase::Closed);
/// breaker.allow()?.failure();
/// assert_eq!(breaker.phase(), Phase::Open);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Failures<const K: usize> = Ruled<FailuresRule, [Word; K]>;

impl<const K: usize> Failures<K> {
    const_unless_loom! {
        /// `K` failures within `ms` milliseconds trip. `K` must be from 1 to 65,535, which the
        /// compiler checks.
        ///
        /// # Errors
        ///
        /// `ms` must be from 1 to 67,108,864 (18.6 hours).
        pub const fn within_ms(ms: u64) -> Result<Self, ConfigError> {
            const { assert!(K >= 1 && K <= u16::MAX as usize, "K must be from 1 to 65,535") };
            Self::up_to(K as u32, ms)
        }
    }

    const_unless_loom! {
        /// `threshold` failures within `ms` milliseconds trip, for where a person or a file chooses. The
        /// ring has room for `K`.
        ///
        /// ```
        /// # use nanobreaker_core::window::Failures;
        /// let chosen = 4;
        /// assert!(Failures::<16>::up_to(chosen, 10_000).is_ok());
        /// assert_eq!(Failures::<16>::up_to(17, 10_000).unwrap_err().maximum(), 16);
        /// ```
        ///
        /// # Errors
        ///
        /// `threshold` must be from 1 to `K`, and `ms` from 1 to 67,108,864 (18.6 hours).
        pub const fn up_to(threshold: u32, ms: u64) -> Result<Self, ConfigError> {
            Ok(Self { rule: attempt!(FailuresRule::new(threshold, ms, K)), memory: Word::zeroes() })
        }
    }
}

/// The rule of a [`Failures`] window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailuresRule {
    within: Span,
    /// K−1.
    slots: u32,
}

impl FailuresRule {
    pub(super) const fn new(threshold: u32, within_ms: u64, words: usize) -> Result<Self, ConfigError> {
        let threshold = attempt!(within("threshold", threshold as u64, 1, words as u64));
        let ms = attempt!(within("within_ms", within_ms, 1, MAX_SPAN_MS as u64));
        Ok(Self::from_parts(threshold, ms))
    }

    #[inline]
    pub(super) const fn from_parts(threshold: u32, within_ms: u32) -> Self {
        Self { within: Span::new(within_ms, DIGITS), slots: threshold.saturating_sub(1) }
    }

    pub(super) const fn parts(self) -> [u32; 4] {
        [self.slots + 1, self.within.ms(), 0, 0]
    }

    /// The rule with its words: the turn, and the slots.
    fn ring<'a>(self, turn: &'a Word, slots: &'a [Word]) -> Ring<'a> {
        Ring { within: self.within, turn, slots: slots.get(..self.slots as usize).unwrap_or(slots) }
    }
}

/// Takes in one failure. It is given plain numbers, which the compiler folds where the rule is a constant.
fn fail<C: Clock>(within: Span, slots: u32, turn: &Word, words: &[Word], call: &Call<'_, C>) -> Verdict {
    let ring = FailuresRule { within, slots }.ring(turn, words);
    Reading::judged(call, |reading| ring.walk(reading, call))
}

/// The words of a ring.
struct Ring<'a> {
    within: Span,
    turn: &'a Word,
    slots: &'a [Word],
}

impl Ring<'_> {
    /// Takes the first slot that is free. Where the words are not in the half turn of the reading, it instead
    /// empties all slots that have no meaning in that, and moves the turn.
    fn walk<C>(&self, reading: Reading, call: &Call<'_, C>) -> Result<Verdict, Stop> {
        let turned = tagged(call.generation(), self.half(reading));
        let mine = tagged(call.generation(), TAKEN | self.within.units(reading.now) & STAMP);
        let turn = if self.turns() { self.turn.first_look() } else { turned };
        let turning = turn != turned;
        // An emptied slot tells in which half turn that was, so that each surely changes.
        let new = if turning { turned } else { mine };
        if !turning || self.is_over(turn, turned, reading.was_set_back(), call)? {
            for slot in self.slots {
                let changed = change(slot, |seen| {
                    if (seen ^ mine) >> STAMP_BITS != 0 {
                        // Another generation's, or free.
                        call.goes_on().map_err(Err)?;
                    } else if turning && self.lasts(seen, turn, turned)
                        || !turning && self.is_live(seen, reading).map_err(Err)?
                    {
                        return Err(Ok(false));
                    }
                    let stands = !self.turns() || self.stands(turn);
                    if stands { Ok((new, Ok(true))) } else { Err(Err(Stop::Turned)) }
                })?;
                if changed && !turning {
                    return Ok(Verdict::Holds);
                }
            }
        }
        if !turning {
            return Ok(Verdict::Trips);
        }
        // Where it is refused, the next look tells what to do.
        let _ = self.turn.exchange(turn, turned);
        Err(Stop::Turned)
    }

    /// How many slots hold a failure within the window, for who writes nothing.
    fn live<C: Clock>(&self, call: &Call<'_, C>) -> usize {
        let reading = Reading::last(call);
        let (turned, half) = (self.turned(call), self.half(reading));
        let is_live = |slot: &&Word| {
            // Relaxed: ordered behind the acquire load of the turn.
            let there = own_content(slot.load(Ordering::Relaxed), call.generation());
            let lasts = there & TAKEN != 0 && (!self.turns() || self.lasts(there, turned, half));
            lasts && self.is_live(there, reading) == Ok(true)
        };
        self.slots.iter().filter(is_live).count()
    }

    /// Whether the failure in a slot that is taken lies within the window. Where the clock was set back, one ahead
    /// is as near as one so far ago.
    fn is_live(&self, slot: Raw, reading: Reading) -> Result<bool, Stop> {
        let age = self.within.age(slot, reading.now, STAMP_BITS);
        if age < 0 && !reading.was_set_back() {
            return Err(Stop::Newer);
        }
        Ok(age.unsigned_abs() <= self.within.whole())
    }

    fn half(&self, reading: Reading) -> Raw {
        self.within.units(reading.now) >> (STAMP_BITS - 1)
    }

    /// Whether stamps come round while the clock does not.
    fn turns(&self) -> bool {
        !WIDE && self.within.range() > STAMP
    }
}

impl Turning for Ring<'_> {
    const ODD: Raw = 1 << (STAMP_BITS - 1);

    #[inline]
    fn range(&self) -> Raw {
        self.within.range() >> (STAMP_BITS - 1)
    }

    #[inline]
    fn turn(&self) -> &Word {
        self.turn
    }
}

impl Rule for FailuresRule {
    #[inline]
    fn count<C: Clock>(&self, room: Room<'_, impl Rows>, bad: bool, call: &Call<'_, C>) -> Verdict {
        if bad { fail(self.within, self.slots, room.first, room.rest, call) } else { Verdict::Holds }
    }

    fn measure<C: Clock>(&self, room: Room<'_, impl Rows>, call: &Call<'_, C>) -> Measured {
        let bad = self.ring(room.first, room.rest).live(call);
        Measured::Count { bad: bad as u32, limit: self.slots + 1 }
    }
}
