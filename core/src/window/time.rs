//! A failure rate over a span of time, in buckets.
//!
//! Two words a bucket: one counts the good calls, one the bad. A bucket is used again every lap; its
//! word tells by generation and lap whether it is the present one, see [`laps`](super::laps). One word
//! more counts half turns of the laps, see [`turn`](super::turn).

use core::iter;

use crate::settings::{Threshold, attempt, within};
use crate::state::{CONTENT_BITS, MAX_CONTENT, MAX_SPAN_MS, tag, tagged};
use crate::sync::{Ordering, Raw, WIDE, Word, const_unless_loom, fence};
use crate::window::Measured;
use crate::window::call::{Call, Stop};
use crate::window::judge::Verdict;
use crate::window::laps::{Laps, Place};
use crate::window::reading::Reading;
use crate::window::ruled::{Memory, Room, Rows, Rule, Ruled};
use crate::window::tagged::{change, own_content, update};
use crate::window::turn::Turning;
use crate::{Clock, ConfigError, Rate};

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
/// Every call costs a clock read, two divisions and one exchange on a word that all threads share; a
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
pub type Time<const BUCKETS: usize> = Ruled<TimeRule, TimeWords<BUCKETS>>;

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
            let rule = attempt!(TimeRule::new(span_ms, buckets, rate, BUCKETS));
            let memory = TimeWords { turn: Word::new(0), buckets: [Word::zeroes(), Word::zeroes()] };
            Ok(Self { rule, memory })
        }
    }
}

/// The memory of a [`Time`] window.
#[derive(Debug)]
pub struct TimeWords<const BUCKETS: usize> {
    turn: Word,
    buckets: [[Word; BUCKETS]; 2],
}

impl<const BUCKETS: usize> Memory for TimeWords<BUCKETS> {
    #[inline]
    fn room(&self) -> Option<Room<'_, impl Rows>> {
        Some(Room { first: &self.turn, rest: self.buckets.as_flattened(), rows: () })
    }
}

/// The rule of a [`Time`] window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRule {
    pub(super) threshold: Threshold,
    pub(super) laps: Laps,
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
        let laps = Laps { bucket_ms: span_ms.div_ceil(buckets), buckets };
        let most_calls = laps.most_calls();
        let most_calls = if most_calls > u32::MAX as Raw { u32::MAX } else { most_calls as u32 };
        let threshold = attempt!(rate.checked(most_calls));
        Ok(Self { threshold, laps })
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

    /// The rule with its words: first the turn, then the bad calls, then the good ones.
    #[inline]
    fn in_room<R: Rows>(self, Room { first, rest, rows }: Room<'_, R>) -> TimeIn<'_, R> {
        let (bad, good) = rest.split_at(rest.len().min(self.laps.buckets as usize));
        TimeIn { rule: self, turn: first, bad, good, rows }
    }
}

impl Rule for TimeRule {
    #[inline]
    fn count<C: Clock>(&self, room: Room<'_, impl Rows>, bad: bool, call: &Call<'_, C>) -> Verdict {
        let time = self.in_room(room);
        if WIDE && !bad && time.goes_on(call) {
            return Verdict::Holds;
        }
        time.enter(bad, call)
    }

    fn measure<C: Clock>(&self, room: Room<'_, impl Rows>, call: &Call<'_, C>) -> Measured {
        let time = self.in_room(room);
        let turned = time.turned(call);
        let place = self.laps.place(call.now(), true);
        let place = Place { half: Laps::last_half(place.half, turned), ..place };
        let sum = |row| self.sum(row, place, call).unwrap_or(0);
        let bad = sum(time.bad);
        Measured::rate(self.threshold, bad, time.good().map(sum).fold(bad, u64::saturating_add))
    }
}

/// The rule and the words of a window.
struct TimeIn<'a, R> {
    rule: TimeRule,
    turn: &'a Word,
    bad: &'a [Word],
    /// Good calls of threads that have no row of their own.
    good: &'a [Word],
    rows: R,
}

