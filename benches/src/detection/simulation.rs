//! One rule in one weather.
//!
//! Nothing is drawn before it matters. Calls begin as a Poisson process and all that fail take equally
//! long, so they end as a Poisson process, too; and so do those that succeed. While a rule is closed it
//! is told of each failure where it ends, and of successes what its state needs ([`Attention`]). While it
//! is not closed, a rejection says until when all are rejected; what those would have been enters with its
//! mean. Outcomes of calls that began before a trip count for nothing after it.

use std::collections::VecDeque;

use crate::detection::chance::Chance;
use crate::detection::rule::{Attention, Outcome, Reply, Rule, Ticket};
use crate::detection::weather::{Reader, Stretch, Weather};

/// What happened, in calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Good calls rejected while the dependency was well.
    pub rejected_in_vain: f64,
    /// Good calls rejected in outages.
    pub rejected_in_outages: f64,
    /// Calls let through in outages that failed.
    pub doomed: f64,
    /// How often it tripped.
    pub trips: u64,
    /// For how long it was closed, in milliseconds.
    pub closed_ms: f64,
}

/// A rule in a weather, at some time.
pub struct Simulation<'a> {
    rule: &'a mut dyn Rule,
    weather: &'a Weather,
    chance: Chance,
    now: f64,
    /// The calls that began since then are judged.
    closed_from: f64,
    /// Up to here it was told of successes, or none ended that is judged.
    told_to: f64,
    next_burst: usize,
    /// Calls that began while it was not closed, in the order in which they end.
    under_way: VecDeque<UnderWay>,
    beginnings: Reader,
    failures: Reader,
    successes: Reader,
    tally: Tally,
}

/// A call that will end.
struct UnderWay {
    ends: f64,
    ticket: Ticket,
    outcome: Outcome,
}

/// Whichever comes first while a rule is closed.
#[derive(Clone, Copy)]
enum Event {
    Failure,
    CallEnds,
    Burst,
    CountIsDue,
    End,
}

impl<'a> Simulation<'a> {
    /// At the beginning; calls have been coming for ever.
    pub fn new(rule: &'a mut dyn Rule, weather: &'a Weather, chance: Chance) -> Self {
        Self {
            rule,
            weather,
            chance,
            now: 0.0,
            closed_from: 0.0,
            told_to: 0.0,
            next_burst: 0,
            under_way: VecDeque::new(),
            beginnings: Reader::default(),
            failures: Reader::default(),
            successes: Reader::default(),
            tally: Tally::default(),
        }
    }

    /// Plays on to this time.
    pub fn run_until(&mut self, end: f64) -> Tally {
        while self.now < end {
            if self.rule.is_closed() {
                self.play_closed(end);
            } else {
                self.play_shut(end);
            }
        }
        self.tally
    }

    /// Plays on until the rule is closed.
    pub fn run_until_closed(&mut self) {
        while !self.rule.is_closed() {
            self.play_shut(self.now + 1_000.0);
        }
    }

    /// Plays on until the rule trips, where each call fails with this probability and ends at once, and
    /// is told of. Returns how many calls that took, or `None` where it took more than `most`.
    pub fn calls_until_trip(&mut self, failing: f64, most: u64) -> Option<u64> {
        self.tell_all(self.rule.attention(self.now));
        for call in 1..=most {
            self.now += self.chance.wait() / self.weather.calls_per_ms();
            let failed = self.chance.happens(failing);
            self.play_call(Outcome::of(failed), self.now);
            if !self.rule.is_closed() {
                return Some(call);
            }
        }
        None
    }

    fn play_closed(&mut self, end: f64) {
        let began = self.now;
        let mut failure_at = self.next_failure();
        let mut burst_at = self.next_burst_at();
        while self.rule.is_closed() && self.now < end {
            let (mut at, mut event) = (end, Event::End);
            let mut or_first = |other, what| {
                if other < at {
                    (at, event) = (other, what);
                }
            };
            or_first(failure_at, Event::Failure);
            or_first(self.next_end(), Event::CallEnds);
            or_first(burst_at, Event::Burst);
            let attention = self.tell_next(at);
            if !self.rule.is_closed() {
                self.now = self.told_to;
                break;
            }
            if let Attention::Counted { until, .. } = attention
                && until < at
            {
                (at, event) = (until, Event::CountIsDue);
            }
            self.now = at;
            match event {
                Event::Failure => {
                    self.tell_before_failure(attention);
                    self.end_failure();
                    failure_at = self.next_failure();
                }
                Event::CallEnds => {
                    self.tell_before_failure(attention);
                    self.end_call();
                }
                Event::Burst => {
                    self.tell_all(attention);
                    self.play_burst();
                    burst_at = self.next_burst_at();
                }
                Event::CountIsDue => self.tell_count(),
                Event::End => {}
            }
        }
        self.tally.closed_ms += self.now - began;
        if !self.rule.is_closed() {
            self.tally.trips += 1;
            self.under_way.clear();
            self.doom_under_way();
        }
    }

