//! opossum's default rule, written out.
//!
//! Source: opossum 9, `lib/circuit.js` (`fail`, `close`, the timer behind `open`) and `lib/status.js`:
//! a failure opens where more than half of the calls *fired* in the last ten one-second buckets failed,
//! however few there were; rejected calls count as fired. Open for 30 s, then one trial call. Here a call
//! counts as fired when it ends, which is in its favour where failing calls hang, and its time limit of
//! 10 s for a call is left out.

use crate::detection::rule::{Attention, Outcome, Reply, Rule, Ticket};
use crate::detection::windows::Buckets;

const BUCKET_MS: f64 = 1_000.0;
const BUCKETS: usize = 10;
const OPEN_MS: f64 = 30_000.0;
/// A failure opens where more than one in so many failed.
const ONE_IN: u64 = 2;

/// opossum as it comes.
pub struct Opossum {
    state: State,
    /// Fired and failed.
    stats: Buckets,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Closed,
    Open { until: f64 },
    HalfOpen,
}

impl Default for Opossum {
    fn default() -> Self {
        Self { state: State::Closed, stats: Buckets::new(BUCKETS) }
    }
}

fn lap(time: f64) -> u64 {
    (time / BUCKET_MS) as u64
}

impl Opossum {
    fn fired(&mut self, calls: u64, at: f64) {
        self.stats.turn(lap(at));
        self.stats.add([calls, 0]);
    }
}

impl Rule for Opossum {
    fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    fn allow(&mut self, now: f64) -> Reply {
        self.fired(1, now);
        match self.state {
            State::Closed => Reply::Granted(Ticket(0)),
            State::Open { until } if now < until => Reply::Rejected { until },
            State::Open { .. } => {
                self.state = State::HalfOpen;
                Reply::Granted(Ticket(0))
            }
            State::HalfOpen => Reply::Rejected { until: f64::INFINITY },
        }
    }

    fn record(&mut self, _: Ticket, outcome: Outcome, now: f64) {
        self.stats.turn(lap(now));
        if outcome == Outcome::Success {
            if self.state == State::HalfOpen {
                self.state = State::Closed;
            }
            return;
        }
        self.stats.add([0, 1]);
        let [fired, failed] = self.stats.sum;
        if self.state == State::HalfOpen || failed * ONE_IN > fired {
            self.state = State::Open { until: now + OPEN_MS };
        }
    }

    fn attention(&self, now: f64) -> Attention {
        let [fired, failed] = self.stats.sum;
        let turned = self.stats.lap() < lap(now);
        Attention::Counted {
            until: (lap(now) + 1) as f64 * BUCKET_MS,
            before_failure: turned || (failed + 1) * ONE_IN > fired,
        }
    }

    fn succeeded(&mut self, calls: u64, from: f64) {
        self.fired(calls, from);
    }

    fn rejected(&mut self, calls_per_ms: f64, from: f64, to: f64) {
        // What is older is out of the buckets.
        let mut from = from.max(to - BUCKET_MS * BUCKETS as f64);
        while from < to {
            let end = ((lap(from) + 1) as f64 * BUCKET_MS).min(to);
            self.fired((calls_per_ms * (end - from)).round() as u64, from);
            from = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(rule: &mut Opossum, now: f64, failed: bool) {
        let Reply::Granted(ticket) = rule.allow(now) else {
            panic!("rejected at {now}");
        };
        rule.record(ticket, Outcome::of(failed), now);
    }

    #[test]
    fn the_first_call_opens_it_where_it_fails() {
        let mut rule = Opossum::default();
        play(&mut rule, 0.0, true);
        assert!(!rule.is_closed());
    }

    #[test]
    fn exactly_half_is_not_enough() {
        let mut rule = Opossum::default();
        rule.succeeded(5, 0.0);
        for _ in 0..5 {
            play(&mut rule, 10.0, true);
        }
        assert!(rule.is_closed());
        play(&mut rule, 10.0, true);
        assert!(!rule.is_closed());
    }

    #[test]
    fn after_thirty_seconds_one_call_decides_and_rejected_calls_count_as_fired() {
        let mut rule = Opossum::default();
        play(&mut rule, 0.0, true);
        assert_eq!(rule.allow(1.0), Reply::Rejected { until: OPEN_MS });
        rule.rejected(0.01, 1.0, OPEN_MS);
        let trial = rule.allow(OPEN_MS);
        assert_eq!(trial, Reply::Granted(Ticket(0)));
        assert!(matches!(rule.allow(OPEN_MS), Reply::Rejected { .. }));
        rule.record(Ticket(0), Outcome::Success, OPEN_MS + 20.0);
        assert!(rule.is_closed());
        // About a hundred rejected calls stand against it.
        for _ in 0..20 {
            play(&mut rule, OPEN_MS + 30.0, true);
        }
        assert!(rule.is_closed());
    }
}
