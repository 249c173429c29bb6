//! What a process knows of its fleet, as plain data: its breakers, what is to be sent, and how the link stands.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use fastrand::Rng;
use nanobreaker_core::{Phase, Transition};

use super::member::{Act, Member, Now};
use super::message::{Heard, Reply, Report, Said};
use super::outbox::Outbox;
use crate::shared::BreakerRef;

/// How long a probe is given where the breaker has no limit for calls.
const PROBE_MS: u32 = 2_000;
/// After a gap, what is in force is asked for within this time.
const SYNC_SPREAD_MS: u64 = 2_000;

/// Breakers that join within this time are asked for together.
const JOINING_MS: u64 = 10;

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

/// What the store is to be asked: to take these reports, or, where there are none, what is in force.
pub(super) type Question = Option<Vec<Report>>;

pub(super) struct State {
    pub(super) joined: BTreeMap<u64, Joined>,
    /// Since when the link is lost; `None` while it stands.
    pub(super) alone_since: Option<SystemTime>,
    pub(super) heard_ms: Option<u64>,
    me: Arc<str>,
    counts_requests: bool,
    /// Names the store's memory.
    run: Option<u64>,
    was_linked: bool,
    sync_at_ms: Option<u64>,
    pub(super) outbox: Outbox,
    /// What breakers are to do.
    pub(super) acts: Vec<(BreakerRef, Act)>,
}

impl State {
    pub(super) fn new(me: Arc<str>, counts_requests: bool) -> Self {
        Self {
            joined: BTreeMap::new(),
            alone_since: Some(SystemTime::now()),
            heard_ms: None,
            me,
            counts_requests,
            run: None,
            was_linked: false,
            sync_at_ms: None,
            outbox: Outbox::default(),
            acts: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, number: u64, event: Event, now_ms: u64) {
        match event {
            Event::Joined(name, breaker) => {
                let rules = Member::new(Arc::clone(&self.me), Rng::new());
                self.joined.insert(number, Joined { name, breaker, rules });
                // It may be that a finding, or an order, is in force for it.
                if self.was_linked {
                    self.sync_at_ms.get_or_insert(now_ms + JOINING_MS);
                }
            }
            Event::Left => drop(self.joined.remove(&number)),
            Event::Changed(change) => {
                self.ask(now_ms, |of, _| of == number, |rules, now| rules.changed(&change, now));
            }
            #[cfg(feature = "check")]
            Event::CheckFailed => self.ask(now_ms, |of, _| of == number, Member::check_failed),
        }
    }

    pub(super) fn hear(&mut self, heard: Heard, now_ms: u64) {
        match heard {
            Heard::Linked => {
                // All come back at once after the store was gone, but not as they start.
                let spread_ms = if self.was_linked { SYNC_SPREAD_MS } else { 0 };
                self.was_linked = true;
                self.sync_at_ms = Some(now_ms + fastrand::u64(0..=spread_ms));
                self.alone_since = None;
            }
            Heard::Alive => {}
            Heard::Said { run, what } => self.told(run, &[what], now_ms),
            Heard::Lost => {
                self.alone_since.get_or_insert_with(SystemTime::now);
                return;
            }
        }
        self.heard_ms = Some(now_ms);
    }

    /// When the store is to be asked for something.
    pub(super) fn asks_at_ms(&self) -> Option<u64> {
        if self.outbox.is_empty() { self.sync_at_ms } else { Some(0) }
    }

    pub(super) fn question(&mut self, now_ms: u64) -> Question {
        let is_sync = self.sync_at_ms.take_if(|at_ms| *at_ms <= now_ms).is_some();
        (!is_sync).then(|| self.outbox.take(now_ms))
    }

    /// What was asked then could not be, and is asked once more.
    pub(super) fn asks_again(&mut self, question: Question, asked_ms: u64) {
        match question {
            Some(reports) => self.outbox.put_back(reports, asked_ms),
            None => drop(self.sync_at_ms.get_or_insert(asked_ms)),
        }
    }

    pub(super) fn answered(&mut self, question: &Question, reply: &Reply, now_ms: u64) {
        self.heard_ms = Some(now_ms);
        self.told(reply.run, &reply.said, now_ms);
        // After a gap: what was said meanwhile may be lost.
        if question.is_none() {
            self.ask(now_ms, |_, _| true, Member::vote_again);
        }
    }

    /// The store's memory of that name says this.
    fn told(&mut self, run: u64, said: &[Said], now_ms: u64) {
        if self.run.replace(run).is_some_and(|before| before != run) {
            self.ask(now_ms, |_, _| true, Member::is_forgotten);
        }
        for said in said {
            let is_meant = |_, joined: &Joined| joined.name == *said.breaker();
            self.ask(now_ms, is_meant, |rules, now| rules.heard(said, now));
        }
    }

    /// When time brings something next.
    pub(super) fn next_ms(&self) -> Option<u64> {
        self.joined.values().filter_map(|joined| joined.rules.next_ms()).min()
    }

    /// What time has brought: one thing for each breaker.
    pub(super) fn due(&mut self, now_ms: u64) {
        let is_due = |_, joined: &Joined| joined.rules.next_ms().is_some_and(|at_ms| at_ms <= now_ms);
        self.ask(now_ms, is_due, Member::due);
    }

    /// Asks the rules of these breakers what is to be done.
    fn ask(
        &mut self,
        now_ms: u64,
        is_meant: impl Fn(u64, &Joined) -> bool,
        mut what: impl FnMut(&mut Member, Now) -> Option<Act>,
    ) {
        for (_, joined) in self.joined.iter_mut().filter(|(number, joined)| is_meant(**number, joined)) {
            match what(&mut joined.rules, now(joined.breaker, now_ms, self.counts_requests)) {
                Some(Act::Tell(news)) => {
                    self.outbox.put(Report { breaker: Arc::clone(&joined.name), news }, now_ms);
                }
                Some(act) => self.acts.push((joined.breaker, act)),
                None => {}
            }
        }
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
