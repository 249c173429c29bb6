//! Windows of the core, written so that a whole stretch of successes counts at once.
//!
//! A day at 10,000 calls a second has 864 million of them. The core's own windows over calls and over
//! time take in one after another; the ones here take a number, and decide as the core's do: see the
//! tests. The breaker around them is the core's.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use nanobreaker_core::Outcome;
use nanobreaker_core::window::Policy;

use crate::detection::rule::Attention;

/// A window that takes in many successes at once.
pub trait Window {
    /// Takes in one call; returns whether to trip.
    fn take(&self, failed: bool) -> bool;
    /// Takes in so many successes, the first of them not before `from`.
    fn add(&self, successes: u64, from: f64);
    /// What it must be told of successes.
    fn attention(&self) -> Attention;
    /// The time from here on.
    fn set_clock(&self, now: f64);
    /// Forgets all calls.
    fn clear(&self);
}

/// A window as the policy of the core's breaker.
pub struct Shared<W>(pub Rc<W>);

impl<W: Window> Policy for Shared<W> {
    // Its user clears it where a generation begins.
    fn trips(&self, outcome: Outcome, _generation: u16) -> bool {
        self.0.take(outcome != Outcome::Success)
    }
}

/// So many of the last hundred calls failed, once there are a hundred; the core's `Calls` of this size and
/// minimum.
pub struct LastHundred {
    trips_at: u32,
    /// One bit a call, the last one lowest.
    failed: Cell<u128>,
    calls: Cell<u32>,
}

const HUNDRED: u32 = 100;

impl LastHundred {
    /// Trips where so many failed.
    pub fn new(trips_at: u32) -> Self {
        Self { trips_at, failed: Cell::new(0), calls: Cell::new(0) }
    }

    fn push(&self, calls: u64, lowest: u128) {
        let kept = u32::try_from(calls).unwrap_or(u32::MAX);
        let shifted = self.failed.get().checked_shl(kept).unwrap_or(0);
        self.failed.set((shifted | lowest) & ((1 << HUNDRED) - 1));
        self.calls.set(self.calls.get().saturating_add(kept).min(HUNDRED));
    }
}

impl Window for LastHundred {
    fn take(&self, failed: bool) -> bool {
        self.push(1, u128::from(failed));
        self.calls.get() == HUNDRED && self.failed.get().count_ones() >= self.trips_at
    }

    fn add(&self, successes: u64, _from: f64) {
        self.push(successes, 0);
    }

    fn attention(&self) -> Attention {
        if self.calls.get() < HUNDRED {
            // The success that makes it a hundred may trip.
            Attention::Next(HUNDRED - self.calls.get())
        } else if self.failed.get() == 0 {
            Attention::Nothing
        } else {
            Attention::Counted { until: f64::INFINITY, before_failure: true }
        }
    }

    fn set_clock(&self, _now: f64) {}

    fn clear(&self) {
        self.failed.set(0);
        self.calls.set(0);
    }
}

/// At least a share of the calls of some time failed; the core's `Time`, judged at failures only.
pub struct SharePerTime {
    bucket_ms: f64,
    share: f64,
    min_calls: u64,
    now: Cell<f64>,
    buckets: RefCell<Buckets>,
}

impl SharePerTime {
    /// The time slides by one of `buckets` buckets.
    pub fn new(span_ms: f64, buckets: usize, share: f64, min_calls: u64) -> Self {
        Self {
            bucket_ms: span_ms / buckets as f64,
            share,
            min_calls,
            now: Cell::new(0.0),
            buckets: RefCell::new(Buckets::new(buckets)),
        }
    }

    fn lap(&self, time: f64) -> u64 {
        (time / self.bucket_ms) as u64
    }
}

impl Window for SharePerTime {
    fn take(&self, failed: bool) -> bool {
        let mut buckets = self.buckets.borrow_mut();
        buckets.turn(self.lap(self.now.get()));
        buckets.add([u64::from(!failed), u64::from(failed)]);
        let [good, bad] = buckets.sum;
        failed && good + bad >= self.min_calls && bad as f64 >= (good + bad) as f64 * self.share
    }

    fn add(&self, successes: u64, from: f64) {
        let mut buckets = self.buckets.borrow_mut();
        buckets.turn(self.lap(from));
        buckets.add([successes, 0]);
    }

    fn attention(&self) -> Attention {
        let mut buckets = self.buckets.borrow_mut();
        let lap = self.lap(self.now.get());
        buckets.turn(lap);
        // More successes than are known of only make the share smaller.
        let [good, bad] = buckets.sum;
        let failures = (bad + 1) as f64;
        Attention::Counted {
            until: (lap + 1) as f64 * self.bucket_ms,
            before_failure: failures >= (failures + good as f64) * self.share,
        }
    }

    fn set_clock(&self, now: f64) {
        self.now.set(now);
    }

    fn clear(&self) {
        self.buckets.borrow_mut().clear();
    }
}

