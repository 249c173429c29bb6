//! The breakers of this process that belong to the fleet.

use std::collections::BTreeMap;
use std::sync::Arc;

use fastrand::Rng;
use nanobreaker_core::{Phase, Transition};

use super::member::{Act, Member, Now};
use super::message::{OrderedAction, Said};
use crate::shared::BreakerRef;

/// How long a probe is given where the breaker has no limit for calls.
const PROBE_MS: u32 = 2_000;

/// What happens to a breaker.
pub(super) enum Event {
    Joined(Arc<str>, BreakerRef),
    Changed(Transition),
    #[cfg(feature = "check")]
    CheckFailed,
    Left,
}

/// A breaker of this process, with what the fleet's rules know of it.
pub(super) struct Joined {
    pub(super) name: Arc<str>,
    breaker: BreakerRef,
    pub(super) rules: Member,
}

/// What is to be done with a breaker, and its name.
pub(super) type ToDo = Vec<(Arc<str>, BreakerRef, Act)>;

pub(super) struct Members {
    pub(super) joined: BTreeMap<u64, Joined>,
    me: Arc<str>,
    counts_requests: bool,
    /// Names the store's memory.
    run: Option<u64>,
}

impl Members {
    pub(super) fn new(me: Arc<str>, counts_requests: bool) -> Self {
        Self { joined: BTreeMap::new(), me, counts_requests, run: None }
    }

    pub(super) fn take(&mut self, number: u64, event: &Event, now_ms: u64) -> ToDo {
        match event {
            Event::Joined(name, breaker) => {
                let rules = Member::new(Arc::clone(&self.me), Rng::new());
                self.joined.insert(number, Joined { name: Arc::clone(name), breaker: *breaker, rules });
            }
            Event::Left => drop(self.joined.remove(&number)),
            Event::Changed(change) => {
                return self.ask(now_ms, |of, _| of == number, |rules, now| rules.changed(change, now));
            }
            #[cfg(feature = "check")]
            Event::CheckFailed => return self.ask(now_ms, |of, _| of == number, Member::check_failed),
        }
        ToDo::new()
    }

    pub(super) fn heard(&mut self, run: u64, said: &Said, now_ms: u64) -> ToDo {
        let mut todo = self.in_run(run, now_ms);
        let is_meant = |_, joined: &Joined| joined.name == *said.breaker();
        todo.extend(self.ask(now_ms, is_meant, |rules, now| rules.heard(said, now)));
        todo
    }

    /// The store's memory has this name.
    pub(super) fn in_run(&mut self, run: u64, now_ms: u64) -> ToDo {
        let is_new = self.run.replace(run).is_some_and(|before| before != run);
        self.ask(now_ms, |_, _| is_new, Member::is_forgotten)
    }

    /// After a gap: what was said meanwhile may be lost.
    pub(super) fn vote_again(&mut self, now_ms: u64) -> ToDo {
        self.ask(now_ms, |_, _| true, Member::vote_again)
    }

    /// When time brings something next.
    pub(super) fn next_ms(&self) -> Option<u64> {
        self.joined.values().filter_map(|joined| joined.rules.next_ms()).min()
    }

    /// What time has brought: one thing for each breaker.
    pub(super) fn due(&mut self, now_ms: u64) -> ToDo {
        let is_due = |_, joined: &Joined| joined.rules.next_ms().is_some_and(|at_ms| at_ms <= now_ms);
        self.ask(now_ms, is_due, Member::due)
    }

    fn ask(
        &mut self,
        now_ms: u64,
        is_meant: impl Fn(u64, &Joined) -> bool,
        mut what: impl FnMut(&mut Member, Now) -> Option<Act>,
    ) -> ToDo {
        let meant = self.joined.iter_mut().filter(|(number, joined)| is_meant(**number, joined));
        let asked = meant.filter_map(|(_, joined)| {
            let act = what(&mut joined.rules, now(joined.breaker, now_ms, self.counts_requests))?;
            Some((Arc::clone(&joined.name), joined.breaker, act))
        });
        asked.collect()
    }
}

fn now(breaker: BreakerRef, ms: u64, counts_requests: bool) -> Now {
    let config = breaker.config();
    let [slow_ms, hung_ms] = breaker.limits_ms();
    Now {
        ms,
        open_for_ms: config.open_for_ms(),
        max_open_ms: config.max_open_ms(),
        probe_ms: [hung_ms, slow_ms].into_iter().find(|ms| *ms > 0).unwrap_or(PROBE_MS),
        counts_requests,
        is_held: matches!(breaker.phase(), Phase::Isolated | Phase::Disabled),
    }
}

/// One order takes the place of another, unless somebody did otherwise meanwhile.
pub(super) fn obey(breaker: BreakerRef, before: Option<OrderedAction>, after: Option<OrderedAction>) {
    let shadow = Some(OrderedAction::Shadow);
    if [before, after].contains(&shadow) {
        breaker.shadow(after == shadow);
    }
    match after {
        Some(OrderedAction::Isolate) => drop(breaker.isolate()),
        Some(OrderedAction::Disable) => drop(breaker.disable()),
        Some(OrderedAction::Shadow) | None => {
            if before.and_then(OrderedAction::phase) == Some(breaker.phase()) {
                breaker.reset();
            }
        }
    }
}
