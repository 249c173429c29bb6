//! What a breaker knows about a moment, given a clock that can jump.
//!
//! Time is a plain number here that never wraps; a clock shows it modulo its range. Where words are
//! wide a question about it has one answer. Where they are narrow, times are kept in coarser units, and
//! there are all the answers that the documentation of `Config` allows.

use std::ops::RangeInclusive;

use super::settings::{CLOCK, WIDE};

/// Milliseconds without end, in both directions.
pub type Moment = i128;

/// A moment that is known to lie between two.
pub type About = RangeInclusive<Moment>;

/// A length of time, and how exactly a breaker keeps times of that length.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub ms: i128,
    /// What rounding may add.
    pub late: i128,
    /// After so many milliseconds a time looks the same again, or later.
    range: i128,
    /// Whether it is over at once where the clock was set back by more than an eighth of it.
    ends_soon: bool,
    /// After so many milliseconds it is over. It may have begun as far ahead of the clock; further ahead is
    /// nonsense.
    pub whole: i128,
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
    /// An open time, or a ramp.
    pub const fn open(ms: i128) -> Self {
        Self {
            ms,
            late: if WIDE || ms < 1 << 12 { 0 } else { ms >> 11 },
            range: if WIDE { 1 << 42 } else { CLOCK },
            ends_soon: false,
            whole: ms,
        }
    }

    /// The time since closing within which a trip is one in a row.
    pub const fn relapse(ms: i128) -> Self {
        Self { ms, whole: ms + 1, ..Self::open(ms + 1) }
    }

    /// An open time that was set anew after the clock was set back.
    pub const fn again(self) -> Self {
        Self { ends_soon: true, ..self }
    }

    pub const fn lease(ms: i128) -> Self {
        let late = match (WIDE, ms) {
            (true, 0..0x40_0000) | (false, 0..16) => 0,
            (true, _) => 31,
            (false, _) => ms / 8,
        };
        Self {
            late,
            range: if !WIDE && ms < 1_024 { 1 << 25 } else { CLOCK },
            ends_soon: true,
            ..Self::open(ms)
        }
    }

    /// When a time of `ms` that is set at `now` ends.
    pub const fn ends(self, now: Moment, ms: i128) -> About {
        now + ms..=now + ms + self.late
    }

    /// What is left until a deadline.
    pub fn left(self, deadline: &About, now: Moment) -> Vec<Left> {
        let furthest = deadline.end() - now;
        if self.comes_round_early() && furthest.abs() > self.range / 2 {
            let most = self.ms + (self.ms + 7) / 8 + self.late;
            return vec![Left::Due, Left::Pending(1..=most)];
        }
        let most = furthest.rem_euclid(self.range);
        let least = most - (deadline.end() - deadline.start());
        self.left_between(least, most)
    }

    fn left_between(self, least: i128, most: i128) -> Vec<Left> {
        let Self { ms, late, .. } = self;
        // Where times are kept in units, the limits lie within a unit of these.
        let unit = if late == 0 { 0 } else { late + 1 };
        let (pending, beyond) = if self.ends_soon {
            let slack = ms + (ms + 7) / 8;
            (slack, slack)
        } else {
            (ms, 2 * ms)
        };
        let mut all = Vec::new();
        if least <= 0 || most > beyond - unit {
            all.push(Left::Due);
        }
        if most > 0 && least <= pending + unit {
            all.push(Left::Pending(least.max(1)..=most.min(pending + unit)));
        }
        if !self.ends_soon && most > pending && least <= beyond + 2 * unit {
            all.push(Left::Beyond);
        }
        if most <= pending {
            // What lies within its length is there.
            all.retain(|left| *left != Left::Due || least <= 0);
        }
        all
    }

    /// Whether times of this span look the same again before the clock does.
    const fn comes_round_early(self) -> bool {
        !WIDE && self.range < CLOCK
    }

    /// What has passed since a moment. Up to a span ahead of the clock nothing has; further ahead is
    /// nonsense, and over.
    pub fn elapsed(self, since: &About, now: Moment) -> Vec<Elapsed> {
        let Self { ms, late, whole, .. } = self;
        let unit = if late == 0 { 0 } else { late + 1 };
        let width = since.end() - since.start();
        let least = (now - since.end()).rem_euclid(self.range);
        // As near to zero as it can be, on either side.
        let least = if least > self.range / 2 { least - self.range } else { least };
        let most = least + width;
        let mut all = Vec::new();
        if most > ms - unit || least < unit - whole {
            all.push(Elapsed::Over);
        }
        if least <= ms + unit && most >= -whole - 2 * unit {
            let within = (least - unit).max(0)..=(most + unit).clamp(0, ms + unit);
            all.push(Elapsed::Within(within));
        }
        all
    }
}

impl Left {
    /// In milliseconds; a deadline beyond its span is never waited for longer than that.
    pub fn ms(&self, span: Span) -> RangeInclusive<i128> {
        match self {
            Self::Due => 0..=0,
            Self::Pending(range) => range.clone(),
            Self::Beyond => span.ms..=span.ms,
        }
    }
}
