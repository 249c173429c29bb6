//! What a breaker had seen when it tripped, told by the calls themselves.
//!
//! This decides nothing: the core did. It remembers the last outcomes that the core counted, and tells those
//! that lie in what the window looks at.

use alloc::collections::VecDeque;

use nanobreaker_core::{Cause, Outcome, Settings, WindowSettings};
use serde::Serialize;

/// More than the largest window of calls has, and ten seconds of thousands of calls. A window over a time may have
/// seen more; then this is about the last ones.
const MOST_REMEMBERED: usize = 65_536;

/// Without a number of calls in its settings, a window's evidence is shown among so many of the last ones.
const SHOWN: usize = 100;

/// What there was to see at a trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// So many calls had ended,
    pub calls: u32,
    /// of which so many were bad: failed or, where slow calls are judged apart and tripped it, slow,
    pub bad: u32,
    /// within so many milliseconds.
    pub over_ms: u64,
}

/// The last outcomes that counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent(VecDeque<(u64, Outcome)>);

impl Recent {
    pub(crate) fn note(&mut self, at_ms: u64, outcome: Outcome) {
        if self.0.len() == MOST_REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((at_ms, outcome));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// What the window that tripped had before it.
    pub(crate) fn evidence(&self, settings: &Settings, cause: Cause) -> Evidence {
        let by_slow = cause == Cause::SlowThresholdReached;
        let judged_apart = settings.slow_window.is_some();
        let is_bad = |outcome: Outcome| match outcome {
            Outcome::Slow => by_slow || !judged_apart,
            Outcome::SlowFailure => true,
            Outcome::Failure => !by_slow,
            _ => false,
        };
        let window = match settings.slow_window {
            Some(window) if by_slow => window,
            _ => settings.window,
        };
        let newest_ms = self.0.back().map_or(0, |(at_ms, _)| *at_ms);
        let mut evidence = Evidence { calls: 0, bad: 0, over_ms: 0 };
        for (at_ms, outcome) in self.0.iter().rev() {
            let over_ms = newest_ms.saturating_sub(*at_ms);
            let is_past = match window {
                WindowSettings::Failures { threshold, .. } | WindowSettings::Consecutive { threshold } => {
                    evidence.bad >= threshold
                }
                WindowSettings::Calls { size, .. } => evidence.calls >= size,
                WindowSettings::Time { span_ms, .. } => over_ms >= span_ms,
                WindowSettings::Cusum(_) => evidence.calls as usize >= SHOWN,
            };
            if is_past {
                break;
            }
            evidence.calls += 1;
            evidence.bad += u32::from(is_bad(*outcome));
            evidence.over_ms = over_ms;
        }
        evidence
    }
}