/// Two counts for each bucket of a sliding time.
pub struct Buckets {
    lap: u64,
    counts: Vec<[u64; 2]>,
    /// Over all buckets.
    pub sum: [u64; 2],
}

impl Buckets {
    /// So many empty ones.
    pub fn new(buckets: usize) -> Self {
        Self { lap: 0, counts: vec![[0; 2]; buckets], sum: [0; 2] }
    }

    /// The present bucket's number.
    pub fn lap(&self) -> u64 {
        self.lap
    }

    /// Goes to the bucket with this number, and forgets those that are out of the time then. Never goes
    /// back.
    #[inline]
    pub fn turn(&mut self, lap: u64) {
        if lap <= self.lap {
            return;
        }
        let size = self.counts.len() as u64;
        let first_new = (self.lap + 1).max((lap + 1).saturating_sub(size));
        for passed in first_new..=lap {
            let left = std::mem::take(&mut self.counts[(passed % size) as usize]);
            self.sum = [self.sum[0] - left[0], self.sum[1] - left[1]];
        }
        self.lap = lap;
    }

    /// Counts in the present bucket.
    pub fn add(&mut self, more: [u64; 2]) {
        let size = self.counts.len() as u64;
        let bucket = &mut self.counts[(self.lap % size) as usize];
        for (place, more) in more.into_iter().enumerate() {
            bucket[place] += more;
            self.sum[place] += more;
        }
    }

    /// Empties all.
    pub fn clear(&mut self) {
        self.counts.fill([0; 2]);
        self.sum = [0; 2];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detection::chance::Chance;
    use nanobreaker_core::window::{Calls, Time, calls_words};
    use nanobreaker_core::{Breaker, Config, ManualClock, Phase, Rate};

    /// A failure rate that sometimes comes near the threshold.
    fn failing(chance: &mut Chance, present: f64) -> f64 {
        if chance.happens(0.01) { chance.share() } else { present }
    }

    #[test]
    fn half_of_the_last_hundred_decides_as_the_cores_window_does() {
        let mut chance = Chance::new(1);
        let breaker = || {
            let window = Calls::<{ calls_words(100) }>::new(100, Rate::percent(50).min_calls(100)).unwrap();
            Breaker::new(window, Config::DEFAULT, ManualClock::new(0))
        };
        let (mut core, ours) = (breaker(), LastHundred::new(50));
        let (mut rate, mut trips, mut waiting) = (0.3, 0, 0);
        for _ in 0..500_000 {
            rate = failing(&mut chance, rate);
            let failed = chance.happens(rate);
            let outcome = if failed { Outcome::Failure } else { Outcome::Success };
            let permit = core.allow().unwrap();
            permit.record(outcome);
            // Successes wait to be counted at once wherever they may.
            let may_wait = !failed && !matches!(ours.attention(), Attention::Next(_));
            let trips_too = if may_wait {
                waiting += 1;
                false
            } else {
                ours.add(std::mem::take(&mut waiting), 0.0);
                ours.take(failed)
            };
            assert_eq!(core.phase() == Phase::Open, trips_too);
            if trips_too {
                trips += 1;
                core = breaker();
                ours.clear();
            }
        }
        assert!(trips > 100, "{trips}");
    }

    #[test]
    fn a_share_per_time_decides_as_the_cores_window_does_at_failures() {
        let mut chance = Chance::new(2);
        let clock = ManualClock::new(0);
        let breaker = || {
            let window = Time::<10>::new(1_000, 10, Rate::percent(20).min_calls(20)).unwrap();
            Breaker::new(window, Config::DEFAULT, &clock)
        };
        let (mut core, ours) = (breaker(), SharePerTime::new(1_000.0, 10, 0.2, 20));
        let (mut rate, mut now, mut trips) = (0.1, 0_u64, 0);
        let (mut waiting, mut waiting_from) = (0, 0.0);
        for _ in 0..500_000 {
            now += (chance.wait() * 20.0) as u64;
            clock.set(now);
            rate = failing(&mut chance, rate);
            let failed = chance.happens(rate * 0.5);
            let Attention::Counted { until, before_failure } = ours.attention() else {
                panic!("it asks for numbers");
            };
            if now as f64 >= until || (failed && before_failure) {
                ours.add(std::mem::take(&mut waiting), waiting_from);
                waiting_from = now as f64;
            }
            ours.set_clock(now as f64);
            let trips_too = if failed {
                ours.take(true)
            } else {
                waiting += 1;
                false
            };
            let outcome = if failed { Outcome::Failure } else { Outcome::Success };
            core.allow().unwrap().record(outcome);
            let core_trips = core.phase() == Phase::Open;
            // At a success only the core judges.
            assert!(core_trips == trips_too || !failed);
            if core_trips {
                trips += usize::from(failed);
                core = breaker();
                ours.clear();
                waiting = 0;
            }
        }
        assert!(trips > 100, "{trips}");
    }
}
