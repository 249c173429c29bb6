//! What a breaker may know about a moment, given a clock that can jump.
//!
//! Time is a plain number here that never wraps. A question about it has one answer where words are
//! wide and the moment lies within their memory; else all the answers that the documentation
//! allows.

use std::ops::RangeInclusive;

use super::settings::WIDE;

/// Milliseconds without end, in both directions.
pub type Moment = i128;

/// How exactly a length of time is kept.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    ms: i128,
    /// A deadline may seem this much nearer than it is,
    early: i128,
    /// or this much further.
    late: i128,
    /// A moment this near can be told from any other.
    memory: i128,
}

/// How a deadline may look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    Due,
    Pending(RangeInclusive<i128>),
    /// Further ahead than it can be: the clock was set back.
    Beyond,
}

/// How much time may seem to have passed since a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elapsed {
    Within(RangeInclusive<i128>),
    Over,
}

impl Span {
    /// An open time or a ramp: never late.
    pub fn open(ms: i128) -> Self {
        let early = if WIDE { 0 } else { ms / 128 };
        let memory = if WIDE {
            (1 << 44) - 4 * ms
        } else {
            (250 * ms).min((1 << 32) - 4 * ms)
        };
        Self {
            ms,
            early,
            late: 0,
            memory,
        }
    }

    /// The healthy time after which a trip is a first one again.
    pub fn flap(ms: i128) -> Self {
        let memory = if WIDE { (1 << 43) - 4 * ms } else { 120 * ms };
        Self {
            memory,
            ..Self::open(ms)
        }
    }

    /// A lease: never early.
    pub fn lease(ms: i128) -> Self {
        let (late, memory) = match (WIDE, ms < 1 << 23) {
            (true, true) => (0, (1 << 25) - 4 * ms),
            (true, false) => (15, (1 << 25) - 4 * ms),
            (false, _) => (ms / 8, ms),
        };
        Self {
            ms,
            early: 0,
            late,
            memory,
        }
    }

    fn slack(self) -> i128 {
        self.early + self.late
    }

    /// What is left until `deadline`. A deadline more than twice the span ahead is none.
    pub fn left(self, deadline: Moment, now: Moment) -> Vec<Left> {
        let ahead = deadline - now;
        let slack = self.slack();
        if ahead.abs() > self.memory {
            return vec![
                Left::Due,
                Left::Pending(1..=self.ms + 2 * slack),
                Left::Beyond,
            ];
        }
        let mut all = Vec::new();
        if ahead <= self.early || ahead > 2 * self.ms - slack {
            all.push(Left::Due);
        }
        if -self.late < ahead && ahead <= self.ms + 2 * slack {
            let nearest = (ahead - self.early).max(1);
            all.push(Left::Pending(nearest..=(ahead + self.late).max(nearest)));
        }
        if self.ms - slack < ahead && ahead <= 2 * self.ms + 3 * slack {
            all.push(Left::Beyond);
        }
        all
    }

    /// What is left until a deadline from `earliest` to `latest`.
    pub fn left_between(self, earliest: Moment, latest: Moment, now: Moment) -> Vec<Left> {
        let mut all = self.left(latest, now);
        if earliest == latest {
            return all;
        }
        let mut nearest = latest - now;
        for left in self.left(earliest, now) {
            match left {
                Left::Pending(range) => nearest = nearest.min(*range.start()),
                // Due by the earlier one: perhaps 1 ms is left, too.
                Left::Due => {
                    nearest = 1;
                    all.push(left);
                }
                Left::Beyond => all.push(left),
            }
        }
        for left in &mut all {
            if let Left::Pending(range) = left {
                *range = nearest.min(*range.start())..=*range.end();
            }
        }
        all
    }

    /// What has passed since `since`. Up to a span ahead of the clock nothing has; further ahead is
    /// nonsense, and over.
    pub fn elapsed(self, since: Moment, now: Moment) -> Vec<Elapsed> {
        let passed = now - since;
        let slack = self.slack();
        if passed.abs() > self.memory {
            return vec![Elapsed::Over, Elapsed::Within(0..=self.ms)];
        }
        let mut all = Vec::new();
        if passed > self.ms - slack || passed < -self.ms + slack {
            all.push(Elapsed::Over);
        }
        if -self.ms - 2 * slack <= passed && passed <= self.ms + 2 * slack {
            let least = (passed - slack).max(0);
            all.push(Elapsed::Within(least..=(passed + slack).max(least)));
        }
        all
    }
}

impl Left {
    /// In milliseconds; a deadline beyond its span is never waited for longer than that.
    pub fn ms(&self, span_ms: i128) -> RangeInclusive<i128> {
        match self {
            Self::Due => 0..=0,
            Self::Pending(range) => range.clone(),
            Self::Beyond => span_ms..=span_ms,
        }
    }
}
