//! Whole fleets on one clock that the test sets: real breakers, the real rules, and a network that drops,
//! doubles, delays and reorders. Each seed is another course of events; failures name theirs.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use fastrand::Rng;
use nanobreaker_core::window::Failures;
use nanobreaker_core::{Breaker, Cause, Config, ManualClock, Observer, Outcome, Phase, Token, Transition};

use super::member::{Act, Member, Now};
use super::message::{Group, News, Report, Said};
use super::outbox::Outbox;
use super::store::Store;

const STEP_MS: u64 = 5;
const OPEN_MS: u32 = 10_000;
const MAX_OPEN_MS: u32 = 20_000;
const PROBE_MS: u32 = 2_000;
/// How long a call takes.
const CALL_MS: u64 = 5;
/// After a gap, what is in force is asked for within this time.
const SYNC_SPREAD_MS: u64 = 2_000;

const TIMING: Now = Now {
    ms: 0,
    open_for_ms: OPEN_MS,
    max_open_ms: MAX_OPEN_MS,
    probe_ms: PROBE_MS,
    counts_requests: false,
    is_held: false,
};

#[derive(Default)]
struct Recorder(RefCell<Vec<Transition>>);

impl Observer for Recorder {
    fn transition(&self, transition: &Transition) {
        self.0.borrow_mut().push(*transition);
    }
}

struct Instance {
    breaker: Breaker<Failures<5>, &'static ManualClock, Recorder>,
    rules: Member,
    /// Which memory of the store it knows.
    run: u64,
    group: Group,
    /// Between two calls, on average.
    every_ms: u64,
    next_call_ms: u64,
    under_way: Vec<(Token, u64)>,
    /// Before this time nothing happens here, unless something is heard.
    wakes_ms: u64,
    is_poisoned: bool,
    is_dead: bool,
    stopped_at_ms: Option<u64>,
    advised: u32,
    /// What it has to tell a store that is gone.
    unsent: Outbox,
}

impl Instance {
    fn sleep(&mut self) {
        let ends_ms = self.under_way.iter().map(|(_, ends_ms)| *ends_ms);
        self.wakes_ms = ends_ms.chain(self.rules.next_ms()).fold(self.next_call_ms, u64::min);
    }
}

/// How bad the network is.
#[derive(Clone, Copy)]
struct Network {
    drops_percent: u32,
    doubles_percent: u32,
    most_delay_ms: u64,
}

const GOOD: Network = Network { drops_percent: 0, doubles_percent: 0, most_delay_ms: 2 };
const BAD: Network = Network { drops_percent: 20, doubles_percent: 20, most_delay_ms: 3_000 };

enum Letter {
    Report(usize, Report),
    Said(usize, Said),
    /// An instance hears the store again.
    Linked(usize),
}

struct World {
    clock: &'static ManualClock,
    rng: Rng,
    timing: Now,
    network: Option<Network>,
    store: Store,
    /// Which memory it is.
    run: u64,
    is_gone: bool,
    instances: Vec<Instance>,
    letters: Vec<Option<Letter>>,
    /// When each letter arrives.
    post: BinaryHeap<Reverse<(u64, usize)>>,
    is_down: bool,
    /// Calls that reached the dependency while it was down, probes among them, and calls that were lost
    /// while it was well.
    reached: u32,
    probes: u32,
    lost: u32,
    probes_at_once: usize,
    most_probes_at_once: usize,
}

impl World {
    fn new(seed: u64, network: Option<Network>, quorum: u32, intervals_ms: &[u64]) -> Self {
        Self::timed(TIMING, seed, network, quorum, intervals_ms)
    }

