//! Each trip with its recovery.

use nanobreaker::{Cause, Phase, Transition};

use crate::reading::Call;
use crate::replaying::tally::Tally;

/// From the trip until the breaker is closed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trip {
    pub(crate) key: u32,
    pub(crate) at_us: i64,
    pub(crate) cause: Cause,
    /// From the start of the trouble's first failed call to the trip; `None` where no call had
    /// failed, since slow ones tripped it.
    pub(crate) detection_delay_us: Option<u64>,
    /// The open time of the trip itself.
    pub(crate) open_for_ms: u32,
    /// How often it opened again before it closed.
    pub(crate) reopenings: u64,
    /// When it closed; `None` where the log ends before.
    pub(crate) recovered_at_us: Option<i64>,
    pub(crate) saved: u64,
    pub(crate) saved_us: u64,
    pub(crate) lost: u64,
}

/// The trips that are kept one by one; all are counted.
pub(crate) const MOST_KEPT: usize = 10_000;

/// What one breaker is going through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    trip: Option<Trip>,
    /// When calls began to be judged by the window: no trouble before that could be detected.
    judging_since_us: i64,
}

impl Course {
    pub(crate) const NEW: Self = Self { trip: None, judging_since_us: i64::MIN };

    /// The breaker changed its phase. Gives the trip back that this ended.
    pub(crate) fn follow(
        &mut self,
        key: u32,
        transition: &Transition,
        at_us: i64,
        trouble_since_us: Option<i64>,
        tally: &mut Tally,
    ) -> Option<Trip> {
        match transition.to {
            Phase::Open | Phase::Isolated => {
                if let Some(trip) = &mut self.trip {
                    trip.reopenings += 1;
                    tally.reopenings += 1;
                    return None;
                }
                let delay = trouble_since_us
                    .map(|since_us| at_us.saturating_sub(since_us.max(self.judging_since_us)).max(0) as u64);
                tally.trips += 1;
                tally.longest_detection_delay_us = tally.longest_detection_delay_us.max(delay.unwrap_or(0));
                self.trip = Some(Trip {
                    key,
                    at_us,
                    cause: transition.cause,
                    detection_delay_us: delay,
                    open_for_ms: transition.open_for_ms,
                    reopenings: 0,
                    recovered_at_us: None,
                    saved: 0,
                    saved_us: 0,
                    lost: 0,
                });
                None
            }
            Phase::Closed => {
                self.judging_since_us = at_us;
                let mut trip = self.trip.take()?;
                trip.recovered_at_us = Some(at_us);
                tally.not_closed_for(at_us.abs_diff(trip.at_us));
                Some(trip)
            }
            Phase::HalfOpen | Phase::Recovering | Phase::Disabled => None,
        }
    }

    /// A call was rejected.
    pub(crate) fn reject(&mut self, call: &Call, is_slow: bool) {
        if let Some(trip) = &mut self.trip {
            if call.failed() || is_slow {
                trip.saved += 1;
                trip.saved_us = trip.saved_us.saturating_add(call.duration_us());
            } else if matches!(call.outcome, nanobreaker::Outcome::Success) {
                trip.lost += 1;
            }
        }
    }

    /// The log is over: a trip that has not ended stays so.
    pub(crate) fn finish(&mut self, at_us: i64, tally: &mut Tally) -> Option<Trip> {
        let trip = self.trip.take()?;
        tally.not_closed_for(at_us.abs_diff(trip.at_us));
        Some(trip)
    }
}