impl<R: Rows> TimeIn<'_, R> {
    /// The words in which a good call of this thread counts.
    #[inline]
    fn own(&self) -> &[Word] {
        self.rows.own().filter(|own| own.len() >= self.bad.len()).unwrap_or(self.good)
    }

    /// All words that count good calls, a row after the other.
    #[inline]
    fn good(&self) -> impl Iterator<Item = &[Word]> + Clone {
        iter::once(self.good).chain(self.rows.all())
    }

    /// Takes in one good call where that is one more in a bucket that would not be judged: a short way to the
    /// most frequent answer, which takes about half as many instructions. Small chips do without it, since it
    /// costs flash. Returns whether it did.
    #[inline]
    fn goes_on<C: Clock>(&self, call: &Call<'_, C>) -> bool {
        let TimeRule { threshold, laps } = self.rule;
        let place = laps.place(call.now(), false);
        let Some(word) = self.own().get(place.slot) else { return false };
        // Relaxed: only a word of this very generation is replaced. Where the words were turned since, this
        // word has changed, and the exchange is refused.
        let seen = word.load(Ordering::Relaxed);
        // Far beyond any count where the word is another bucket's.
        let count = seen.wrapping_sub(tagged(call.generation(), laps.label(place.lap)));
        (Raw::from(threshold.min_calls)..laps.most_calls()).contains(&count)
            && self.stands(tagged(call.generation(), place.half))
            && word.exchange(seen, seen + 1).is_ok()
    }

    /// Takes in one call and judges, where that can make a difference.
    #[inline(never)]
    fn enter<C: Clock>(self, is_bad: bool, call: &Call<'_, C>) -> Verdict {
        let laps = self.rule.laps;
        let row = if is_bad { self.bad } else { self.own() };
        let mut is_counted = false;
        Reading::judged(call, |reading| {
            let place = laps.place(reading.now, reading.was_set_back());
            self.turn_to(place, call)?;
            if !is_counted {
                let calls = self.add(row, place, call)?;
                // A success can reach the rate in two ways only: it fills the minimum, or it is the first call
                // after a bucket expired. Neither holds once its own bucket has more good calls than the
                // minimum.
                if !is_bad && calls > Raw::from(self.rule.threshold.min_calls) {
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

    /// Moves the turn on to that of `place`, and empties the words that have no meaning in it. An emptied word is
    /// given the label of the present lap: so it surely changes.
    #[inline]
    fn turn_to<C>(&self, place: Place, call: &Call<'_, C>) -> Result<(), Stop> {
        let turned = tagged(call.generation(), place.half);
        let empty = tagged(call.generation(), self.rule.laps.label(place.lap));
        change(self.turn, |seen| {
            if seen == turned {
                // Loaded with acquire, as in `turned`.
                return Err(Ok(()));
            }
            let is_over = self.is_over(seen, turned, place.was_set_back, call).map_err(Err)?;
            for word in self.good().flatten().chain(self.bad).filter(|_| is_over) {
                change(word, |there| {
                    let lasts = self.lasts(there, seen, turned);
                    let is_due = tag(there) == call.generation() && !lasts && self.stands(seen);
                    if is_due { Ok((empty, ())) } else { Err(()) }
                });
            }
            Ok((turned, Ok(())))
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
        let good = self.good().try_fold(0, |all: u64, row| Ok(all.saturating_add(sum(row)?)))?;
        Ok(self.rule.threshold.is_reached(bad, bad.saturating_add(good)))
    }
}

impl<R: Rows> Turning for TimeIn<'_, R> {
    const ODD: Raw = 1 << (CONTENT_BITS - 1);

    #[inline]
    fn range(&self) -> Raw {
        MAX_CONTENT
    }

    #[inline]
    fn turn(&self) -> &Word {
        self.turn
    }
}
