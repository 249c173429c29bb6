//! The real core on a manual clock, as a rule.

use std::rc::Rc;

use nanobreaker_core::{Breaker, Config, ManualClock, Phase, Token, window};

use crate::detection::rule::{Attention, Outcome, Reply, Rule, Ticket};
use crate::detection::windows::{Shared, Window};

/// A breaker of the core, and what its window must be told of successes.
pub struct Guarded<W: window::Window> {
    breaker: Breaker<W, ManualClock>,
    watch: Watch,
}

/// What a window must be told of successes.
pub enum Watch {
    /// Nothing: it counts failures only.
    Failures,
    /// Each, until as many came as surely leave nothing of the failures before.
    Fading(Fading),
    /// What this window says.
    Window(Rc<dyn Window>),
}

/// How many more successes surely bring a sum back to 0.
#[derive(Clone, Copy, Debug)]
pub struct Fading {
    left: u32,
    per_failure: u32,
    most: u32,
}

impl Fading {
    /// For failures in a row: any success ends the row.
    pub const ROW: Self = Self { left: 0, per_failure: 1, most: 1 };

    /// For the cumulative sum with these settings.
    pub fn of_sum(settings: nanobreaker_core::CusumSettings) -> Self {
        let (normal, broken) = (f64::from(settings.normal_ppm) / 1e6, f64::from(settings.broken_ppm) / 1e6);
        let success = ((1.0 - normal) / (1.0 - broken)).ln();
        // The core rounds a failure's weight down and a success's up, so that it takes no more.
        let successes = |sum: f64| (sum / success).ceil() as u32;
        Self {
            left: 0,
            per_failure: successes((broken / normal).ln()),
            most: successes((settings.calls_per_false_trip as f64).ln()),
        }
    }
}

impl<W: window::Window<Settings = Config>> Guarded<W> {
    /// A closed breaker.
    pub fn new(window: W, config: Config, watch: Watch) -> Self {
        Self { breaker: Breaker::new(window, config, ManualClock::new(0)), watch }
    }
}

impl<T: Window + 'static> Guarded<window::Custom<Shared<T>>> {
    /// A closed breaker with a window that counts many successes at once.
    pub fn counting(window: T, config: Config) -> Self {
        let window = Rc::new(window);
        let policy = window::Custom(Shared(Rc::clone(&window)));
        Self::new(policy, config, Watch::Window(window))
    }
}

impl<W: window::Window> Guarded<W> {
    fn set_clock(&self, now: f64) {
        self.breaker.clock().set(now as u64);
        if let Watch::Window(window) = &self.watch {
            window.set_clock(now);
        }
    }
}

impl<W: window::Window> Rule for Guarded<W> {
    fn is_closed(&self) -> bool {
        self.breaker.phase() == Phase::Closed
    }

    fn allow(&mut self, now: f64) -> Reply {
        self.set_clock(now);
        match self.breaker.allow_token() {
            Ok(token) => Reply::Granted(Ticket(token.to_bits())),
            Err(rejected) => Reply::Rejected {
                until: rejected.retry_after_ms().map_or(f64::INFINITY, |ms| now.floor() + f64::from(ms)),
            },
        }
    }

    fn record(&mut self, ticket: Ticket, outcome: Outcome, now: f64) {
        self.set_clock(now);
        let was_closed = self.is_closed();
        let told = match outcome {
            Outcome::Success => nanobreaker_core::Outcome::Success,
            Outcome::Failure => nanobreaker_core::Outcome::Failure,
        };
        self.breaker.record(Token::from_bits(ticket.0), told);
        let begins = !was_closed && self.is_closed();
        match &mut self.watch {
            Watch::Failures => {}
            Watch::Fading(fading) => match outcome {
                _ if begins => fading.left = 0,
                Outcome::Success => fading.left = fading.left.saturating_sub(1),
                Outcome::Failure => {
                    fading.left = (fading.left + fading.per_failure).min(fading.most);
                }
            },
            Watch::Window(window) if begins => window.clear(),
            Watch::Window(_) => {}
        }
    }

