//! The breakers of this process that belong to the fleet.

use std::collections::BTreeMap;
use std::sync::Arc;

use fastrand::Rng;
use nanobreaker_core::Phase;

use super::member::{Act, Change, Member, Timing};
use super::message::{Group, News, Report, Said};
use crate::shared::BreakerRef;

/// How long a probe is given where the breaker has no limit for calls.
const PROBE_MS: u32 = 2_000;

/// A breaker of this process, with what the fleet's rules know of it.
pub(super) struct Joined {
    pub(super) name: Arc<str>,
    pub(super) breaker: BreakerRef,
    pub(super) rules: Member,
}

/// What is to be done after the lock was given back: breakers call listeners, who may ask for the status.
#[derive(Default)]
pub(super) struct ToDo {
    pub(super) acts: Vec<(BreakerRef, Act)>,
    pub(super) reports: Vec<Report>,
}

pub(super) struct Members {
    pub(super) joined: BTreeMap<u64, Joined>,
    counts_requests: bool,
    rng: Rng,
}

impl Members {
    pub(super) fn new(counts_requests: bool) -> Self {
        Self { joined: BTreeMap::new(), counts_requests, rng: Rng::new() }
    }

    pub(super) fn join(&mut self, number: u64, name: Arc<str>, breaker: BreakerRef, group: &Group) {
        let rules = Member::new(Arc::clone(&group.instance));
        self.joined.insert(number, Joined { name, breaker, rules });
    }

    pub(super) fn leave(&mut self, number: u64) {
        self.joined.remove(&number);
    }

    pub(super) fn changed(&mut self, number: u64, change: Change, now_ms: u64) -> ToDo {
        let mut todo = ToDo::default();
        if let Some(joined) = self.joined.get_mut(&number) {
            let timing = timing_of(&joined.breaker, self.counts_requests);
            let news = joined.rules.changed(change, now_ms, timing, &mut self.rng);
            todo.report(&joined.name, news);
        }
        todo
    }

    pub(super) fn heard(&mut self, run: u64, said: &Said, now_ms: u64) -> ToDo {
        let mut todo = ToDo::default();
        let about = match said {
            Said::Open(finding) => &finding.breaker,
            Said::Look { breaker, .. } | Said::Order { breaker, .. } => breaker,
        };
        for joined in self.joined.values_mut().filter(|joined| joined.name == *about) {
            let timing = timing_of(&joined.breaker, self.counts_requests);
            let is_held = matches!(joined.breaker.phase(), Phase::Isolated | Phase::Disabled);
            let act = joined.rules.heard(run, said, now_ms, timing, is_held, &mut self.rng);
            todo.acts.extend(act.map(|act| (joined.breaker, act)));
        }
        todo
    }

    #[cfg(feature = "check")]
    pub(super) fn check_failed(&mut self, number: u64, now_ms: u64) -> ToDo {
        let mut todo = ToDo::default();
        if let Some(joined) = self.joined.get_mut(&number) {
            let timing = timing_of(&joined.breaker, self.counts_requests);
            todo.report(&joined.name, joined.rules.check_failed(now_ms, timing));
        }
        todo
    }

    /// The store's memory, as a reply names it.
    pub(super) fn in_run(&mut self, run: u64, now_ms: u64) {
        for joined in self.joined.values_mut() {
            joined.rules.in_run(run, now_ms);
        }
    }

    /// After a gap.
    pub(super) fn vote_again(&mut self, now_ms: u64) {
        for joined in self.joined.values_mut() {
            joined.rules.vote_again(now_ms);
        }
    }

    /// What time has brought, and when it brings something next.
    pub(super) fn due(&mut self, now_ms: u64) -> (ToDo, Option<u64>) {
        let mut todo = ToDo::default();
        let mut next_ms = None;
        for joined in self.joined.values_mut() {
            if joined.rules.next_ms().is_some_and(|at_ms| at_ms <= now_ms) {
                let timing = timing_of(&joined.breaker, self.counts_requests);
                let (act, news) = joined.rules.due(now_ms, timing, &mut self.rng);
                todo.acts.extend(act.map(|act| (joined.breaker, act)));
                todo.report(&joined.name, news);
            }
            next_ms = [next_ms, joined.rules.next_ms()].into_iter().flatten().min();
        }
        (todo, next_ms)
    }
}

impl ToDo {
    fn report(&mut self, name: &Arc<str>, news: Option<News>) {
        self.reports.extend(news.map(|news| Report { breaker: Arc::clone(name), news }));
    }
}

fn timing_of(breaker: &BreakerRef, counts_requests: bool) -> Timing {
    let config = breaker.config();
    let [slow_ms, hung_ms] = breaker.limits_ms();
    let probe_ms = [hung_ms, slow_ms, PROBE_MS].into_iter().find(|ms| *ms > 0).unwrap_or(PROBE_MS);
    Timing { open_for_ms: config.open_for_ms(), max_open_ms: config.max_open_ms(), probe_ms, counts_requests }
}
