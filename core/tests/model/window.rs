//! The windows, each a list of what happened in this generation.
//!
//! A window answers with the verdicts that are allowed. While the clock goes forward there is one.
//! After it went back, what was recorded before may count or not: a trip is allowed where it would
//! be right counting all of that, and due where it is right counting none.

use nanobreaker_core::Outcome;

use super::settings::{WIDE, WindowKind};
use super::time::Moment;

/// What a window may say to one more call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdicts {
    pub may_trip: bool,
    pub may_hold: bool,
}

impl Verdicts {
    const fn between(must_trip: bool, may_trip: bool) -> Self {
        Self {
            may_trip: may_trip || must_trip,
            may_hold: !must_trip,
        }
    }

    const fn exactly(trips: bool) -> Self {
        Self::between(trips, trips)
    }

    /// Nothing to judge where the rule is the same.
    const fn unless(self, same: bool) -> Self {
        if same { Self::exactly(false) } else { self }
    }

    /// Two windows, of which either may trip.
    const fn or(self, other: Self) -> Self {
        Self {
            may_trip: self.may_trip || other.may_trip,
            may_hold: self.may_hold && other.may_hold,
        }
    }
}

/// One or two windows of a breaker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Windows {
    first: Window,
    slow: Option<Window>,
}

impl Windows {
    pub fn new(first: WindowKind, slow: Option<WindowKind>) -> Self {
        Self {
            first: Window::new(first),
            slow: slow.map(Window::new),
        }
    }

    /// Other rules, which judge the calls that are there.
    pub fn adjust(&mut self, first: WindowKind, slow: Option<WindowKind>, now: Moment) -> Verdicts {
        let failed = self.first.adjust(first, now);
        match (&mut self.slow, slow) {
            (Some(window), Some(slow)) => failed.or(window.adjust(slow, now)),
            _ => failed,
        }
    }