    fn timed(timing: Now, seed: u64, network: Option<Network>, quorum: u32, intervals_ms: &[u64]) -> Self {
        let mut rng = Rng::with_seed(seed);
        let clock: &'static ManualClock = Box::leak(Box::new(ManualClock::new(1_000_000)));
        let config = Config::builder()
            .open_for_ms(timing.open_for_ms.into())
            .max_open_ms(timing.max_open_ms.into())
            .jitter_permille(200)
            .build()
            .unwrap();
        let instances = intervals_ms
            .iter()
            .enumerate()
            .map(|(number, every_ms)| {
                let window = Failures::within_ms(timing.open_for_ms.into()).unwrap();
                let breaker = Breaker::with_observer(window, config, clock, Recorder::default());
                breaker.seed(rng.u32(..));
                let instance: Arc<str> = number.to_string().into();
                Instance {
                    breaker,
                    rules: Member::new(Arc::clone(&instance), rng.fork()),
                    run: 1,
                    group: Group { name: "simulated".into(), instance, quorum, quorum_percent: 0 },
                    every_ms: *every_ms,
                    next_call_ms: 1_000_000 + rng.u64(0..*every_ms),
                    under_way: Vec::new(),
                    wakes_ms: 0,
                    is_poisoned: false,
                    is_dead: false,
                    stopped_at_ms: None,
                    advised: 0,
                    unsent: Outbox::default(),
                }
            })
            .collect();
        Self {
            clock,
            rng,
            timing,
            network,
            store: Store::default(),
            run: 1,
            is_gone: false,
            instances,
            letters: Vec::new(),
            post: BinaryHeap::new(),
            is_down: false,
            reached: 0,
            probes: 0,
            lost: 0,
            probes_at_once: 0,
            most_probes_at_once: 0,
        }
    }

    fn now_ms(&self) -> u64 {
        use nanobreaker_core::Clock;
        self.clock.now_ms()
    }

    fn run_for(&mut self, ms: u64) {
        let until_ms = self.now_ms() + ms;
        while self.now_ms() < until_ms {
            self.clock.advance(STEP_MS);
            self.deliver();
            let now_ms = self.now_ms();
            for number in 0..self.instances.len() {
                if !self.instances[number].is_dead && self.instances[number].wakes_ms <= now_ms {
                    self.end_calls(number);
                    self.call(number);
                    self.tick(number);
                    self.instances[number].sleep();
                }
            }
            self.most_probes_at_once = self.most_probes_at_once.max(self.probes_at_once);
        }
    }

    /// As [`run_for`](Self::run_for), but until `is_so`. Returns how long that took.
    fn run_until(&mut self, most_ms: u64, is_so: impl Fn(&Self) -> bool) -> Option<u64> {
        let began_ms = self.now_ms();
        while !is_so(self) {
            if self.now_ms() > began_ms + most_ms {
                return None;
            }
            self.run_for(STEP_MS);
        }
        Some(self.now_ms() - began_ms)
    }

    fn call(&mut self, number: usize) {
        let now_ms = self.now_ms();
        let instance = &mut self.instances[number];
        if now_ms < instance.next_call_ms {
            return;
        }
        // As calls of many users come: the time to the next is exponentially distributed.
        let wait = -(1.0 - self.rng.f64()).ln() * instance.every_ms as f64;
        instance.next_call_ms = now_ms + wait as u64;
        match instance.breaker.allow_token() {
            Ok(token) => {
                instance.under_way.push((token, now_ms + CALL_MS));
                self.probes_at_once += usize::from(token.is_probe());
                self.reached += u32::from(self.is_down);
                self.probes += u32::from(self.is_down && token.is_probe());
            }
            Err(_) => self.lost += u32::from(!self.is_down),
        }
        self.tell(number);
    }

    fn end_calls(&mut self, number: usize) {
        let now_ms = self.now_ms();
        let fails = self.is_down || self.instances[number].is_poisoned;
        let instance = &mut self.instances[number];
        let ended: Vec<_> = instance.under_way.extract_if(.., |(_, ends_ms)| *ends_ms <= now_ms).collect();
        for (token, _) in ended {
            self.probes_at_once -= usize::from(token.is_probe());
            let outcome = if fails { Outcome::Failure } else { Outcome::Success };
            let _ = self.instances[number].breaker.record(token, outcome);
            self.tell(number);
        }
    }

    fn tick(&mut self, number: usize) {
        let now_ms = self.now_ms();
        let instance = &mut self.instances[number];
        if instance.rules.next_ms().is_some_and(|at_ms| at_ms <= now_ms) {
            let act = instance.rules.due(Now { ms: now_ms, ..self.timing });
            self.act(number, act);
        }
    }

