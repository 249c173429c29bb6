//! A call's reading of the clock, for windows that may hold times that are newer.

use crate::Clock;
use crate::state::Span;
use crate::sync::Raw;
use crate::window::call::Call;
use crate::window::judge::Verdict;
use crate::window::tagged::Stop;

/// How often a call reads the clock again.
const MOST_READINGS: u32 = 32;

/// A reading of the clock.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub(super) now: Raw,
    /// Times that are newer than `now` are from before the clock was set back. Who writes nothing takes that for
    /// granted.
    pub(super) was_set_back: bool,
}

impl Reading {
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
        let mut reading = Self { now: call.now(), was_set_back: false };
        let mut left = MOST_READINGS;
        loop {
            match judge(reading) {
                Ok(verdict) => return verdict,
                Err(Stop::Stale) => return Verdict::Stale,
                Err(Stop::Newer) => {}
            }
            let now = call.now();
            // The unit of one millisecond: only the order of the two readings matters.
            let advanced = Span::new(1, 1).is_ahead(now, reading.now, Raw::MAX);
            reading.was_set_back = !advanced || left == 0;
            reading.now = if advanced { now } else { reading.now };
            left = left.saturating_sub(1);
        }
    }
}