    fn attention(&self, now: f64) -> Attention {
        match &self.watch {
            Watch::Failures => Attention::Nothing,
            Watch::Fading(fading) if fading.left == 0 => Attention::Nothing,
            Watch::Fading(fading) => Attention::Next(fading.left),
            Watch::Window(window) => {
                window.set_clock(now);
                window.attention()
            }
        }
    }

    fn succeeded(&mut self, calls: u64, at: f64) {
        self.set_clock(at);
        match &mut self.watch {
            Watch::Window(window) if !matches!(window.attention(), Attention::Next(_)) => {
                window.add(calls, at);
                return;
            }
            Watch::Fading(fading) => fading.left = fading.left.saturating_sub(calls as u32),
            _ => {}
        }
        for _ in 0..calls {
            // Closed, it grants all.
            if let Ok(permit) = self.breaker.allow() {
                permit.success();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detection::chance::Chance;
    use crate::detection::rules::{EVIDENCE, EVIDENCE_SUSTAINED};
    use nanobreaker_core::CusumSettings;
    use nanobreaker_core::window::{Consecutive, Cusum};

    fn told(rule: &mut dyn Rule, failed: bool, now: f64) {
        if let Reply::Granted(ticket) = rule.allow(now) {
            rule.record(ticket, Outcome::of(failed), now);
        }
    }

    /// Plays the same calls to a rule that is told of each and to one that is told what it asks for.
    fn is_the_same_when_told_less(make: impl Fn() -> Box<dyn Rule>, failing: f64) {
        let mut chance = Chance::new(5);
        let [mut each, mut less] = [make(), make()];
        let (mut now, mut trips) = (0.0, 0);
        for _ in 0..400_000 {
            now += chance.wait() * 10.0;
            // Now and then it fails more often, so that some trips come.
            let share = if (now as u64 / 1_000).is_multiple_of(50) { 0.5 } else { failing };
            let failed = chance.happens(share);
            let is_left_out = !failed && less.attention(now) == Attention::Nothing;
            told(&mut *each, failed, now);
            if !is_left_out || !less.is_closed() {
                told(&mut *less, failed, now);
            }
            assert_eq!(each.is_closed(), less.is_closed());
            if !each.is_closed() {
                trips += 1;
                [each, less] = [make(), make()];
            }
        }
        assert!(trips > 10, "{trips}");
    }

    #[test]
    fn successes_that_a_sum_of_0_is_not_told_of_change_nothing() {
        let quicker = CusumSettings { calls_per_false_trip: 10_000, ..EVIDENCE };
        for settings in [EVIDENCE, EVIDENCE_SUSTAINED, quicker] {
            let make = || -> Box<dyn Rule> {
                let watch = Watch::Fading(Fading::of_sum(settings));
                let window = Cusum::new(settings).unwrap();
                Box::new(Guarded::new(window, Config::DEFAULT, watch))
            };
            is_the_same_when_told_less(make, 0.05);
        }
    }

    #[test]
    fn successes_that_an_ended_row_is_not_told_of_change_nothing() {
        let make = || -> Box<dyn Rule> {
            let window = Consecutive::new(6).unwrap();
            Box::new(Guarded::new(window, Config::DEFAULT, Watch::Fading(Fading::ROW)))
        };
        is_the_same_when_told_less(make, 0.1);
    }

    #[test]
    fn a_ring_is_told_of_failures_only() {
        let make = || -> Box<dyn Rule> {
            let window = nanobreaker_core::window::Failures::<5>::within_ms(1_000).unwrap();
            Box::new(Guarded::new(window, Config::DEFAULT, Watch::Failures))
        };
        is_the_same_when_told_less(make, 0.005);
    }
}
