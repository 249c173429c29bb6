//! Counts of calls, in stripes.

use std::sync::atomic::{AtomicU64, Ordering};

use nanobreaker_core::{Outcome, Phase};

use crate::stripes::{enough, own_number};

/// Calls that were made, by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CallCounts {
    /// See [`Outcome::Success`].
    pub success: u64,
    /// See [`Outcome::Slow`].
    pub slow: u64,
    /// See [`Outcome::Failure`].
    pub failure: u64,
    /// See [`Outcome::SlowFailure`].
    pub slow_failure: u64,
    /// See [`Outcome::Ignored`].
    pub ignored: u64,
    /// See [`Outcome::Cancelled`].
    pub cancelled: u64,
}

impl CallCounts {
    /// All of them.
    pub const fn total(&self) -> u64 {
        self.success + self.slow + self.failure + self.slow_failure + self.ignored + self.cancelled
    }

    /// What windows judge by, each count with its outcome's name.
    #[cfg(feature = "metrics")]
    pub(crate) const fn judged(&self) -> [(&'static str, u64); 4] {
        [
            ("success", self.success),
            ("slow", self.slow),
            ("failure", self.failure),
            ("slow_failure", self.slow_failure),
        ]
    }

    /// What no window counts.
    #[cfg(feature = "metrics")]
    pub(crate) const fn unjudged(&self) -> [(&'static str, u64); 2] {
        [("ignored", self.ignored), ("cancelled", self.cancelled)]
    }
}

impl From<[u64; OUTCOMES]> for CallCounts {
    fn from([success, slow, failure, slow_failure, ignored, cancelled]: [u64; OUTCOMES]) -> Self {
        Self { success, slow, failure, slow_failure, ignored, cancelled }
    }
}

impl From<CallCounts> for [u64; OUTCOMES] {
    fn from(counts: CallCounts) -> Self {
        [counts.success, counts.slow, counts.failure, counts.slow_failure, counts.ignored, counts.cancelled]
    }
}

/// Calls that were rejected, by the phase that rejected them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RejectionCounts {
    /// While open.
    pub open: u64,
    /// While half-open, with all places for probes taken.
    pub half_open: u64,
    /// While recovering, outside the growing share.
    pub recovering: u64,
    /// While isolated.
    pub isolated: u64,
}

impl RejectionCounts {
    /// All of them.
    pub const fn total(&self) -> u64 {
        self.open + self.half_open + self.recovering + self.isolated
    }

    /// Each count with its phase.
    #[cfg(feature = "metrics")]
    pub(crate) const fn by_phase(&self) -> [(Phase, u64); 4] {
        [
            (Phase::Open, self.open),
            (Phase::HalfOpen, self.half_open),
            (Phase::Recovering, self.recovering),
            (Phase::Isolated, self.isolated),
        ]
    }
}

/// What a breaker did since it is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Counts {
    /// Calls that were made, probes among them.
    pub calls: CallCounts,
    /// Probes of half-open breakers.
    pub probes: CallCounts,
    /// Calls that were rejected.
    pub rejections: RejectionCounts,
    /// Transitions to open.
    pub trips: u64,
}

impl Counts {
    /// What was counted since there was `before`.
    pub(super) fn since(self, before: Self) -> Self {
        let less = |now: CallCounts, before: CallCounts| {
            let (now, before) = (<[u64; OUTCOMES]>::from(now), <[u64; OUTCOMES]>::from(before));
            CallCounts::from(std::array::from_fn(|i| now[i].saturating_sub(before[i])))
        };
        let (now, was) = (self.rejections, before.rejections);
        Self {
            calls: less(self.calls, before.calls),
            probes: less(self.probes, before.probes),
            rejections: RejectionCounts {
                open: now.open.saturating_sub(was.open),
                half_open: now.half_open.saturating_sub(was.half_open),
                recovering: now.recovering.saturating_sub(was.recovering),
                isolated: now.isolated.saturating_sub(was.isolated),
            },
            trips: self.trips.saturating_sub(before.trips),
        }
    }
}

const OUTCOMES: usize = 6;
const REJECTIONS: usize = 4;

/// One thread's counters: two cache lines of its own, since processors fetch them in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe {
    calls: [AtomicU64; OUTCOMES],
    probes: [AtomicU64; OUTCOMES],
    rejections: [AtomicU64; REJECTIONS],
}

/// Counters that threads don't share, as long as there are no more of them than processors. The last stripe
/// is for all other threads.
#[derive(Debug)]
pub(crate) struct Meter(Box<[Stripe]>);

impl Meter {
    /// 128 bytes for each processor, and 128 more.
    pub(crate) fn new() -> Self {
        Self((0..=enough()).map(|_| Stripe::default()).collect())
    }

    /// The present thread's stripe, and whether no other thread writes to it.
    #[inline]
    fn stripe(&self) -> Option<(&Stripe, bool)> {
        let (shared, own) = self.0.split_last()?;
        match own_number().and_then(|number| own.get(number)) {
            Some(stripe) => Some((stripe, true)),
            None => Some((shared, false)),
        }
    }

    #[inline]
    pub(crate) fn call(&self, outcome: Outcome, is_probe: bool) {
        if let Some((stripe, is_own)) = self.stripe() {
            step(&stripe.calls, outcome as usize, is_own);
            if is_probe {
                step(&stripe.probes, outcome as usize, is_own);
            }
        }
    }

    pub(crate) fn rejection(&self, phase: Phase) {
        let place = match phase {
            Phase::HalfOpen => 1,
            Phase::Recovering => 2,
            Phase::Isolated => 3,
            Phase::Open | Phase::Closed | Phase::Disabled => 0,
        };
        if let Some((stripe, is_own)) = self.stripe() {
            step(&stripe.rejections, place, is_own);
        }
    }

    /// The sums, each right for some moment of this reading. It meters calls alone, so there are no trips.
    pub(crate) fn counts(&self) -> Counts {
        let [open, half_open, recovering, isolated] = self.sum(|stripe| &stripe.rejections);
        Counts {
            calls: CallCounts::from(self.sum(|stripe| &stripe.calls)),
            probes: CallCounts::from(self.sum(|stripe| &stripe.probes)),
            rejections: RejectionCounts { open, half_open, recovering, isolated },
            trips: 0,
        }
    }

    fn sum<const N: usize>(&self, row: impl Fn(&Stripe) -> &[AtomicU64; N]) -> [u64; N] {
        let mut sums = [0; N];
        for stripe in &self.0 {
            for (sum, counter) in sums.iter_mut().zip(row(stripe)) {
                // Relaxed: counters order nothing.
                *sum += counter.load(Ordering::Relaxed);
            }
        }
        sums
    }
}

#[inline]
fn step(row: &[AtomicU64], place: usize, is_own: bool) {
    if let Some(counter) = row.get(place) {
        // Relaxed: counters order nothing. What only this thread writes needs no exchange; a thread that
        // has its number later has it through a lock, and so finds what was written.
        if is_own {
            let count = counter.load(Ordering::Relaxed);
            counter.store(count.wrapping_add(1), Ordering::Relaxed);
        } else {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The order of `calls` and `probes` in a stripe.
const _: () = {
    assert!(Outcome::Success as usize == 0);
    assert!(Outcome::Slow as usize == 1);
    assert!(Outcome::Failure as usize == 2);
    assert!(Outcome::SlowFailure as usize == 3);
    assert!(Outcome::Ignored as usize == 4);
    assert!(Outcome::Cancelled as usize == 5);
    assert!(size_of::<Stripe>() == 128);
};
