//! The windows, each a list of what happened in this generation.
//!
//! A window answers with the verdicts that are allowed. While the clock goes forward there is one.
//! After it went back, what was recorded before may count or not: a trip is allowed where it would
//! be right counting all of that, and due where it is right counting what surely is still there.

use std::ops::RangeInclusive;

use nanobreaker_core::{Cause, Evidence, Measured, Outcome, Rate, WindowSettings};

use super::cusum::Cusum;
use super::policy::Counted;
use super::settings::{CLOCK, WIDE};
use super::time::Moment;

/// What a window may say to one more call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdicts {
    pub may_trip: bool,
    pub may_hold: bool,
}

impl Verdicts {
    pub const fn between(must_trip: bool, may_trip: bool) -> Self {
        Self { may_trip: may_trip || must_trip, may_hold: !must_trip }
    }

    pub const fn exactly(trips: bool) -> Self {
        Self::between(trips, trips)
    }
}

/// One or two windows of a breaker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Windows {
    first: Window,
    slow: Option<Window>,
}

impl Windows {
    pub fn new(first: WindowSettings, slow: Option<WindowSettings>) -> Self {
        Self { first: Window::new(first), slow: slow.map(Window::new) }
    }

    /// The first one is the policy.
    pub fn of_policy(slow: Option<WindowSettings>) -> Self {
        Self { first: Window::Policy(Counted::default()), slow: slow.map(Window::new) }
    }

    /// In the next generation. A policy forgets when it is told of another generation, not before.
    pub fn anew(&self, first: WindowSettings, slow: Option<WindowSettings>) -> Self {
        match &self.first {
            Window::Policy(_) => Self { first: self.first.clone(), slow: slow.map(Window::new) },
            _ => Self::new(first, slow),
        }
    }

    /// Takes one outcome in, in the generation of this number. Returns the causes for which it may trip; `None` where it may hold.
    pub fn take_in(&mut self, outcome: Outcome, generation: u16, now: Moment) -> Vec<Option<Cause>> {
        let failed = matches!(outcome, Outcome::Failure | Outcome::SlowFailure);
        let was_slow = matches!(outcome, Outcome::Slow | Outcome::SlowFailure);
        let (first, slow) = match &mut self.slow {
            None => {
                let first = self.first.take_in(failed || was_slow, generation, now);
                (first, Verdicts::exactly(false))
            }
            Some(slow) => {
                let first = self.first.take_in(failed, generation, now);
                (first, slow.take_in(was_slow, generation, now))
            }
        };
        let mut all = Vec::new();
        if first.may_trip {
            all.push(Some(Cause::ThresholdReached));
        }
        if first.may_hold && slow.may_trip {
            all.push(Some(Cause::SlowThresholdReached));
        }
        if first.may_hold && slow.may_hold {
            all.push(None);
        }
        all
    }

