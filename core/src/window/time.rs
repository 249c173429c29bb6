//! A failure rate over a span of time, in buckets.
//!
//! Two words a bucket: one counts the good calls, one the bad. A bucket is used again every lap; its
//! word tells by generation and lap whether it is the present one, see [`laps`](super::laps). One word
//! more counts half turns of the laps, see [`turn`](super::turn).

use core::{iter, slice};

use crate::settings::{Threshold, attempt, within};
use crate::state::{CONTENT_BITS, MAX_CONTENT, MAX_SPAN_MS, State, tagged};
use crate::sync::{Ordering, Raw, WIDE, Word, const_unless_loom, fence};
use crate::window::call::Call;
use crate::window::judge::{Judge, Plain, Rule, Verdict};
use crate::window::lanes::{Lanes, Room};
use crate::window::laps::{Laps, Place};
use crate::window::reading::Reading;
use crate::window::tagged::{Stop, own_content, sweep, update};
use crate::window::turn::Turning;
use crate::window::{Evidence, Measured};
use crate::{Clock, ConfigError, Outcome, Rate};

/// The most buckets.
const MAX_BUCKETS: usize = 64;

/// Trips when, of the calls of the last `span_ms`, at least the rate failed, as soon as there are as
/// many of them as the rate's minimum.
///
/// The span slides by one of `buckets` buckets at a time: what is judged is the present bucket and
/// the `buckets` − 1 before it. `BUCKETS` is the most that this type can hold; each costs two words.
///
/// A count stops at its largest value, which takes 2⁴⁴ calls of a kind in one bucket. Where words are 32
/// bits wide that is 4.2 million (32,767 in each millisecond of a span under 128 ms).
///
/// A bucket begins at a multiple of its length, by what the clock shows. Where the clock comes round (where
/// words are 32 bits wide after 49.7 days) the window may start empty. Where it was set back, calls from
/// before may count or not, and a success may not be judged.
///
/// Every call costs a clock read, a division and one exchange on a word that all threads share; a
/// failure, and a success while the window is filling, also a fence and a load of each word.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, Phase, Rate, window::Time};
///
/// let clock = ManualClock::new(0);
/// let window = Time::<10>::new(10_000, 10, Rate::percent(50).min_calls(4))?;
/// let breaker = Breaker::new(window, Config::DEFAULT, &clock);
/// breaker.allow()?.success();
/// breaker.allow()?.success();
/// clock.advance(5_000);
/// breaker.allow()?.failure();
/// assert_eq!(breaker.phase(), Phase::Closed); // fewer than 4 calls
/// breaker.allow()?.failure();
/// assert_eq!(breaker.phase(), Phase::Open); // 2 of 4 failed
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Time<const BUCKETS: usize> {
    rule: TimeRule,
    turn: Word,
    good: [Word; BUCKETS],
    bad: [Word; BUCKETS],
}

impl<const BUCKETS: usize> Time<BUCKETS> {
    const_unless_loom! {
        /// `rate` of the calls of the last `span_ms` milliseconds trips.
        ///
        /// # Errors
        ///
        /// `buckets` must be from 1 to `BUCKETS` (at most 64), `span_ms` from `buckets` to
        /// 67,108,864 (a bucket is a whole number of milliseconds, rounded up), the rate above 0 and at
        /// most 1, `min_calls` from 1 to what one bucket can count.
        pub const fn new(span_ms: u64, buckets: u32, rate: Rate) -> Result<Self, ConfigError> {
            Ok(Self {
                rule: attempt!(TimeRule::new(span_ms, buckets, rate, BUCKETS)),
                turn: Word::new(0),
                good: Word::zeroes(),
                bad: Word::zeroes(),
            })
        }
    }

    #[inline]
    fn rows(&self) -> Rows<'_, impl RowsOfGood<'_>> {
        let good = iter::once(&self.good[..]);
        Rows { rule: &self.rule, turn: &self.turn, own: &self.good, good, bad: &self.bad }
    }
}

impl<const BUCKETS: usize> Plain for Time<BUCKETS> {}

impl<const BUCKETS: usize> Judge for Time<BUCKETS> {
    #[inline]
    fn judge<C: Clock>(&self, outcome: Outcome, call: &Call<'_, C>) -> Verdict {
        self.rows().enter(outcome != Outcome::Success, call)
    }

    fn evidence<C: Clock>(&self, call: &Call<'_, C>) -> Result<Evidence, State> {
        Ok(Evidence::of_failed(self.rows().measure(call)))
    }

    fn sweep<C>(&self, call: &Call<'_, C>) {
        self.rows().sweep(call);
    }
}

/// The rule beside its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeRule {
    threshold: Threshold,
    laps: Laps,
}

