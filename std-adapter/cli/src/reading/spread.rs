//! Times in whole seconds: the calls of one second are spread evenly over it, in the order of their lines.
//!
//! Without that all calls of a second would happen at once, and a breaker would see bursts that never were.

use crate::reading::call::Call;
use crate::reading::record::TimeIs;

const SECOND_US: i64 = 1_000_000;
/// So many calls of one second are held back; beyond, they are spread as they are.
const MOST_HELD: usize = 1 << 20;

/// Spreads calls that come in the order of their times.
#[derive(Debug)]
pub(crate) struct Spread {
    /// Which of a call's times is the one in whole seconds.
    time_is: TimeIs,
    /// Calls of the second that is not over.
    held: Vec<Call>,
}

impl Spread {
    pub(crate) fn new(time_is: TimeIs) -> Self {
        Self { time_is, held: Vec::new() }
    }

    /// Takes the next calls in and gives back those whose second is over.
    pub(crate) fn pass(&mut self, calls: Vec<Call>) -> Vec<Call> {
        let mut all = std::mem::take(&mut self.held);
        all.extend(calls);
        let Some(last_us) = all.last().map(|call| self.time(call)) else {
            return all;
        };
        let is_last = |call: &Call| self.time(call) == last_us;
        let kept = all.iter().rposition(|call| !is_last(call)).map_or(0, |index| index + 1);
        if all.len() - kept < MOST_HELD {
            self.held = all.split_off(kept);
        }
        self.spread(&mut all);
        all
    }

    /// No further calls come.
    pub(crate) fn finish(&mut self) -> Vec<Call> {
        let mut all = std::mem::take(&mut self.held);
        self.spread(&mut all);
        all
    }

    fn time(&self, call: &Call) -> i64 {
        match self.time_is {
            TimeIs::Start => call.start_us,
            TimeIs::End => call.end_us,
        }
    }

    fn spread(&self, calls: &mut [Call]) {
        for second in calls.chunk_by_mut(|a, b| self.time(a) == self.time(b)) {
            let count = second.len() as i64;
            for (index, call) in (0..).zip(second) {
                let offset_us = SECOND_US * index / count;
                call.start_us += offset_us;
                call.end_us += offset_us;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nanobreaker::Outcome;

    fn calls(seconds: &[i64]) -> Vec<Call> {
        let call = |second: &i64| Call {
            start_us: second * SECOND_US,
            end_us: second * SECOND_US + 5,
            key: 0,
            outcome: Outcome::Success,
        };
        seconds.iter().map(call).collect()
    }

    #[test]
    fn the_calls_of_a_second_are_spread_over_it_across_the_parts_in_which_they_come() {
        let mut spread = Spread::new(TimeIs::Start);
        let mut all = spread.pass(calls(&[1, 1]));
        assert_eq!(all, []);
        all.extend(spread.pass(calls(&[1, 1, 2, 3])));
        all.extend(spread.finish());
        let starts: Vec<_> = all.iter().map(|call| call.start_us / 1_000).collect();
        assert_eq!(starts, [1_000, 1_250, 1_500, 1_750, 2_000, 3_000]);
        assert!(all.iter().all(|call| call.duration_us() == 5));
    }
}
