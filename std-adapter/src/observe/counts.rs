//! Counts of calls, in stripes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use nanobreaker_core::window::Stripes;
use nanobreaker_core::{Outcome, Phase};

use crate::stripes::ThreadStripes;

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
    /// See [`Outcome::Ignored`].
    pub ignored: u64,
    /// See [`Outcome::Cancelled`].
    pub cancelled: u64,
}

impl CallCounts {
    /// All of them.
    pub const fn total(&self) -> u64 {
        self.success + self.slow + self.failure + self.ignored + self.cancelled
    }

    /// Each count with its outcome's name.
    #[cfg(feature = "metrics")]
    pub(crate) const fn named(&self) -> [(&'static str, u64); 5] {
        [
            ("success", self.success),
            ("slow", self.slow),
            ("failure", self.failure),
            ("ignored", self.ignored),
            ("cancelled", self.cancelled),
        ]
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
}

const OUTCOMES: usize = 5;
const REJECTIONS: usize = 4;

/// One thread's counters: two cache lines of its own, since processors fetch them in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe {
    calls: [AtomicU64; OUTCOMES],
    probes: [AtomicU64; OUTCOMES],
    rejections: [AtomicU64; REJECTIONS],
}

/// Counters that threads don't share, as long as there are no more of them than processors.
#[derive(Debug)]
pub(super) struct Meter(Box<[Stripe]>);

impl Meter {
    /// 128 bytes for each processor.
    pub(super) fn new() -> Self {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let stripes = processors.next_power_of_two().min(64);
        Self((0..stripes).map(|_| Stripe::default()).collect())
    }

    #[inline]
    fn stripe(&self) -> Option<&Stripe> {
        // The number of stripes is a power of two.
        self.0.get(ThreadStripes.stripe() & (self.0.len() - 1))
    }

    #[inline]
    pub(super) fn call(&self, outcome: Outcome, is_probe: bool) {
        if let Some(stripe) = self.stripe() {
            step(&stripe.calls, outcome as usize);
            if is_probe {
                step(&stripe.probes, outcome as usize);
            }
        }
    }

    pub(super) fn rejection(&self, phase: Phase) {
        let place = match phase {
            Phase::HalfOpen => 1,
            Phase::Recovering => 2,
            Phase::Isolated => 3,
            Phase::Open | Phase::Closed | Phase::Disabled => 0,
        };
        if let Some(stripe) = self.stripe() {
            step(&stripe.rejections, place);
        }
    }

    /// The sums, each right for some moment of this reading.
    pub(super) fn counts(&self) -> Counts {
        let [success, slow, failure, ignored, cancelled] = self.sum(|stripe| &stripe.calls);
        let calls = CallCounts {
            success,
            slow,
            failure,
            ignored,
            cancelled,
        };
        let [success, slow, failure, ignored, cancelled] = self.sum(|stripe| &stripe.probes);
        let probes = CallCounts {
            success,
            slow,
            failure,
            ignored,
            cancelled,
        };
        let [open, half_open, recovering, isolated] = self.sum(|stripe| &stripe.rejections);
        Counts {
            calls,
            probes,
            rejections: RejectionCounts {
                open,
                half_open,
                recovering,
                isolated,
            },
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
fn step(row: &[AtomicU64], place: usize) {
    if let Some(counter) = row.get(place) {
        // Relaxed: counters order nothing.
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// The order of `calls` and `probes` in a stripe.
const _: () = {
    assert!(Outcome::Success as usize == 0);
    assert!(Outcome::Slow as usize == 1);
    assert!(Outcome::Failure as usize == 2);
    assert!(Outcome::Ignored as usize == 3);
    assert!(Outcome::Cancelled as usize == 4);
    assert!(size_of::<Stripe>() == 128);
};
