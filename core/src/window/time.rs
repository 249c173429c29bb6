//! A failure rate over a span of time, in buckets.
//!
//! Two words a bucket: one counts the good calls, one the bad. A bucket is used again every lap; its
//! word tells by lap and generation whether it is the present one.
//!
//! | bucket's content | wide | narrow |
//! | ---------------- | ---- | ------ |
//! | count            |   32 |     16 |
//! | lap              |   20 |      8 |
//!
//! Counts stop at their largest value: 4.3 billion calls in one bucket, or 65,535 where words are
//! 32 bits wide. Laps come round again after 2²⁰ spans, or 256: calls from exactly so long ago, with
//! none in between, would count once more.

use core::iter;
use core::ops::ControlFlow;

use crate::clock::Clock;
use crate::config::{ConfigError, within};
use crate::state::MAX_SPAN_MS;
use crate::sync::{Ordering, Raw, WIDE, Word, const_unless_loom, fence};
use crate::window::call::{Call, Layout};
use crate::window::divisor::Divisor;
use crate::window::judge::{Judge, Rule, Verdict};
use crate::window::parts::Parts;
use crate::window::rate::Rate;
use crate::window::tagged::{self, CONTENT_BITS, content, content_for, tag, tagged};

const COUNT_BITS: u32 = if WIDE { 32 } else { 16 };
const LAP_BITS: u32 = CONTENT_BITS - COUNT_BITS;
const MAX_COUNT: Raw = (1 << COUNT_BITS) - 1;
const MAX_LAP: Raw = (1 << LAP_BITS) - 1;

/// The most buckets.
const MAX_BUCKETS: usize = 64;

/// Trips when, of the calls of the last `span_ms`, at least `failure_rate_percent` per cent failed,
/// as soon as at least `min_calls` calls are among them.
///
/// The span slides by one of `buckets` buckets at a time: what is judged is the present bucket and
/// the `buckets` − 1 before it. `BUCKETS` is the most that this type can hold; each costs two words.
///
/// Every call costs a clock read, a division and one exchange on a word that all threads share; a
/// failure, and a success while the window is filling, also a fence and a load of each word.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, Phase, window::Time};
///
/// let clock = ManualClock::new(0);
/// let window = Time::<10>::new(10_000, 10, 50, 4)?;
/// let breaker = Breaker::new(window, Config::DEFAULT, &clock);
/// breaker.allow()?.success();
/// breaker.allow()?.success();
/// clock.advance(5_000);
/// breaker.allow()?.failure();
/// assert_eq!(breaker.snapshot().phase, Phase::Closed); // fewer than 4 calls
/// breaker.allow()?.failure();
/// assert_eq!(breaker.snapshot().phase, Phase::Open); // 2 of 4 failed
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Time<const BUCKETS: usize> {
    rule: TimeRule,
    good: [Word; BUCKETS],
    bad: [Word; BUCKETS],
}

impl<const BUCKETS: usize> Time<BUCKETS> {
    const_unless_loom! {
        /// `failure_rate_percent` of the calls of the last `span_ms` milliseconds trip, once there
        /// are `min_calls`.
        ///
        /// # Errors
        ///
        /// `buckets` must be from 1 to `BUCKETS` (at most 64), `span_ms` from `buckets` to
        /// 67,108,864 (a bucket is a whole number of milliseconds, rounded up),
        /// `failure_rate_percent` from 1 to 100, `min_calls` from 1 to what one bucket can count.
        pub const fn new(
            span_ms: u64,
            buckets: u32,
            failure_rate_percent: u32,
            min_calls: u32,
        ) -> Result<Self, ConfigError> {
            match TimeRule::new(span_ms, buckets, failure_rate_percent, min_calls, BUCKETS) {
                Ok(rule) => Ok(Self {
                    rule,
                    good: Word::zeroes(),
                    bad: Word::zeroes(),
                }),
                Err(error) => Err(error),
            }
        }
    }
}

impl<const BUCKETS: usize> Judge for Time<BUCKETS> {
    #[inline]
    fn count<C: Clock>(&self, bad: bool, call: &Call<'_, C>) -> Verdict {
        let good = iter::once(&self.good[..]);
        self.rule.enter(&self.good, good, &self.bad, bad, call)
    }

    fn sweep<C>(&self, call: &Call<'_, C>) {
        tagged::sweep(&self.good, call);
        tagged::sweep(&self.bad, call);
    }
}