    /// Calls that began before the trip and will fail after it.
    fn doom_under_way(&mut self) {
        let from = (self.now - self.weather.failure_takes).max(self.closed_from);
        let rate = self.weather.calls_per_ms();
        for part in self.weather.between(from, self.now).filter(|part| part.is_outage) {
            self.tally.doomed += rate * part.length() * part.failing;
        }
    }

    /// Tells the rule of the next successes before this time, as many as it asks for. Returns what it asks
    /// for then.
    #[inline]
    fn tell_next(&mut self, before: f64) -> Attention {
        loop {
            let from = self.told_to.max(self.now);
            let attention = self.rule.attention(from);
            let calls = match attention {
                Attention::Next(calls) => calls,
                Attention::Nothing => 0,
                Attention::Last | Attention::Counted { .. } => return attention,
            };
            let (mut ended, mut last) = (0, from);
            while ended < u64::from(calls) {
                let ends = self.next_success(last);
                if ends >= before {
                    break;
                }
                (ended, last) = (ended + 1, ends);
            }
            if ended > 0 {
                self.rule.succeeded(ended, last);
            }
            if ended < u64::from(calls) || calls == 0 {
                // Waits have no memory: what was drawn beyond may be drawn anew.
                self.told_to = self.told_to.max(before);
                return attention;
            }
            self.told_to = last;
            if !self.rule.is_closed() {
                return attention;
            }
        }
    }

    /// Open or half-open.
    fn play_shut(&mut self, end: f64) {
        let arrives = self.now + self.chance.wait() / self.weather.calls_per_ms();
        let first_end = self.next_end();
        if first_end <= arrives.min(end) {
            self.now = first_end;
            self.end_call();
            if self.rule.is_closed() {
                self.closed_from = self.now;
                self.told_to = self.now + self.weather.success_takes;
            }
            return;
        }
        if arrives > end {
            self.now = end;
            return;
        }
        self.now = arrives;
        match self.rule.allow(arrives) {
            Reply::Granted(ticket) => self.begin(ticket),
            Reply::Rejected { until } => {
                let stretch = *self.beginnings.at(self.weather, arrives);
                self.reject(1.0 - stretch.failing, stretch.is_outage);
                self.reject_until(until.min(first_end).min(end));
            }
        }
    }

    fn reject(&mut self, good_calls: f64, in_outage: bool) {
        if in_outage {
            self.tally.rejected_in_outages += good_calls;
        } else {
            self.tally.rejected_in_vain += good_calls;
        }
    }

    fn reject_until(&mut self, until: f64) {
        if until <= self.now {
            return;
        }
        let (weather, rate) = (self.weather, self.weather.calls_per_ms());
        for part in weather.between(self.now, until) {
            self.reject(rate * part.length() * (1.0 - part.failing), part.is_outage);
        }
        self.rule.rejected(rate, self.now, until);
        self.now = until;
    }

    /// A granted call begins, whose outcome is drawn.
    fn begin(&mut self, ticket: Ticket) {
        let stretch = *self.beginnings.at(self.weather, self.now);
        let outcome = Outcome::of(self.chance.happens(stretch.failing));
        let takes = match outcome {
            Outcome::Success => self.weather.success_takes,
            Outcome::Failure => self.weather.failure_takes,
        };
        if outcome == Outcome::Failure && stretch.is_outage {
            self.tally.doomed += 1.0;
        }
        self.take_under_way(takes, ticket, outcome);
    }

    /// A call ends that failed.
    fn end_failure(&mut self) {
        let began = self.began(self.now, self.weather.failure_takes);
        let stretch = self.failures.at(self.weather, began);
        self.tally.doomed += f64::from(u8::from(stretch.is_outage));
        self.play_call(Outcome::Failure, self.now);
    }