    /// Whether this may be what has been counted, as it looks at `now`.
    pub fn permit(&self, evidence: &Evidence, now: Moment) -> bool {
        // What a policy has counted nobody else can read.
        let first = match (&self.first, evidence.failed) {
            (Window::Policy(_), failed) => failed.is_none(),
            (first, failed) => failed.is_some_and(|measured| first.permits(measured, now)),
        };
        first
            && match (&self.slow, evidence.slow) {
                (Some(slow), Some(measured)) => slow.permits(measured, now),
                (None, None) => true,
                _ => false,
            }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Window {
    Failures(Failures),
    Consecutive { threshold: u32, in_a_row: u32 },
    Calls { rate: Rate, size: usize, last: Vec<bool> },
    Time(Time),
    Cusum(Cusum),
    Policy(Counted),
}

impl Window {
    fn new(settings: WindowSettings) -> Self {
        match settings {
            WindowSettings::Failures { threshold, within_ms } => Self::Failures(Failures {
                threshold: threshold as usize,
                within_ms: within_ms.into(),
                stamps: Vec::new(),
            }),
            WindowSettings::Consecutive { threshold } => Self::Consecutive { threshold, in_a_row: 0 },
            WindowSettings::Calls { size, rate } => {
                Self::Calls { rate, size: size as usize, last: Vec::new() }
            }
            WindowSettings::Time { span_ms, buckets, rate } => Self::Time(Time {
                rate,
                buckets: buckets.into(),
                bucket_ms: span_ms.div_ceil(buckets.into()).into(),
                calls: Vec::new(),
                run: 0,
            }),
            WindowSettings::Cusum(settings) => Self::Cusum(Cusum::new(settings)),
        }
    }

    fn take_in(&mut self, bad: bool, generation: u16, now: Moment) -> Verdicts {
        match self {
            Self::Failures(_) if !bad => Verdicts::exactly(false),
            Self::Failures(window) => window.fail(now),
            Self::Consecutive { threshold, in_a_row } => {
                *in_a_row = if bad { *in_a_row + 1 } else { 0 };
                Verdicts::exactly(*in_a_row >= *threshold)
            }
            Self::Calls { rate, size, last } => {
                if last.len() == *size {
                    last.remove(0);
                }
                last.push(bad);
                let failed = last.iter().filter(|bad| **bad).count();
                Verdicts::exactly(is_reached(*rate, failed, last.len() - failed))
            }
            Self::Time(window) => window.take_in(bad, now),
            Self::Cusum(window) => window.take_in(bad, now),
            Self::Policy(window) => window.take_in(bad, generation),
        }
    }

    fn permits(&self, measured: Measured, now: Moment) -> bool {
        match (self, measured) {
            (Self::Failures(window), Measured::Count { bad, limit }) => {
                limit as usize == window.threshold && window.counts(now).contains(&(bad as usize))
            }
            (Self::Consecutive { threshold, in_a_row }, Measured::Count { bad, limit }) => {
                (bad, limit) == (*in_a_row, *threshold)
            }
            (Self::Calls { rate, last, .. }, Measured::Rate { bad, calls, limit_ppm, min_calls }) => {
                let failed = last.iter().filter(|bad| **bad).count();
                (limit_ppm, min_calls) == (rate.as_ppm(), rate.least_calls())
                    && (bad as usize, calls as usize) == (failed, last.len())
            }
            (Self::Time(window), Measured::Rate { bad, calls, limit_ppm, min_calls }) => {
                let [failed, well] = window.counts(now);
                (limit_ppm, min_calls) == (window.rate.as_ppm(), window.rate.least_calls())
                    && failed.contains(&(bad as usize))
                    && well.contains(&((calls - bad) as usize))
            }
            (Self::Cusum(window), Measured::Sum { ppm }) => window.shares_ppm().contains(&ppm),
            _ => false,
        }
    }
}

fn fills(rate: Rate, bad: usize, good: usize) -> bool {
    bad + good >= rate.least_calls() as usize
}

fn is_high(rate: Rate, bad: usize, good: usize) -> bool {
    bad > 0 && bad as u128 * 1_000_000 >= (bad + good) as u128 * u128::from(rate.as_ppm())
}

fn is_reached(rate: Rate, bad: usize, good: usize) -> bool {
    fills(rate, bad, good) && is_high(rate, bad, good)
}

/// K failures within a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Failures {
    threshold: usize,
    within_ms: i128,
    stamps: Vec<Stamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Stamp {
    at: Moment,
    /// Whether it was within the window, before or after, at each failure since.
    is_kept: bool,
}

impl Failures {
    fn fail(&mut self, now: Moment) -> Verdicts {
        // Narrow words forget where the clock was set back.
        if !WIDE && self.stamps.last().is_some_and(|last| last.at > now) {
            self.stamps.iter_mut().for_each(|stamp| stamp.is_kept = false);
        }
        for stamp in &mut self.stamps {
            stamp.is_kept &= (now - stamp.at).abs() <= self.within_ms;
        }
        let least = self.stamps.iter().filter(|stamp| stamp.is_kept).count();
        let most = self.stamps.iter().filter(|stamp| self.is_near(stamp.at, now));
        let reaches = |others: usize| others + 1 >= self.threshold;
        let verdicts = Verdicts::between(reaches(least), reaches(most.count()));
        self.stamps.push(Stamp { at: now, is_kept: true });
        verdicts
    }

    /// How many failures may count at `now`. One more is never stored, since it trips.
    fn counts(&self, now: Moment) -> RangeInclusive<usize> {
        let is_set_back = self.stamps.last().is_some_and(|last| last.at > now);
        let surely = |stamp: &&Stamp| stamp.is_kept && (now - stamp.at).abs() <= self.within_ms;
        let least = if is_set_back && !WIDE { 0 } else { self.stamps.iter().filter(surely).count() };
        let most = self.stamps.iter().filter(|stamp| self.is_near(stamp.at, now)).count();
        least.min(self.threshold - 1)..=most.min(self.threshold - 1)
    }

    /// Whether a stamp may seem to lie within the window, as the clock shows it.
    fn is_near(&self, stamp: Moment, now: Moment) -> bool {
        let unit = if WIDE || self.within_ms < 1 << 14 { 0 } else { self.within_ms >> 13 };
        let passed = (now - stamp).rem_euclid(CLOCK);
        passed.min(CLOCK - passed) <= self.within_ms + 2 * unit
    }
}

/// A rate over buckets of time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Time {
    rate: Rate,
    buckets: i128,
    bucket_ms: i128,
    calls: Vec<InBucket>,
    /// Where in `calls` the clock was last seen to have gone back.
    run: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct InBucket {
    /// The bucket, by what the clock showed, and by what it would have shown did it never wrap.
    shown: i128,
    endless: i128,
    bad: bool,
}

impl Time {
    fn take_in(&mut self, bad: bool, now: Moment) -> Verdicts {
        let call = self.in_bucket(now, bad);
        if self.calls.last().is_some_and(|last| last.shown > call.shown) {
            self.run = self.calls.len();
        }
        self.calls.push(call);
        self.judge(call)
    }

    /// A call at `now`. Buckets begin at multiples of their length of what the clock shows.
    fn in_bucket(&self, now: Moment, bad: bool) -> InBucket {
        let shown = now.rem_euclid(CLOCK) / self.bucket_ms;
        InBucket { shown, endless: now.div_euclid(self.bucket_ms), bad }
    }

    /// How many calls may count at `now`: the bad ones, and the good ones.
    fn counts(&self, now: Moment) -> [RangeInclusive<usize>; 2] {
        let now = self.in_bucket(now, false);
        let is_set_back = self.calls.last().is_some_and(|last| last.shown > now.shown);
        let surely = if is_set_back { self.calls.len() } else { self.run };
        [true, false].map(|bad| {
            self.count(&self.calls[surely..], now, bad, false)..=self.count(&self.calls, now, bad, true)
        })
    }

    /// The good or bad ones of `calls` within the span; `perhaps` also those that may count.
    fn count(&self, calls: &[InBucket], now: InBucket, bad: bool, perhaps: bool) -> usize {
        let ages = 0..self.buckets;
        let within = |call: &&InBucket| {
            ages.contains(&(now.shown - call.shown))
                // Where the clock wraps a window may start empty, or not.
                || perhaps && ages.contains(&(now.endless - call.endless))
        };
        calls.iter().filter(|call| call.bad == bad).filter(within).count()
    }

    fn judge(&self, now: InBucket) -> Verdicts {
        let count = |calls, bad, perhaps| self.count(calls, now, bad, perhaps);
        let run = &self.calls[self.run..];
        let (bad_least, good_least) = (count(run, true, false), count(run, false, false));
        let all = &self.calls[..];
        let (bad_most, good_most) = (count(all, true, true), count(all, false, true));
        // After the clock was set back a success may not be judged.
        let must_trip = (now.bad || self.run == 0)
            && fills(self.rate, bad_least, good_least)
            && is_high(self.rate, bad_least, good_most);
        let minimum = self.rate.least_calls() as usize;
        let few = good_least.max(minimum.saturating_sub(bad_most));
        let may_trip = few <= good_most && is_reached(self.rate, bad_most, few);
        Verdicts::between(must_trip, may_trip)
    }
}