    pub fn take_in(&mut self, outcome: Outcome, now: Moment) -> Verdicts {
        match &mut self.slow {
            None => self.first.take_in(outcome != Outcome::Success, now),
            Some(slow) => {
                let failed = self.first.take_in(outcome == Outcome::Failure, now);
                failed.or(slow.take_in(outcome == Outcome::Slow, now))
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Window {
    Failures(Failures),
    Consecutive {
        threshold: u32,
        in_a_row: u32,
    },
    Calls {
        rate: Rate,
        size: usize,
        last: Vec<bool>,
    },
    Time(Time),
}

impl Window {
    fn new(kind: WindowKind) -> Self {
        match kind {
            WindowKind::Failures {
                threshold,
                within_ms,
            } => Self::Failures(Failures {
                threshold: threshold as usize,
                within_ms: within_ms.into(),
                stamps: Vec::new(),
                run: 0,
            }),
            WindowKind::Consecutive { threshold } => Self::Consecutive {
                threshold,
                in_a_row: 0,
            },
            WindowKind::Calls {
                size,
                percent,
                min_calls,
            } => Self::Calls {
                rate: Rate { percent, min_calls },
                size: size as usize,
                last: Vec::new(),
            },
            WindowKind::Time {
                span_ms,
                buckets,
                percent,
                min_calls,
            } => Self::Time(Time {
                rate: Rate { percent, min_calls },
                buckets: buckets.into(),
                bucket_ms: span_ms.div_ceil(buckets).into(),
                calls: Vec::new(),
                run: 0,
            }),
        }
    }

    /// Becomes `kind`; empty, unless it is of that kind already.
    fn adjust(&mut self, kind: WindowKind, now: Moment) -> Verdicts {
        let new = Self::new(kind);
        match (&mut *self, new) {
            (Self::Failures(window), Self::Failures(new)) => {
                let same = window.threshold == new.threshold;
                window.threshold = new.threshold;
                window.judge(now).unless(same)
            }
            (
                Self::Consecutive {
                    threshold,
                    in_a_row,
                },
                Self::Consecutive { threshold: new, .. },
            ) => {
                *threshold = new;
                Verdicts::exactly(*in_a_row >= new)
            }
            (
                Self::Calls { rate, size, last },
                Self::Calls {
                    rate: new,
                    size: new_size,
                    ..
                },
            ) => {
                let same = (&*rate, *size) == (&new, new_size);
                (*rate, *size) = (new, new_size);
                last.drain(..last.len().saturating_sub(new_size));
                let failed = last.iter().filter(|bad| **bad).count();
                Verdicts::exactly(rate.is_reached(failed, last.len() - failed)).unless(same)
            }
            (Self::Time(window), Self::Time(new)) => {
                let same = window.rate == new.rate;
                window.rate = new.rate;
                window.judge(true, window.shown(now)).unless(same)
            }
            (_, new) => {
                *self = new;
                Verdicts::exactly(false)
            }
        }
    }

    fn take_in(&mut self, bad: bool, now: Moment) -> Verdicts {
        match self {
            Self::Failures(_) if !bad => Verdicts::exactly(false),
            Self::Failures(window) => window.fail(now),
            Self::Consecutive {
                threshold,
                in_a_row,
            } => {
                *in_a_row = if bad { *in_a_row + 1 } else { 0 };
                Verdicts::exactly(*in_a_row >= *threshold)
            }
            Self::Calls { rate, size, last } => {
                if last.len() == *size {
                    last.remove(0);
                }
                last.push(bad);
                let failed = last.iter().filter(|bad| **bad).count();
                Verdicts::exactly(rate.is_reached(failed, last.len() - failed))
            }
            Self::Time(window) => window.take_in(bad, now),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Rate {
    percent: u32,
    min_calls: u32,
}

impl Rate {
    fn fills(&self, bad: usize, good: usize) -> bool {
        bad + good >= self.min_calls as usize
    }

    fn is_high(&self, bad: usize, good: usize) -> bool {
        bad > 0 && bad * 100 >= (bad + good) * self.percent as usize
    }

    fn is_reached(&self, bad: usize, good: usize) -> bool {
        self.fills(bad, good) && self.is_high(bad, good)
    }
}

/// K failures within a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Failures {
    threshold: usize,
    within_ms: i128,
    stamps: Vec<Moment>,
    /// Where in `stamps` the clock was last seen to have gone back.
    run: usize,
}

impl Failures {
    fn fail(&mut self, now: Moment) -> Verdicts {
        if self.stamps.last().is_some_and(|last| *last > now) {
            self.run = self.stamps.len();
        }
        self.stamps.push(now);
        self.judge(now)
    }

    fn judge(&self, now: Moment) -> Verdicts {
        let coarse = if WIDE { 0 } else { self.within_ms / 8_192 };
        let memory = if WIDE { 1 << 50 } else { 500 * self.within_ms };
        let surely = |stamp: &&Moment| now - **stamp <= self.within_ms;
        let perhaps = |stamp: &&Moment| {
            let apart = (now - **stamp).abs();
            apart <= self.within_ms + 2 * coarse || apart > memory
        };
        let least = self.stamps[self.run..].iter().filter(surely).count();
        let most = self.stamps.iter().filter(perhaps).count();
        Verdicts::between(least >= self.threshold, most >= self.threshold)
    }
}

/// A rate over buckets of time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Time {
    rate: Rate,
    buckets: i128,
    bucket_ms: i128,
    /// Each call's bucket, and whether it was bad.
    calls: Vec<(i128, bool)>,
    /// Where in `calls` the clock was last seen to have gone back.
    run: usize,
}

impl Time {
    fn take_in(&mut self, bad: bool, now: Moment) -> Verdicts {
        let bucket = self.shown(now);
        if self.calls.last().is_some_and(|(last, _)| *last > bucket) {
            self.run = self.calls.len();
        }
        self.calls.push((bucket, bad));
        self.judge(bad, bucket)
    }

    /// Buckets begin at multiples of their length of what the clock shows, which wraps.
    fn shown(&self, now: Moment) -> i128 {
        now.rem_euclid(if WIDE { 1 << 64 } else { 1 << 32 }) / self.bucket_ms
    }

    fn judge(&self, bad: bool, bucket: i128) -> Verdicts {
        let laps: i128 = if WIDE { 1 << 20 } else { 1 << 8 };
        let counts = |calls: &[(i128, bool)], kind: bool, memory: i128| {
            let within = |(at, _): &&(i128, bool)| {
                let age = bucket - at;
                (0..self.buckets).contains(&age) || age.abs() >= memory
            };
            let kept = calls.iter().filter(within);
            kept.filter(|(_, bad)| *bad == kind).count()
        };
        let memory = (laps - 2) * self.buckets;
        let run = &self.calls[self.run..];
        let (bad_least, good_least) = (counts(run, true, i128::MAX), counts(run, false, i128::MAX));
        let (bad_most, good_most) = (
            counts(&self.calls, true, memory),
            counts(&self.calls, false, memory),
        );
        let judged = bad || self.run == 0;
        let must_trip = judged
            && self.rate.fills(bad_least, good_least)
            && self.rate.is_high(bad_least, good_most);
        let few = good_least.max((self.rate.min_calls as usize).saturating_sub(bad_most));
        let may_trip = few <= good_most && self.rate.is_reached(bad_most, few);
        Verdicts::between(must_trip, may_trip)
    }
}