impl TimeRule {
    pub(super) const fn new(
        span_ms: u64,
        buckets: u32,
        rate: Rate,
        room: usize,
    ) -> Result<Self, ConfigError> {
        let room = if room > MAX_BUCKETS { MAX_BUCKETS } else { room };
        let buckets = attempt!(within("buckets", buckets as u64, 1, room as u64));
        let span_ms = attempt!(within("span_ms", span_ms, buckets as u64, MAX_SPAN_MS as u64));
        let laps = Laps::new(span_ms.div_ceil(buckets), buckets);
        let most_calls = laps.most_calls();
        let most_calls = if most_calls > u32::MAX as Raw { u32::MAX } else { most_calls as u32 };
        let threshold = attempt!(rate.checked(most_calls));
        Ok(Self { threshold, laps })
    }

    pub(super) const fn from_parts(threshold: Threshold, bucket_ms: u32, buckets: u32) -> Self {
        Self { threshold, laps: Laps::new(bucket_ms, buckets) }
    }

    pub(super) const fn parts(self) -> [u32; 4] {
        let Threshold { ppm, min_calls } = self.threshold;
        [self.laps.bucket_ms(), self.laps.buckets, ppm, min_calls]
    }

    /// A success can reach the rate in two ways only: it fills the minimum, or it is the first call
    /// after a bucket expired. Neither holds once its own bucket has more good calls than the
    /// minimum.
    const fn needs_judging(self, is_bad: bool, calls: Raw) -> bool {
        is_bad || calls <= self.threshold.min_calls as Raw
    }

    /// The calls of one row within the span, whose words are in the half turn of `now`.
    fn sum<C>(self, row: &[Word], now: Place, call: &Call<'_, C>) -> Result<u64, Stop> {
        let mut calls: u64 = 0;
        for (slot, word) in row.iter().take(self.laps.buckets as usize).enumerate() {
            let present = if slot <= now.slot { now.lap } else { now.lap.wrapping_sub(1) };
            // Relaxed: ordered by the fence; counts guard no other memory.
            let there = own_content(word.load(Ordering::Relaxed), call.generation());
            let (lap, count) = self.laps.lap_and_calls(there, now.half);
            if lap == present {
                calls = calls.saturating_add(u64::from(count));
            } else if lap >= now.lap && count > 0 && !now.was_set_back {
                // Of a later lap, or of a later bucket of this one.
                return Err(Stop::Newer);
            }
        }
        Ok(calls)
    }

    /// The rows in `room`: first the turn, then the good calls, then the bad ones. Good calls are counted in
    /// `own` where it has room for all buckets, and in all lanes.
    #[inline]
    fn rows<'a>(
        &'a self,
        room: &Room<'a, impl Lanes>,
        own: &'a [Word],
    ) -> Option<Rows<'a, impl RowsOfGood<'a>>> {
        let (turn, rest) = room.words.split_first()?;
        let (good, bad) = rest.split_at_checked(self.laps.buckets as usize)?;
        let own = if own.len() < good.len() { good } else { own };
        Some(Rows { rule: self, turn, own, good: iter::once(good).chain(room.lanes()), bad })
    }
}

impl Rule for TimeRule {
    #[inline]
    fn count<C: Clock>(&self, room: &Room<'_, impl Lanes>, bad: bool, call: &Call<'_, C>) -> Verdict {
        self.rows(room, room.own_lane()).map_or(Verdict::Holds, |rows| rows.enter(bad, call))
    }

    fn measure<C: Clock>(&self, room: &Room<'_, impl Lanes>, call: &Call<'_, C>) -> Measured {
        let nothing = Measured::rate(self.threshold, 0, 0);
        self.rows(room, &[]).map_or(nothing, |rows| rows.measure(call))
    }
}

/// The rule and the words of a window, one row for each kind of call, or several for the good ones.
pub(super) struct Rows<'a, G> {
    pub(super) rule: &'a TimeRule,
    pub(super) turn: &'a Word,
    /// The row in which a good call of this thread counts.
    pub(super) own: &'a [Word],
    /// All rows of good calls, `own` among them.
    pub(super) good: G,
    pub(super) bad: &'a [Word],
}

/// Rows of good calls.
pub(super) trait RowsOfGood<'a>: Iterator<Item = &'a [Word]> + Clone {}
impl<'a, G: Iterator<Item = &'a [Word]> + Clone> RowsOfGood<'a> for G {}

