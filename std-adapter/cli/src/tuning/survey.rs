//! What a log is like, whatever breaker might stand before it: its outages, and how much fails otherwise.

use crate::reading::{Keys, Ordered, ReadError};
use crate::replaying::{Event, Moment, feed};

/// Failures that make an outage of a trouble. Fewer are noise.
const FAILURES: u64 = 5;
/// Outages that are kept; a log with more has no need of the others.
const MOST: usize = 10_000;
/// A part of the log is large enough to be judged on if so many per cent of the failures are in it.
const LEAST_PERCENT: u64 = 20;

/// A dependency in trouble: from the start of its first failed call to the end of its last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outage {
    pub(crate) from_us: i64,
    pub(crate) to_us: i64,
    /// Calls that ended in it, and those of them that failed.
    pub(crate) calls: u64,
    pub(crate) failed: u64,
}

impl Outage {
    pub(crate) const fn length_us(&self) -> u64 {
        self.to_us.abs_diff(self.from_us)
    }
}

/// What a log is like.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// In the order in which they ended.
    pub(crate) outages: Vec<Outage>,
    pub(crate) calls: u64,
    pub(crate) failed: u64,
    span_us: Option<(i64, i64)>,
    under_way: Vec<Option<Outage>>,
}

impl Survey {
    /// Reads the logs through.
    pub(crate) fn of(logs: &mut Ordered) -> Result<Self, ReadError> {
        let mut survey = Self::default();
        feed(logs, |events: &[Event], _: &Keys| {
            events.iter().for_each(|event| survey.take_in(event));
            Ok::<(), ReadError>(())
        })?;
        for outage in std::mem::take(&mut survey.under_way) {
            survey.end(outage);
        }
        Ok(survey)
    }

    fn take_in(&mut self, event: &Event) {
        let at_us = event.at_us();
        self.span_us = Some(self.span_us.map_or((at_us, at_us), |(from_us, _)| (from_us, at_us)));
        if event.moment == Moment::Start {
            self.calls += 1;
            self.failed += u64::from(event.call.failed());
            return;
        }
        let index = event.call.key as usize;
        if self.under_way.len() <= index {
            self.under_way.resize(index + 1, None);
        }
        let Some(place) = self.under_way.get_mut(index) else {
            return;
        };
        match (event.trouble_since_us, &mut *place) {
            (None, Some(_)) => {
                let outage = place.take();
                self.end(outage);
            }
            (None, None) => {}
            (Some(from_us), place) => {
                let outage = place.get_or_insert(Outage { from_us, to_us: at_us, calls: 0, failed: 0 });
                outage.calls += 1;
                outage.from_us = outage.from_us.min(from_us);
                if event.call.failed() {
                    outage.failed += 1;
                    outage.to_us = at_us;
                }
            }
        }
    }

    fn end(&mut self, outage: Option<Outage>) {
        let outage = outage.filter(|outage| outage.failed >= FAILURES);
        if self.outages.len() < MOST {
            self.outages.extend(outage);
        }
    }

    /// The share of calls that fail outside of outages.
    pub(crate) fn normal(&self) -> f64 {
        let sum = |of: fn(&Outage) -> u64| self.outages.iter().map(of).sum::<u64>();
        let failed = self.failed.saturating_sub(sum(|outage| outage.failed));
        let calls = self.calls.saturating_sub(sum(|outage| outage.calls));
        failed as f64 / calls.max(1) as f64
    }

    /// The length that half of the outages don't exceed; `None` where there was none.
    pub(crate) fn usual_outage_us(&self) -> Option<u64> {
        let mut lengths: Vec<u64> = self.outages.iter().map(Outage::length_us).collect();
        lengths.sort_unstable();
        lengths.get(lengths.len().checked_sub(1)? / 2).copied()
    }

    /// Where to split the log, so that what is found in the first part can be judged on the second: between
    /// two outages, or in the middle where there is none. `None` where one part would hold hardly a failure.
    pub(crate) fn split_us(&self) -> Option<i64> {
        let (from_us, to_us) = self.span_us?;
        let mut outages = self.outages.clone();
        outages.sort_by_key(|outage| outage.from_us);
        let all: u64 = outages.iter().map(|outage| outage.failed).sum();
        if all == 0 {
            return Some(from_us + (to_us - from_us) / 2);
        }
        let (mut before, mut latest_us) = (0, i64::MIN);
        let mut best: Option<(u64, i64)> = None;
        for pair in outages.windows(2) {
            let [one, next] = pair else {
                continue;
            };
            before += one.failed;
            latest_us = latest_us.max(one.to_us);
            let smaller = before.min(all - before);
            let is_gap = latest_us < next.from_us && smaller * 100 >= all * LEAST_PERCENT;
            if is_gap && best.is_none_or(|(known, _)| smaller > known) {
                best = Some((smaller, latest_us + (next.from_us - latest_us) / 2));
            }
        }
        best.map(|(_, split_us)| split_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outage(from_us: i64, to_us: i64, failed: u64) -> Outage {
        Outage { from_us, to_us, calls: failed, failed }
    }

    #[test]
    fn what_fails_outside_of_outages_is_normal() {
        let survey =
            Survey { outages: vec![outage(100, 200, 50)], calls: 1_050, failed: 60, ..Survey::default() };
        assert_eq!(survey.normal(), 0.01);
        assert_eq!(Survey::default().normal(), 0.0);
    }

    #[test]
    fn the_split_lies_between_two_outages_with_much_on_either_side() {
        let survey = |outages: &[Outage]| Survey {
            outages: outages.to_vec(),
            span_us: Some((0, 1_000)),
            ..Survey::default()
        };
        let split = |outages: &[Outage]| survey(outages).split_us();
        assert_eq!(split(&[]), Some(500));
        assert_eq!(split(&[outage(100, 200, 50)]), None);
        assert_eq!(split(&[outage(100, 200, 50), outage(400, 500, 50)]), Some(300));
        // Hardly anything to judge on.
        assert_eq!(split(&[outage(100, 200, 99), outage(400, 500, 5)]), None);
        // At once, of two breakers.
        assert_eq!(split(&[outage(100, 300, 50), outage(200, 400, 50)]), None);
    }
}