/// The rule beside its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeRule {
    rate: Rate,
    bucket_ms: Divisor,
    /// All buckets: how long a lap takes.
    lap_ms: Divisor,
    buckets: u8,
}

/// A bucket's place in time.
#[derive(Clone, Copy)]
struct Place {
    slot: usize,
    lap: Raw,
}

/// What entering a bucket came to.
#[must_use]
enum Entry {
    /// The bucket now counts this many calls of the kind.
    Counted(Raw),
    /// The bucket is one that the clock, as read, has not reached.
    Newer,
    Stale,
}

impl TimeRule {
    pub(crate) const fn new(
        span_ms: u64,
        buckets: u32,
        failure_rate_percent: u32,
        min_calls: u32,
        room: usize,
    ) -> Result<Self, ConfigError> {
        let room = if room > MAX_BUCKETS {
            MAX_BUCKETS
        } else {
            room
        };
        let buckets = match within("buckets", buckets as u64, 1, room as u64) {
            Ok(buckets) => buckets,
            Err(error) => return Err(error),
        };
        let span_ms = match within("span_ms", span_ms, buckets as u64, MAX_SPAN_MS as u64) {
            Ok(span_ms) => span_ms,
            Err(error) => return Err(error),
        };
        match Rate::new(failure_rate_percent, min_calls, MAX_COUNT as u32) {
            Ok(rate) => Ok(Self::with(rate, span_ms.div_ceil(buckets), buckets as u8)),
            Err(error) => Err(error),
        }
    }

    const fn with(rate: Rate, bucket_ms: u32, buckets: u8) -> Self {
        Self {
            rate,
            bucket_ms: Divisor::new(bucket_ms),
            lap_ms: Divisor::new(bucket_ms * buckets as u32),
            buckets,
        }
    }

    fn place(self, now: Raw) -> Place {
        // Neither of the two waits for the other.
        let (bucket, lap) = (self.bucket_ms.quotient(now), self.lap_ms.quotient(now));
        Place {
            slot: bucket.wrapping_sub(lap * Raw::from(self.buckets)) as usize,
            lap: lap & MAX_LAP,
        }
    }

    /// Takes in one good call where that is one more in a bucket that the slow way would not judge:
    /// the healthy path, kept small. Returns whether it did.
    #[inline]
    fn goes_on<C: Clock, L: Layout>(self, row: &[Word], call: &Call<'_, C, L>) -> bool {
        let place = self.place(call.now());
        let Some(word) = row.get(place.slot) else {
            return false;
        };
        // Relaxed, both: only a word of this very generation is replaced, and the exchange continues
        // the release sequence of the one that put the tag there.
        let seen = word.load(Ordering::Relaxed);
        // Far beyond any count where the word is another bucket's.
        let count = seen.wrapping_sub(tagged(call.generation(), place.lap << COUNT_BITS));
        (Raw::from(self.rate.min_calls())..MAX_COUNT).contains(&count)
            && call.layout_still_stands()
            && word
                .exchange(seen, seen + 1, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// Takes in one call: a good one in the row `own`. The good calls are those of all rows in
    /// `good`, `own` among them.
    #[inline]
    pub(crate) fn enter<'a, C: Clock, L: Layout>(
        self,
        own: &[Word],
        good: impl Iterator<Item = &'a [Word]> + Clone,
        bad: &[Word],
        is_bad: bool,
        call: &Call<'_, C, L>,
    ) -> Verdict {
        // Where words are narrow, so is flash.
        if WIDE && !is_bad && self.goes_on(own, call) {
            return Verdict::Holds;
        }
        self.enter_anywhere(own, good, bad, is_bad, call)
    }

    #[cold]
    fn enter_anywhere<'a, C: Clock, L: Layout>(
        self,
        own: &[Word],
        good: impl Iterator<Item = &'a [Word]> + Clone,
        bad: &[Word],
        is_bad: bool,
        call: &Call<'_, C, L>,
    ) -> Verdict {
        let row = if is_bad { bad } else { own };
        let mut place = self.place(call.now());
        let mut entry = add(row, place, 1, false, call);
        if matches!(entry, Entry::Newer) {
            // This thread stalled after it read the clock, or the clock was set back. Only the
            // second is left when it is read again.
            place = self.place(call.now());
            entry = add(row, place, 1, true, call);
        }
        match entry {
            Entry::Counted(calls) if self.needs_judging(is_bad, calls) => {
                self.judge_at(good, bad, place, call)
            }
            Entry::Counted(_) | Entry::Newer => Verdict::Holds,
            Entry::Stale => Verdict::Stale,
        }
    }

