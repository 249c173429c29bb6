//! The sliding failure ring: trips on K failures within a time. The default.
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
//! A stamp in milliseconds (wide), or in units of about 1/8,192 of the window where that is longer.

use crate::clock::Clock;
use crate::config::{ConfigError, within};
use crate::state::{MAX_SPAN_MS, Span};
use crate::sync::{Ordering, Raw, WIDE, Word, const_unless_loom};
use crate::window::call::{Call, Layout};
use crate::window::judge::{Judge, Rule, Ruled, Verdict};
use crate::window::parts::Parts;
use crate::window::tagged::{CONTENT_BITS, content, content_for, tag, tagged};

const TAKEN: Raw = 1 << (CONTENT_BITS - 1);
const STAMP: Raw = TAKEN - 1;
/// Significant bits of the window's length in stamps; the rest of the field tells old from new.
const DIGITS: u32 = if WIDE { 27 } else { 14 };

/// Trips on `threshold` failures within `within_ms`, exactly.
///
/// `N` is the largest threshold that this type can hold; it costs a word (8 bytes, or 4) each.
///
/// A success costs nothing. A failure costs a clock read, at most `threshold` loads and one
/// exchange.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, Phase, window::Failures};
///
/// let clock = ManualClock::new(0);
/// let breaker = Breaker::new(Failures::<3>::new(3, 1_000)?, Config::DEFAULT, &clock);
/// breaker.allow()?.failure();
/// clock.advance(600);
/// breaker.allow()?.failure();
/// clock.advance(600); // the first failure is forgotten
/// breaker.allow()?.failure();
/// assert_eq!(breaker.snapshot().phase, Phase::Closed);
/// breaker.allow()?.failure();
/// assert_eq!(breaker.snapshot().phase, Phase::Open);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Failures<const N: usize>(Ruled<FailuresRule, N>);

impl<const N: usize> Failures<N> {
    const_unless_loom! {
        /// `threshold` failures within `within_ms` milliseconds trip.
        ///
        /// # Errors
        ///
        /// `threshold` must be from 1 to `N`, `within_ms` from 1 to 67,108,864 (18.6 hours).
        pub const fn new(threshold: u32, within_ms: u64) -> Result<Self, ConfigError> {
            match FailuresRule::new(threshold, within_ms, N) {
                Ok(rule) => Ok(Self(Ruled {
                    rule,
                    words: Word::zeroes(),
                })),
                Err(error) => Err(error),
            }
        }
    }
}

impl<const N: usize> Judge for Failures<N> {
    #[inline]
    fn count<C: Clock>(&self, bad: bool, call: &Call<'_, C>) -> Verdict {
        self.0.count(bad, call)
    }

    fn sweep<C>(&self, call: &Call<'_, C>) {
        self.0.sweep(call);
    }
}

/// The rule beside its slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FailuresRule {
    within: Span,
    /// K−1.
    slots: u16,
}

/// What a failure finds in a slot.
enum Found {
    /// A failure within the window.
    Live,
    /// A stamp that the clock, as read, has not reached.
    Newer,
    /// Nothing that counts; of this generation if `own`.
    Free { own: bool },
}

impl FailuresRule {
    pub(crate) const fn new(
        threshold: u32,
        within_ms: u64,
        words: usize,
    ) -> Result<Self, ConfigError> {
        let most = if words > u16::MAX as usize {
            u16::MAX as u64
        } else {
            words as u64
        };
        let threshold = match within("threshold", threshold as u64, 1, most) {
            Ok(value) => value,
            Err(error) => return Err(error),
        };
        match within("within_ms", within_ms, 1, MAX_SPAN_MS as u64) {
            Ok(ms) => Ok(Self {
                within: Span::new(ms, DIGITS),
                slots: (threshold - 1) as u16,
            }),
            Err(error) => Err(error),
        }
    }

    /// Puts the failures of `old`, which is still within `words`, where this rule looks for them:
    /// those in slots that this rule doesn't have move into free ones. Trips where there are none.
    ///
    /// A failure takes the first slot that is free, so before it there is none of an earlier generation.
    pub(super) fn gather<C: Clock, L: Layout>(
        self,
        old: Self,
        words: &[Word],
        call: &Call<'_, C, L>,
    ) -> Verdict {
        let now = call.now();
        let kept = usize::from(self.slots);
        let given_up = words.iter().take(old.slots.into()).skip(kept);
        for word in given_up {
            // Relaxed: what is of another generation stays as it is.
            let slot = word.load(Ordering::Relaxed);
            if matches!(self.look(slot, now, call.generation()), Found::Free { .. }) {
                continue;
            }
            let free = words.iter().take(kept).find(|word| {
                // Acquire: `put` asks for that.
                let seen = word.load(Ordering::Acquire);
                matches!(self.look(seen, now, call.generation()), Found::Free { .. })
                    && put(word, seen, content(slot), call)
            });
            if free.is_none() {
                return Verdict::Trips;
            }
            // It must not count twice should the threshold grow again.
            let _ = put(word, slot, 0, call);
        }
        Verdict::Holds
    }

