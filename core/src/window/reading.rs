//! A call's reading of the clock, for windows that may hold times that are newer.

use crate::Clock;
use crate::sync::{Raw, Signed};
use crate::window::call::{Call, Stop};
use crate::window::judge::Verdict;

/// How often a call reads the clock again: each time this is halved.
const PATIENCE: u32 = 1 << 31;

/// A reading of the clock.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub(super) now: Raw,
    patience: u32,
}

impl Reading {
    /// The last reading of who writes nothing.
    pub(super) fn last<C: Clock>(call: &Call<'_, C>) -> Self {
        Self { now: call.now(), patience: 0 }
    }

    /// Whether times that are newer than this reading are from before the clock was set back.
    pub(super) fn was_set_back(self) -> bool {
        self.patience == 0
    }

    /// What `judge` says by the clock. Where it meets a newer time this thread stalled after it read the
    /// clock, or the clock was set back.
    ///
    /// The clock is read again while that brings a later reading: a thread may stall more than once. What is
    /// still newer afterwards is from before the clock was set back. So it is after 32 readings: a clock that
    /// goes on between any two readings must not keep a call here for as long as it was set back.
    #[inline]
    pub(super) fn judged<C: Clock>(
        call: &Call<'_, C>,
        mut judge: impl FnMut(Self) -> Result<Verdict, Stop>,
    ) -> Verdict {
        let mut reading = Self { now: call.now(), patience: PATIENCE };
        loop {
            match judge(reading) {
                Ok(verdict) => return verdict,
                Err(Stop::Stale) => return Verdict::Stale,
                Err(Stop::Turned) => continue,
                Err(Stop::Newer) => {}
            }
            let now = call.now();
            let advanced = now.wrapping_sub(reading.now) as Signed > 0;
            let patience = if advanced { reading.patience >> 1 } else { 0 };
            reading = Self { now: if advanced { now } else { reading.now }, patience };
        }
    }
}