    /// A success can reach the rate in two ways only: it fills the minimum, or it is the first call
    /// after a bucket expired. Neither holds once its own bucket has more good calls than the
    /// minimum.
    fn needs_judging(self, is_bad: bool, calls: Raw) -> bool {
        is_bad || calls <= Raw::from(self.rate.min_calls())
    }

    fn judge_at<'a, C: Clock, L: Layout>(
        self,
        good: impl Iterator<Item = &'a [Word]> + Clone,
        bad: &[Word],
        place: Place,
        call: &Call<'_, C, L>,
    ) -> Verdict {
        // Sequentially consistent: of two threads that each enter a bucket and then sum, at least
        // one sees the other's entry. Without it both could miss the other, and no one trips.
        fence(Ordering::SeqCst);
        let is_reached = self
            .is_reached(good.clone(), bad, place, false, call.generation())
            // Somebody's clock is past this thread's reading, and who entered there may have summed
            // before this call was in: judge by the clock as it is now.
            .or_else(|| {
                let place = self.place(call.now());
                self.is_reached(good, bad, place, true, call.generation())
            });
        Verdict::of(is_reached == Some(true))
    }

    /// Whether the calls within the span reach the rate; `None` where a bucket is newer than `now`,
    /// unless those are to be skipped.
    fn is_reached<'a>(
        self,
        mut good: impl Iterator<Item = &'a [Word]>,
        bad: &[Word],
        now: Place,
        skip_newer: bool,
        generation: u16,
    ) -> Option<bool> {
        let bad = self.sum(bad, now, skip_newer, generation)?;
        // The good calls are summed only where there are bad ones.
        if bad == 0 {
            return Some(false);
        }
        let good = good.try_fold(0, |sum: Raw, row| {
            Some(sum + self.sum(row, now, skip_newer, generation)?)
        })?;
        Some(self.rate.is_reached(bad, bad + good))
    }

    /// The calls of one row within the span.
    fn sum(self, row: &[Word], now: Place, skip_newer: bool, generation: u16) -> Option<Raw> {
        let buckets = row.iter().take(self.buckets.into()).enumerate();
        buckets
            .map(|(slot, word)| {
                let lap = if slot <= now.slot {
                    now.lap
                } else {
                    now.lap.wrapping_sub(1) & MAX_LAP
                };
                // Relaxed: ordered by the fence; counts guard no other memory.
                let there = word.load(Ordering::Relaxed);
                let count = count_of(there, generation);
                match lap_of(content(there)) {
                    present if present == lap => Some(count),
                    other if count > 0 && !skip_newer && is_newer(other, lap) => None,
                    _ => Some(0),
                }
            })
            .sum()
    }
}

/// The calls of one bucket, and when it ended or will end.
#[derive(Clone, Copy)]
struct Bucket {
    ends_ms: Raw,
    good: Raw,
    bad: Raw,
}

/// The calls that were within a span, taken out of their words, the oldest first.
pub(super) struct Buckets([Bucket; MAX_BUCKETS]);

/// For a rule that takes the place of another.
impl TimeRule {
    /// Whether this rule reads what `other` has written.
    pub(super) fn has_layout_of(self, other: Self) -> bool {
        (self.bucket_ms, self.buckets) == (other.bucket_ms, other.buckets)
    }

    /// Judges what `words` hold already.
    pub(super) fn judge<C: Clock, L: Layout>(
        self,
        words: &[Word],
        call: &Call<'_, C, L>,
    ) -> Verdict {
        let Some((good, bad)) = words.split_at_checked(self.buckets.into()) else {
            return Verdict::Holds;
        };
        self.judge_at(iter::once(good), bad, self.place(call.now()), call)
    }