    /// Tells an instance's rules what its breaker did.
    fn tell(&mut self, number: usize) {
        let transitions = self.instances[number].breaker.observer().0.take();
        for transition in transitions {
            let now_ms = self.now_ms();
            let instance = &mut self.instances[number];
            instance.advised += u32::from(transition.cause == Cause::Advised);
            if transition.to == Phase::Open {
                instance.stopped_at_ms.get_or_insert(now_ms);
            }
            let act = instance.rules.changed(&transition, Now { ms: now_ms, ..self.timing });
            self.act(number, act);
        }
    }

    /// Does what an instance's rules say after they heard of something.
    fn act(&mut self, number: usize, act: Option<Act>) {
        self.instances[number].wakes_ms = 0;
        let breaker = &self.instances[number].breaker;
        match act {
            Some(Act::Advise(ms)) => drop(breaker.advise_ms(ms.into())),
            Some(Act::Recover) => drop(breaker.recover()),
            Some(Act::Tell(news)) => return self.send(number, news),
            Some(act) => panic!("nobody ordered {act:?}"),
            None => return,
        }
        self.tell(number);
    }

    fn send(&mut self, number: usize, news: News) {
        let report = Report { breaker: "payments".into(), news };
        if self.is_gone {
            let now_ms = self.now_ms();
            return self.instances[number].unsent.put(report, now_ms);
        }
        self.mail(|| Letter::Report(number, report.clone()));
    }

    /// The store is back, perhaps without its memory, and all link again.
    fn store_returns(&mut self, forgets: bool) {
        self.is_gone = false;
        if forgets {
            self.store = Store::default();
            self.run += 1;
        }
        for number in 0..self.instances.len() {
            let at_ms = self.now_ms() + self.rng.u64(0..=SYNC_SPREAD_MS);
            self.post(at_ms, Letter::Linked(number));
        }
    }

    fn linked(&mut self, number: usize) {
        let now = Now { ms: self.now_ms(), ..self.timing };
        let instance = &mut self.instances[number];
        let is_new = std::mem::replace(&mut instance.run, self.run) != self.run;
        let act = is_new.then(|| instance.rules.is_forgotten(now));
        self.act(number, act.flatten());
        for said in self.store.all(now.ms) {
            self.hear(number, &said);
        }
        let act = self.instances[number].rules.vote_again(now);
        self.act(number, act);
        for report in self.instances[number].unsent.take(now.ms) {
            self.send(number, report.news);
        }
    }

    fn mail(&mut self, letter: impl Fn() -> Letter) {
        let Some(network) = self.network else {
            return;
        };
        let copies = match self.rng.u32(0..100) {
            chance if chance < network.drops_percent => 0,
            chance if chance < network.drops_percent + network.doubles_percent => 2,
            _ => 1,
        };
        for _ in 0..copies {
            let at_ms = self.now_ms() + self.rng.u64(0..=network.most_delay_ms);
            self.post(at_ms, letter());
        }
    }

    fn post(&mut self, at_ms: u64, letter: Letter) {
        self.post.push(Reverse((at_ms, self.letters.len())));
        self.letters.push(Some(letter));
    }

    fn publish(&mut self, said: &Said) {
        for number in 0..self.instances.len() {
            self.mail(|| Letter::Said(number, said.clone()));
        }
    }

    fn deliver(&mut self) {
        let now_ms = self.now_ms();
        while let Some(Reverse((at_ms, letter))) = self.post.peek().copied()
            && at_ms <= now_ms
        {
            self.post.pop();
            match self.letters[letter].take() {
                Some(Letter::Report(from, report)) => {
                    let group = self.instances[from].group.clone();
                    if let Some(said) = self.store.report(now_ms, &group, &report) {
                        self.publish(&said);
                    }
                }
                Some(Letter::Said(to, said)) if !self.instances[to].is_dead => self.hear(to, &said),
                Some(Letter::Linked(number)) => self.linked(number),
                _ => {}
            }
        }
    }

    fn hear(&mut self, number: usize, said: &Said) {
        let now_ms = self.now_ms();
        let act = self.instances[number].rules.heard(said, Now { ms: now_ms, ..self.timing });
        self.act(number, act);
    }

    fn open(&self) -> usize {
        let is_open = |instance: &&Instance| instance.breaker.phase() != Phase::Closed;
        self.instances.iter().filter(|instance| !instance.is_dead).filter(is_open).count()
    }
}

mod tests;