    /// Whether the stamps of both rules are in the same unit.
    pub(super) fn has_unit_of(self, other: Self) -> bool {
        self.within.units(Raw::MAX) == other.within.units(Raw::MAX)
    }

    pub(super) const fn parts(self) -> Parts {
        Parts {
            count: self.slots,
            ms: self.within.ms(),
            ..Parts::NONE
        }
    }

    pub(super) const fn from_parts(parts: Parts) -> Self {
        Self {
            within: Span::new(parts.ms, DIGITS),
            slots: parts.count,
        }
    }

    fn look(self, slot: Raw, now: Raw, generation: u16) -> Found {
        let own = tag(slot) == generation;
        if !own || content(slot) & TAKEN == 0 {
            Found::Free { own }
        } else if self.within().is_ahead(slot, now, STAMP) {
            Found::Newer
        } else if self.within().is_near(slot, now, STAMP) {
            Found::Live
        } else {
            Found::Free { own }
        }
    }

    #[cold]
    fn fail<C: Clock, L: Layout>(self, words: &[Word], call: &Call<'_, C, L>) -> Verdict {
        let now = call.now();
        // Where words are narrow, so is flash.
        if WIDE && self.takes_first(words, now, call) {
            return Verdict::Holds;
        }
        self.walk(words, now, call)
    }

    /// Takes the first slot where a failure stands that this generation has seen expire: the walk's
    /// most frequent step, without what the others need. Returns whether it did.
    #[inline]
    fn takes_first<C, L: Layout>(self, words: &[Word], now: Raw, call: &Call<'_, C, L>) -> bool {
        let Some(word) = words.first().filter(|_| self.slots > 0) else {
            return false;
        };
        let mine = self.stamp(now, call.generation());
        // Relaxed, both: only a word of this very generation is replaced, and the exchange continues
        // the release sequence of the one that put the tag there.
        let slot = word.load(Ordering::Relaxed);
        // What both have in common cancels out. Where their generations differ, the difference is
        // beyond any stamp.
        let age = mine.wrapping_sub(slot);
        self.within().is_shorter_than(age, STAMP)
            && call.layout_still_stands()
            && word
                .exchange(slot, mine, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// The window's length; where words are wide, with a unit that the compiler knows.
    const fn within(self) -> Span {
        if WIDE {
            Span::new(self.within.ms(), DIGITS)
        } else {
            self.within
        }
    }

    /// A slot that is taken now.
    const fn stamp(self, now: Raw, generation: u16) -> Raw {
        tagged(generation, TAKEN | (self.within().units(now) & STAMP))
    }

    /// The failure's own walk along the slots.
    #[inline(never)]
    fn walk<C: Clock, L: Layout>(
        self,
        words: &[Word],
        mut now: Raw,
        call: &Call<'_, C, L>,
    ) -> Verdict {
        let mut read_again = false;
        'walk: loop {
            let mine = self.stamp(now, call.generation());
            for word in words.iter().take(self.slots as usize) {
                // Acquire: pairs with the release of the exchange below, so that the look at the
                // state word that follows is at least as new as the one of the slot's writer.
                let mut slot = word.first_load(Ordering::Acquire);
                loop {
                    match self.look(slot, now, call.generation()) {
                        Found::Live => break,
                        Found::Newer if !read_again => {
                            // This thread stalled after it read the clock. Its stamp must not stand
                            // in for a newer one.
                            now = call.now();
                            read_again = true;
                            continue 'walk;
                        }
                        // The clock was set back: that failure is as near as one so far ago.
                        Found::Newer if self.within().is_near(slot, now, STAMP) => break,
                        Found::Newer | Found::Free { .. } if !call.layout_stands() => {
                            return Verdict::Stale;
                        }
                        Found::Newer | Found::Free { own: true } => {}
                        Found::Free { own: false } if call.is_current() => {}
                        Found::Free { own: false } => return Verdict::Stale,
                    }
                    // Release: pairs with the acquire above. Acquire on refusal: as above.
                    match word.exchange(slot, mine, Ordering::Release, Ordering::Acquire) {
                        Ok(()) => return Verdict::Holds,
                        Err(now_there) => slot = now_there,
                    }
                }
            }
            return Verdict::Trips;
        }
    }
}

/// Exchanges `seen`, loaded with acquire, for `content` under the tag of `call`'s generation: for
/// [`gather`](FailuresRule::gather). Returns whether it did: not where another thread was quicker or the
/// generation is over.
fn put<C, L: Layout>(word: &Word, seen: Raw, content: Raw, call: &Call<'_, C, L>) -> bool {
    let new = tagged(call.generation(), content);
    // Relaxed, both: `gather` comes upon words of its own generation, or of a later one that it leaves
    // alone; so the exchange continues a release sequence. A refusal reads nothing.
    content_for(seen, call).is_some()
        && word
            .exchange(seen, new, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
}

impl Rule for FailuresRule {
    #[inline]
    fn count<C: Clock, L: Layout>(
        &self,
        words: &[Word],
        bad: bool,
        call: &Call<'_, C, L>,
    ) -> Verdict {
        if bad {
            self.fail(words, call)
        } else {
            Verdict::Holds
        }
    }
}