impl<'a, G: RowsOfGood<'a>> Rows<'a, G> {
    /// Takes in one call and judges, where that can make a difference.
    #[inline]
    pub(super) fn enter<C: Clock>(self, is_bad: bool, call: &Call<'_, C>) -> Verdict {
        if WIDE && !is_bad && self.goes_on(call) {
            return Verdict::Holds;
        }
        self.enter_anywhere(is_bad, call)
    }

    /// Takes in one good call where that is one more in a bucket that would not be judged: a short way to the
    /// most frequent answer, which takes 110 instructions instead of 204. Small chips do without it, since it
    /// costs flash. Returns whether it did.
    #[inline]
    fn goes_on<C: Clock>(&self, call: &Call<'_, C>) -> bool {
        let TimeRule { threshold, laps } = self.rule;
        let place = laps.place(call.now(), false);
        let Some(word) = self.own.get(place.slot) else { return false };
        // Relaxed: only a word of this very generation is replaced. Where the words were turned since, this
        // word has changed, and the exchange is refused.
        let seen = word.load(Ordering::Relaxed);
        // Far beyond any count where the word is another bucket's.
        let count = seen.wrapping_sub(tagged(call.generation(), laps.label(place.lap)));
        (Raw::from(threshold.min_calls)..laps.most_calls()).contains(&count)
            && self.stands(tagged(call.generation(), place.half))
            && word.exchange(seen, seen + 1).is_ok()
    }

    #[inline(never)]
    fn enter_anywhere<C: Clock>(self, is_bad: bool, call: &Call<'_, C>) -> Verdict {
        let laps = self.rule.laps;
        let row = if is_bad { self.bad } else { self.own };
        let mut is_counted = false;
        Reading::judged(call, |Reading { now, was_set_back }| {
            let place = laps.place(now, was_set_back);
            self.turn_to(place.half, laps.label(place.lap), was_set_back, call)?;
            if !is_counted {
                let calls = self.add(row, place, call)?;
                if !self.rule.needs_judging(is_bad, calls) {
                    return Ok(Verdict::Holds);
                }
                is_counted = true;
            }
            // Sequentially consistent: of two threads that each enter a bucket and then sum, at least
            // one sees the other's entry. Without it both could miss the other, and no one trips.
            fence(Ordering::SeqCst);
            // Where a bucket is newer somebody's clock is past this thread's reading, and who entered there
            // may have summed before this call was in: it is judged by the clock as it is then.
            self.is_reached(place, call).map(Verdict::of)
        })
    }

    /// Takes in one call at `place`. Returns how many of its kind the bucket now counts.
    #[inline]
    fn add<C>(&self, row: &[Word], place: Place, call: &Call<'_, C>) -> Result<Raw, Stop> {
        let laps = self.rule.laps;
        let most = laps.most_calls();
        // Never: a slot is a rest of division by their number.
        let Some(word) = row.get(place.slot) else { return Ok(most) };
        update(word, call, |there| {
            let (lap, calls) = laps.lap_and_calls(there, place.half);
            let is_newer = lap > place.lap && calls > 0 && !place.was_set_back;
            if is_newer || !self.stands(tagged(call.generation(), place.half)) {
                return Err(Stop::Newer);
            }
            let count = if lap == place.lap { calls } else { 0 };
            let counted = if count == most { count } else { count + 1 };
            Ok((laps.label(place.lap) | counted, counted))
        })
    }

    /// Whether the calls within the span reach the rate. It stops where a bucket is newer than `place`,
    /// unless that is because the clock was set back.
    #[inline(never)]
    fn is_reached<C>(&self, place: Place, call: &Call<'_, C>) -> Result<bool, Stop> {
        let sum = |row| self.rule.sum(row, place, call);
        let bad = sum(self.bad)?;
        // The good calls are summed only where there are bad ones.
        if bad == 0 {
            return Ok(false);
        }
        let good = self.good.clone().try_fold(0, |all: u64, row| Ok(all.saturating_add(sum(row)?)))?;
        Ok(self.rule.threshold.is_reached(bad, bad.saturating_add(good)))
    }

    /// What the rows have counted within the span.
    pub(super) fn measure<C: Clock>(self, call: &Call<'_, C>) -> Measured {
        let turned = self.turned(call);
        let Reading { now, was_set_back } = Reading::to_look(call);
        let place = self.rule.laps.place(now, was_set_back);
        let place = Place { half: Laps::last_half(place.half, turned), ..place };
        let sum = |row| self.rule.sum(row, place, call).unwrap_or(0);
        let bad = sum(self.bad);
        Measured::rate(self.rule.threshold, bad, self.good.map(sum).fold(bad, u64::saturating_add))
    }

    pub(super) fn sweep<C>(self, call: &Call<'_, C>) {
        for words in self.good.chain([self.bad, slice::from_ref(self.turn)]) {
            sweep(words, call);
        }
    }
}

impl<'a, G: RowsOfGood<'a>> Turning<'a> for Rows<'a, G> {
    const ODD: Raw = 1 << (CONTENT_BITS - 1);

    #[inline]
    fn range(&self) -> Raw {
        MAX_CONTENT
    }

    #[inline]
    fn turn(&self) -> &'a Word {
        self.turn
    }

    #[inline]
    fn words(&self) -> impl Iterator<Item = &'a Word> + Clone {
        self.good.clone().flatten().chain(self.bad)
    }
}