    /// The calls that `words` hold.
    pub(super) fn calls<C: Clock, L: Layout>(
        self,
        words: &[Word],
        call: &Call<'_, C, L>,
    ) -> Buckets {
        let bucket_ms = Raw::from(self.bucket_ms.by());
        let now = call.now();
        let mut buckets = Buckets(
            [Bucket {
                ends_ms: now,
                good: 0,
                bad: 0,
            }; MAX_BUCKETS],
        );
        let Some((good, bad)) = words.split_at_checked(self.buckets.into()) else {
            return buckets;
        };
        let ages = (0..self.buckets).rev().map(Raw::from);
        for (bucket, age) in buckets.0.iter_mut().zip(ages) {
            // Before the clock's start there was nothing.
            let Some(at_ms) = now.checked_sub(age * bucket_ms) else {
                continue;
            };
            let place = self.place(at_ms);
            let count = |row: &[Word]| {
                // Relaxed: counts guard no other memory.
                let word = row.get(place.slot).map_or(0, |w| w.load(Ordering::Relaxed));
                if lap_of(content(word)) == place.lap {
                    count_of(word, call.generation())
                } else {
                    0
                }
            };
            *bucket = Bucket {
                ends_ms: (at_ms - at_ms % bucket_ms + (bucket_ms - 1)).min(now),
                good: count(good),
                bad: count(bad),
            };
        }
        buckets
    }

    /// Takes in `buckets` and judges none of them. A call is taken to be as young as its bucket.
    pub(super) fn refill<C, L: Layout>(
        self,
        words: &[Word],
        buckets: &Buckets,
        call: &Call<'_, C, L>,
    ) {
        let Some((good, bad)) = words.split_at_checked(self.buckets.into()) else {
            return;
        };
        for bucket in &buckets.0 {
            let place = self.place(bucket.ends_ms);
            for (row, calls) in [(good, bucket.good), (bad, bucket.bad)] {
                if calls > 0 {
                    let _ = add(row, place, calls, true, call);
                }
            }
        }
    }

    pub(super) const fn parts(self) -> Parts {
        Parts {
            count: self.buckets as u16,
            percent: self.rate.percent(),
            ms: self.bucket_ms.by(),
            min_calls: self.rate.min_calls(),
        }
    }

    pub(super) const fn from_parts(parts: Parts) -> Self {
        Self::with(Rate::from_parts(parts), parts.ms, parts.count as u8)
    }
}

const fn lap_of(content: Raw) -> Raw {
    content >> COUNT_BITS
}

/// What a word counts for `generation`, in whatever lap.
const fn count_of(word: Raw, generation: u16) -> Raw {
    if tag(word) == generation {
        word & MAX_COUNT
    } else {
        0
    }
}

/// Whether a bucket's lap is one that comes after `lap`.
const fn is_newer(bucket: Raw, lap: Raw) -> bool {
    let ahead = bucket.wrapping_sub(lap) & MAX_LAP;
    ahead != 0 && ahead <= MAX_LAP / 2
}

/// Counts `calls` calls in their bucket, which starts again where it holds another lap or generation. A
/// newer lap is left alone unless `replace_newer`.
#[inline]
fn add<C, L: Layout>(
    row: &[Word],
    place: Place,
    calls: Raw,
    replace_newer: bool,
    call: &Call<'_, C, L>,
) -> Entry {
    let Some(word) = row.get(place.slot) else {
        return Entry::Counted(MAX_COUNT);
    };
    // Acquire, release: the rule of all windows, see the module's head.
    let stored = word.update(Ordering::Release, Ordering::Acquire, |seen| {
        let Some(there) = content_for(seen, call) else {
            return ControlFlow::Break(Entry::Stale);
        };
        let (lap, count) = (lap_of(there), there & MAX_COUNT);
        let count = if lap == place.lap {
            count
        } else if is_newer(lap, place.lap) && count > 0 && !replace_newer {
            return ControlFlow::Break(Entry::Newer);
        } else {
            0
        };
        if count == MAX_COUNT {
            ControlFlow::Break(Entry::Counted(count))
        } else {
            ControlFlow::Continue(tagged(
                call.generation(),
                place.lap << COUNT_BITS | (count + calls).min(MAX_COUNT),
            ))
        }
    });
    match stored {
        ControlFlow::Continue((_, new)) => Entry::Counted(new & MAX_COUNT),
        ControlFlow::Break(entry) => entry,
    }
}

impl Rule for TimeRule {
    #[inline]
    fn count<C: Clock, L: Layout>(
        &self,
        words: &[Word],
        bad: bool,
        call: &Call<'_, C, L>,
    ) -> Verdict {
        let Some((good_row, bad_row)) = words.split_at_checked(self.buckets.into()) else {
            return Verdict::Holds;
        };
        self.enter(good_row, iter::once(good_row), bad_row, bad, call)
    }
}