    /// When a call began that ends now and took so long.
    fn began(&self, ends: f64, takes: f64) -> f64 {
        (ends - takes).max(self.closed_from)
    }

    #[inline]
    fn take_under_way(&mut self, takes: f64, ticket: Ticket, outcome: Outcome) {
        let call = UnderWay { ends: self.now + takes, ticket, outcome };
        // Mostly the last one.
        match self.under_way.back() {
            Some(last) if last.ends > call.ends => {
                let place = self.under_way.partition_point(|other| other.ends <= call.ends);
                self.under_way.insert(place, call);
            }
            _ => self.under_way.push_back(call),
        }
    }

    fn end_call(&mut self) {
        if let Some(call) = self.under_way.pop_front() {
            self.rule.record(call.ticket, call.outcome, self.now);
        }
    }

    /// A whole call at one instant.
    fn play_call(&mut self, outcome: Outcome, now: f64) {
        if let Reply::Granted(ticket) = self.rule.allow(now) {
            self.rule.record(ticket, outcome, now);
        }
    }

    fn play_burst(&mut self) {
        let calls = self.weather.bursts()[self.next_burst].calls;
        self.next_burst += 1;
        let tickets: Vec<_> = (0..calls)
            .filter_map(|_| match self.rule.allow(self.now) {
                Reply::Granted(ticket) => Some(ticket),
                Reply::Rejected { .. } => None,
            })
            .collect();
        for ticket in tickets {
            self.rule.record(ticket, Outcome::Failure, self.now);
        }
    }

    /// When the next burst strikes. Those that struck while it was not closed struck no call that counts.
    fn next_burst_at(&mut self) -> f64 {
        let bursts = self.weather.bursts();
        while let Some(burst) = bursts.get(self.next_burst) {
            if burst.at >= self.now {
                return burst.at;
            }
            self.next_burst += 1;
        }
        f64::INFINITY
    }

    fn next_end(&self) -> f64 {
        self.under_way.front().map_or(f64::INFINITY, |call| call.ends)
    }

    /// When the next call ends that failed.
    fn next_failure(&mut self) -> f64 {
        let takes = self.weather.failure_takes;
        let (began, wait) = (self.began(self.now, takes), self.chance.wait());
        let failing = |stretch: &Stretch| stretch.failing;
        takes + self.failures.time_of(self.weather, began, wait, failing)
    }

    /// When the next call ends that succeeded.
    #[inline]
    fn next_success(&mut self, from: f64) -> f64 {
        let takes = self.weather.success_takes;
        let (began, wait) = (self.began(from, takes), self.chance.wait());
        let good = |stretch: &Stretch| 1.0 - stretch.failing;
        takes + self.successes.time_of(self.weather, began, wait, good)
    }

    fn tell_before_failure(&mut self, attention: Attention) {
        let may_wait = matches!(attention, Attention::Counted { before_failure: false, .. });
        if !may_wait {
            self.tell_all(attention);
        }
    }

    fn tell_all(&mut self, attention: Attention) {
        match attention {
            Attention::Counted { .. } => self.tell_count(),
            Attention::Last => self.tell_last(),
            Attention::Nothing | Attention::Next(_) => {}
        }
    }

    /// Draws how many calls succeeded since the rule was told.
    fn tell_count(&mut self) {
        let takes = self.weather.success_takes;
        let (from, to) = (self.told_to, self.now);
        if from >= to {
            return;
        }
        let expected: f64 = self
            .weather
            .between(self.began(from, takes), self.began(to, takes))
            .map(|part| part.length() * (1.0 - part.failing))
            .sum();
        let calls = self.chance.count(expected * self.weather.calls_per_ms());
        self.rule.succeeded(calls, from);
        self.told_to = to;
    }

    /// Draws when the last call succeeded since the rule was told, if one did.
    fn tell_last(&mut self) {
        let takes = self.weather.success_takes;
        let (from, to) = (self.told_to, self.now);
        if from >= to {
            return;
        }
        let weather = self.weather;
        let began = self.began(from, takes)..self.began(to, takes);
        for part in weather.between(began.start, began.end).rev() {
            let rate = weather.calls_per_ms() * (1.0 - part.failing);
            let before_its_end = self.chance.wait() / rate;
            if before_its_end < part.length() {
                self.play_call(Outcome::Success, part.to - before_its_end + takes);
                break;
            }
        }
        self.told_to = to;
    }
}
