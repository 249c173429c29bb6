//! What a process knows of its fleet, as plain data: its breakers, what is to be sent, and how the link stands.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::time::Instant;

use super::lasting::{about, after, is_over};
use super::member::{Act, Member};
use super::message::{Heard, News, Reply, Report};
use super::outbox::Outbox;
use crate::shared::BreakerRef;

/// After a gap, what is in force is asked for within this time.
const SYNC_SPREAD_MS: u64 = 2_000;
/// Breakers that join within this time are asked for together.
const JOINING_MS: u64 = 10;
/// A heartbeat goes this often, where a quorum in per cent counts the living.
const HEARTBEAT_MS: u64 = 5_000;

#[derive(Default)]
pub(super) struct State {
    pub(super) members: BTreeMap<u64, Member>,
    /// Since when the link is lost; `None` while it stands.
    pub(super) alone_since: Option<SystemTime>,
    /// When the store was last heard.
    pub(super) heard_at: Option<Instant>,
    /// Names the store's memory.
    run: Option<u64>,
    sync_at: Option<Instant>,
    beat_at: Option<Instant>,
    pub(super) outbox: Outbox,
    /// What breakers are to do. They may not have done it yet.
    pub(super) acts: Vec<(u64, BreakerRef, Act)>,
}

impl State {
    pub(super) fn new(beats: bool) -> Self {
        let beat_at = beats.then(Instant::now);
        Self { alone_since: Some(SystemTime::now()), beat_at, ..Self::default() }
    }

    pub(super) fn join(&mut self, number: u64, member: Member) {
        self.members.insert(number, member);
        // It may be that a finding, or an order, is in force for it.
        if self.heard_at.is_some() {
            self.sync_at.get_or_insert(after(JOINING_MS));
        }
    }

    pub(super) fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Linked => {
                // All come back at once after the store was gone, but not as they start.
                let spread_ms = if self.heard_at.is_some() { SYNC_SPREAD_MS } else { 0 };
                self.sync_at = Some(after(fastrand::u64(0..=spread_ms)));
                self.alone_since = None;
            }
            Heard::Alive => {}
            Heard::Said(reply) => self.told(&reply),
            Heard::Lost => {
                self.alone_since.get_or_insert_with(SystemTime::now);
                return;
            }
        }
        self.heard_at = Some(Instant::now());
    }

    /// What the store is to be asked now, if anything: to take these reports, or, where there are none, what is in force.
    pub(super) fn question(&mut self) -> Option<Vec<Report>> {
        let is_sync = self.sync_at.take_if(|at| is_over(at)).is_some();
        let reports = if is_sync { Vec::new() } else { self.outbox.take() };
        (is_sync || !reports.is_empty()).then_some(reports)
    }

    /// What was asked then was answered, or is to be asked once more.
    pub(super) fn answered(&mut self, question: Vec<Report>, answer: Option<&Reply>, asked_at: Instant) {
        let Some(reply) = answer else {
            if question.is_empty() {
                self.sync_at.get_or_insert(asked_at);
            }
            return self.outbox.put_back(question, asked_at);
        };
        self.told(reply);
        // After a gap: what was said meanwhile may be lost.
        if question.is_empty() {
            self.ask(|_, member| member.vote_again());
        }
    }

    /// The store says this.
    fn told(&mut self, reply: &Reply) {
        self.heard_at = Some(Instant::now());
        if self.run.replace(reply.run).is_some_and(|before| before != reply.run) {
            self.ask(|_, member| member.is_forgotten());
        }
        for said in &reply.said {
            self.ask(|_, member| member.heard(said));
        }
    }

    /// When time brings something next. Whoever asks the store looks for what is due already.
    pub(super) fn next(&self) -> Option<Instant> {
        let sync_at = self.sync_at.filter(|at| !is_over(at));
        self.members.values().filter_map(Member::next).chain(sync_at).chain(self.beat_at).min()
    }

    /// What time has brought: one thing for each breaker.
    pub(super) fn due(&mut self) {
        if self.beat_at.as_ref().is_some_and(is_over) {
            self.outbox.put(Report { breaker: "".into(), news: News::Alive });
            self.beat_at = Some(about(HEARTBEAT_MS));
        }
        self.ask(|_, member| member.due());
    }

    /// Asks the rules of each breaker what is to be done.
    pub(super) fn ask(&mut self, mut what: impl FnMut(u64, &mut Member) -> Option<Act>) {
        for (number, member) in &mut self.members {
            match what(*number, member) {
                Some(Act::Tell(news)) => self.outbox.put(Report { breaker: Arc::clone(&member.name), news }),
                Some(act) => self.acts.push((*number, member.breaker, act)),
                None => {}
            }
        }
    }

    /// What orders make of this breaker, `None` being shadow: the one that it obeys, and one that ended a moment ago, for
    /// as long as the breaker has not left it.
    #[cfg(feature = "state-file")]
    pub(super) fn ordered(&self, number: u64) -> Vec<Option<nanobreaker_core::Phase>> {
        let obeyed = self.members.get(&number).and_then(|member| member.obeys.as_ref());
        let ended = self.acts.iter().filter(|(of, ..)| *of == number).filter_map(|(.., act)| match act {
            Act::Obey { before, .. } => *before,
            _ => None,
        });
        ended.chain(obeyed.map(|order| order.what.action)).map(|action| action.phase()).collect()
    }
}
