//! The default rule of the crate failsafe, written out: its own clock can't be set from outside a
//! closure, and its jitter not be seeded.
//!
//! Source: failsafe 1.3, `failure_policy.rs`, `ema.rs`, `backoff.rs` and `state_machine.rs`: an
//! exponential average of successes over 30 s falls below 0.8, at least 30 s after closing, or five fail
//! in a row. Open for 10 s, doubling to 300 s, of which the second half is random; then all calls pass
//! until the first one ends, which decides. The least of five calls within 30 s is left out: at one call a
//! second and more there are always so many.

use crate::detection::chance::Chance;
use crate::detection::rule::{Attention, Outcome, Reply, Rule, Ticket};

const WINDOW_MS: f64 = 30_000.0;
const REQUIRED: f64 = 0.8;
const IN_A_ROW: u32 = 5;
const FIRST_OPEN_S: u64 = 10;
const LONGEST_OPEN_S: u64 = 300;

/// failsafe as it comes.
pub struct Failsafe {
    state: State,
    /// Stepped where it opens: outcomes of calls from before count for nothing.
    generation: u32,
    closed_at: f64,
    average: Option<Average>,
    row: u32,
    /// Openings by the average and by failures in a row; each has its own backoff.
    openings: [u32; 2],
    chance: Chance,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Closed,
    Open { until: f64, delay: f64 },
    HalfOpen { delay: f64 },
}

#[derive(Clone, Copy)]
struct Average {
    at: f64,
    value: f64,
}

impl Failsafe {
    /// Closed, with this seed for its jitter.
    pub fn new(seed: u64) -> Self {
        Self {
            state: State::Closed,
            generation: 0,
            closed_at: 0.0,
            average: None,
            row: 0,
            openings: [0; 2],
            chance: Chance::new(seed),
        }
    }

    fn averaged(&mut self, value: f64, now: f64) -> f64 {
        let averaged = match self.average {
            None => value,
            Some(before) => {
                let kept = (-(now - before.at) / WINDOW_MS).exp();
                value * (1.0 - kept) + before.value * kept
            }
        };
        self.average = Some(Average { at: now, value: averaged });
        averaged
    }

    fn backoff(&mut self, which: usize) -> f64 {
        let longest = (FIRST_OPEN_S << self.openings[which].min(30)).min(LONGEST_OPEN_S);
        self.openings[which] += 1;
        let half = longest / 2;
        let jitter = (self.chance.share() * (half + 1) as f64) as u64;
        (half + jitter) as f64 * 1_000.0
    }

    /// For how long it opens after one more failure, if it does.
    fn dead_for(&mut self, now: f64) -> Option<f64> {
        let average = self.averaged(0.0, now);
        self.row += 1;
        let by_average = now - self.closed_at >= WINDOW_MS && average < REQUIRED;
        let by_row = self.row >= IN_A_ROW;
        let average_delay = by_average.then(|| self.backoff(0));
        let row_delay = by_row.then(|| self.backoff(1));
        match (average_delay, row_delay) {
            (Some(one), Some(other)) => Some(one.max(other)),
            (one, other) => one.or(other),
        }
    }

    fn close(&mut self, now: f64) {
        self.state = State::Closed;
        self.closed_at = now;
        self.average = None;
        self.row = 0;
        self.openings = [0; 2];
    }

    fn open(&mut self, delay: f64, now: f64) {
        self.generation += 1;
        self.state = State::Open { until: now + delay, delay };
    }
}

impl Rule for Failsafe {
    fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    fn allow(&mut self, now: f64) -> Reply {
        match self.state {
            State::Open { until, .. } if now < until => return Reply::Rejected { until },
            State::Open { delay, .. } => self.state = State::HalfOpen { delay },
            State::Closed | State::HalfOpen { .. } => {}
        }
        Reply::Granted(Ticket(self.generation))
    }

    fn record(&mut self, ticket: Ticket, outcome: Outcome, now: f64) {
        if ticket.0 != self.generation {
            return;
        }
        match (outcome, self.state) {
            (Outcome::Success, state) => {
                if state != State::Closed {
                    self.close(now);
                }
                self.averaged(1.0, now);
                self.row = 0;
            }
            (Outcome::Failure, State::HalfOpen { delay }) => {
                let delay = self.dead_for(now).unwrap_or(delay);
                self.open(delay, now);
            }
            (Outcome::Failure, _) => {
                if let Some(delay) = self.dead_for(now) {
                    self.open(delay, now);
                }
            }
        }
    }

    fn attention(&self, _: f64) -> Attention {
        // An average that only successes come to depends on the last of them alone.
        Attention::Last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(rule: &mut Failsafe, now: f64, failed: bool) {
        let Reply::Granted(ticket) = rule.allow(now) else {
            panic!("rejected at {now}");
        };
        rule.record(ticket, Outcome::of(failed), now);
    }

    #[test]
    fn five_in_a_row_open_it_for_five_to_ten_seconds() {
        let mut rule = Failsafe::new(1);
        for _ in 0..4 {
            play(&mut rule, 10.0, true);
        }
        assert!(rule.is_closed());
        play(&mut rule, 10.0, true);
        let Reply::Rejected { until } = rule.allow(11.0) else {
            panic!("it is open");
        };
        assert!((5_010.0..=10_010.0).contains(&until), "{until}");
    }

    #[test]
    fn the_average_depends_on_the_last_success_only() {
        let mut told_of_each = Failsafe::new(1);
        let mut told_of_last = Failsafe::new(1);
        for rule in [&mut told_of_each, &mut told_of_last] {
            play(rule, 100.0, true);
        }
        for second in 1..=40 {
            play(&mut told_of_each, f64::from(second) * 1_000.0, false);
        }
        play(&mut told_of_last, 40_000.0, false);
        let values = [told_of_each, told_of_last].map(|rule| rule.average.unwrap().value);
        assert!((values[0] - values[1]).abs() < 1e-12, "{values:?}");
    }

    #[test]
    fn failed_trials_double_the_open_time_and_a_good_one_ends_that() {
        let mut rule = Failsafe::new(1);
        for _ in 0..5 {
            play(&mut rule, 0.0, true);
        }
        play(&mut rule, 20_000.0, true);
        let Reply::Rejected { until } = rule.allow(20_001.0) else {
            panic!("it is open");
        };
        assert!((30_000.0..=40_000.0).contains(&until), "{until}");
        play(&mut rule, 40_000.0, false);
        assert!(rule.is_closed());
        assert_eq!(rule.openings, [0; 2]);
    }
}
