//! The rules of one instance for one breaker: when it votes, and what it does on hearsay.
//!
//! What the breaker did comes in as [`Transition`], and what is to be done goes out as [`Act`]. So nothing is done
//! while the fleet's state is locked.

use std::sync::Arc;
use std::time::Duration;

use nanobreaker_core::{Cause, Phase, Transition};
use tokio::time::Instant;

use super::BreakerInFleet;
use super::builder::Terms;
use super::lasting::{Lasting, about, after, is_over};
use super::message::{Finding, News, Order, OrderedAction, Said, Word};
use crate::shared::BreakerRef;

/// A vote is repeated after this long, 20 % more or less.
const REPEAT_MS: u64 = 5_000;

/// Whoever was held by advice alone for so many times its longest open time looks for itself, within an open
/// time: not all at once.
const TRUST: u64 = 5;

/// How long a probe is given where the breaker has no limit for calls.
const PROBE_MS: u32 = 2_000;

/// What is to be done.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// The breaker is advised to stop for so many milliseconds.
    Advise(u64),
    /// The breaker is to look again.
    Recover,
    /// One order takes the place of another; `None` is none.
    Obey { before: Option<OrderedAction>, after: Option<OrderedAction> },
    /// The fleet is to hear this.
    Tell(News),
}

/// A breaker of this process, and what is known of it beside its own state.
pub(super) struct Member {
    pub(super) name: Arc<str>,
    pub(super) breaker: BreakerRef,
    terms: Arc<Terms>,
    /// Its own vote: it found the dependency broken, and would probe at `until`. `what` is when it votes again.
    own: Option<Lasting<Instant>>,
    /// The number of the newest finding.
    newest: u64,
    /// That finding, unless it is over, or was found to be wrong.
    known: Option<Lasting<Finding>>,
    /// From then on advice has held it for too long: none is heeded until its own probe has answered.
    doubts_from: Option<Instant>,
    /// When it looks for itself.
    look_at: Option<Instant>,
    pub(super) obeys: Option<Lasting<Order>>,
    /// An order that somebody here overruled.
    overruled: Option<u64>,
}

impl Member {
    pub(super) fn new(name: Arc<str>, breaker: BreakerRef, terms: Arc<Terms>) -> Self {
        Self {
            name,
            breaker,
            terms,
            own: None,
            newest: 0,
            known: None,
            doubts_from: None,
            look_at: None,
            obeys: None,
            overruled: None,
        }
    }

    /// The breaker made a transition.
    pub(super) fn changed(&mut self, change: &Transition) -> Option<Act> {
        // Somebody here decided otherwise than the order that is obeyed. What the breaker did before it obeyed may be
        // heard of only now, so what counts is how it stands.
        let is_against =
            |order: &Order| order.action.phase().is_some_and(|phase| phase != self.breaker.phase());
        if let Some(obeyed) = self.obeys.take_if(|obeyed| is_against(&obeyed.what)) {
            self.overruled = Some(obeyed.what.id);
        }
        match (change.to, change.cause) {
            // Its time was over, which tells nothing of the dependency.
            (Phase::HalfOpen, _) => self.own = None,
            (Phase::Open, Cause::Advised) | (Phase::Closed, Cause::RampOver) => {}
            _ => (self.own, self.doubts_from, self.look_at) = (None, None, None),
        }
        match (change.to, change.cause) {
            (Phase::Open | Phase::Isolated, cause) if self.is_evidence(cause) => {
                let open_for_ms = self.breaker.config().open_for_ms();
                // A latch holds without an end: a vote for as long as a trip would have been.
                let open_ms = if change.to == Phase::Open { change.open_for_ms } else { open_for_ms };
                let left_ms = probes_after_ms(open_ms, open_for_ms);
                self.own = Some(Lasting::new(left_ms, about(REPEAT_MS)));
                (!self.is_covered()).then(|| self.vote(left_ms, true))
            }
            // It knows better than that finding from here on.
            (Phase::Closed | Phase::Recovering, Cause::ProbesSucceeded) => {
                self.known.take().map(|known| Act::Tell(News::Well { epoch: known.what.epoch }))
            }
            _ => None,
        }
    }

    /// Whether the breaker opened on what its own calls told.
    fn is_evidence(&self, cause: Cause) -> bool {
        use Cause::{ProbesFailed, ProbesLost, SlowThresholdReached, ThresholdReached, TripRequested};
        matches!(cause, ThresholdReached | SlowThresholdReached | ProbesFailed | ProbesLost)
            || cause == TripRequested && self.terms.counts_requests
    }

    /// A check in the background failed. As a holder's it is a probe that failed, once that was due.
    #[cfg(feature = "check")]
    pub(super) fn check_failed(&mut self) -> Option<Act> {
        let is_due = self.holds() && self.known.as_ref().is_some_and(|known| is_over(&known.until));
        is_due.then(|| self.vote(self.breaker.config().open_for_ms(), true))
    }

    fn vote(&self, left_ms: u32, is_new: bool) -> Act {
        let [slow_ms, hung_ms] = self.breaker.limits_ms();
        let probe_ms = [hung_ms, slow_ms].into_iter().find(|ms| *ms > 0).unwrap_or(PROBE_MS);
        Act::Tell(News::Open { left_ms, probe_ms, is_new })
    }

    /// Votes again, even if others act on a finding already: the store may have lost who else could probe.
    pub(super) fn vote_again(&mut self) -> Option<Act> {
        let own = self.own.as_mut().filter(|own| !is_over(&own.until))?;
        own.what = about(REPEAT_MS);
        let left_ms = own.left_ms();
        Some(self.vote(left_ms, false))
    }

    /// The store said something, perhaps of another breaker.
    pub(super) fn heard(&mut self, said: &Said) -> Option<Act> {
        match &said.word {
            _ if said.breaker != self.name => None,
            Word::Open(finding) => self.heard_open(finding),
            Word::Look { epoch } if *epoch < self.newest => None,
            Word::Look { epoch } => self.heard_look(*epoch),
            Word::Order(Some(order)) => self.heard_order(order),
            Word::Order(None) => self.obey(None),
        }
    }

    /// The store lost its memory: its epochs begin anew, and it has no votes.
    pub(super) fn is_forgotten(&mut self) -> Option<Act> {
        self.newest = 0;
        self.known = None;
        self.vote_again()
    }

    fn heard_open(&mut self, finding: &Finding) -> Option<Act> {
        let is_known = self.known.as_ref().is_some_and(|known| known.what.epoch == finding.epoch);
        if finding.epoch <= self.newest && !is_known {
            return None;
        }
        self.newest = finding.epoch;
        let probes_at = self.known.insert(Lasting::new(finding.left_ms, finding.clone())).until;
        if is_known || self.doubts_from.as_ref().is_some_and(is_over) {
            return None;
        }
        let config = self.breaker.config();
        let (open_for_ms, max_open_ms) = (config.open_for_ms().into(), config.max_open_ms());
        // Where its own finding holds it already, advice is what holds it after that.
        let own_ms = self.own.as_ref().map_or(0, Lasting::left_ms);
        let trust_ms = TRUST * u64::from(max_open_ms) + fastrand::u64(0..=open_for_ms) + u64::from(own_ms);
        let doubts_from = *self.doubts_from.get_or_insert_with(|| after(trust_ms));
        if self.holds() {
            // It is to probe then, whatever it was advised before.
            self.look_at = Some(doubts_from.min(probes_at));
            return Some(Act::Advise(finding.left_ms.into()));
        }
        self.look_at = Some(doubts_from);
        let spread_ms = fastrand::u64(0..=spread_ms(finding.live, max_open_ms));
        Some(Act::Advise(u64::from(finding.left_ms) + u64::from(finding.awaits_ms()) + spread_ms))
    }

    fn heard_look(&mut self, epoch: u64) -> Option<Act> {
        self.newest = epoch;
        let known = self.known.take()?;
        let spread_ms = spread_ms(known.what.live, self.breaker.config().max_open_ms());
        self.look_at = Some(after(fastrand::u64(0..=spread_ms)));
        None
    }

    fn heard_order(&mut self, order: &Order) -> Option<Act> {
        // A person, or a latch, holds it.
        if self.obeys.is_none() && matches!(self.breaker.phase(), Phase::Isolated | Phase::Disabled) {
            self.overruled = Some(order.id);
        }
        if self.overruled == Some(order.id) {
            return None;
        }
        self.obey(Some(Lasting::new(order.left_ms, order.clone())))
    }

    fn obey(&mut self, order: Option<Lasting<Order>>) -> Option<Act> {
        let named = |order: &Lasting<Order>| (order.what.id, order.what.action);
        let after = order.as_ref().map(named);
        let before = std::mem::replace(&mut self.obeys, order).as_ref().map(named);
        let action = |order: Option<(u64, OrderedAction)>| order.map(|(_, action)| action);
        (before != after).then(|| Act::Obey { before: action(before), after: action(after) })
    }

    /// When [`due`](Self::due) has something to say.
    pub(super) fn next(&self) -> Option<Instant> {
        let order_ends = self.obeys.as_ref().map(|obeyed| obeyed.until);
        let votes_at = self.own.as_ref().map(|own| own.what);
        [self.look_at, votes_at, order_ends].into_iter().flatten().min()
    }

    /// What time has brought: one thing at a time.
    pub(super) fn due(&mut self) -> Option<Act> {
        if self.obeys.as_ref().is_some_and(|obeyed| is_over(&obeyed.until)) {
            return self.obey(None);
        }
        if self.look_at.take_if(|at| is_over(at)).is_some() {
            // While it doubts, once an open time.
            let again_at = after(self.breaker.config().open_for_ms());
            self.look_at = self.doubts_from.map(|from| if is_over(&from) { again_at } else { from });
            return Some(Act::Recover);
        }
        self.own.take_if(|own| is_over(&own.until));
        self.own.as_ref().filter(|own| is_over(&own.what))?;
        let is_covered = self.is_covered();
        self.vote_again().filter(|_| !is_covered)
    }

    /// Whether this instance is the one to probe, or was.
    fn holds(&self) -> bool {
        self.known.as_ref().is_some_and(|known| known.what.holder == self.terms.group.instance)
    }

    /// Whether others act on a finding already, so that a vote says nothing new.
    pub(super) fn is_covered(&self) -> bool {
        !self.holds() && self.finding().is_some()
    }

    /// The finding that is in force, as far as is known.
    fn finding(&self) -> Option<Finding> {
        let known = self.known.as_ref()?;
        let waited = known.until + Duration::from_millis(known.what.awaits_ms().into());
        (!is_over(&waited)).then(|| Finding { left_ms: known.left_ms(), ..known.what.clone() })
    }

    /// What the fleet has to say about it.
    pub(super) fn seen(&self) -> BreakerInFleet {
        let votes_ms = self.own.as_ref().map_or(0, Lasting::left_ms);
        let (finding, order) = (self.finding(), self.obeys.as_ref());
        BreakerInFleet {
            name: Arc::clone(&self.name),
            votes_for: (votes_ms > 0).then(|| Duration::from_millis(votes_ms.into())),
            is_holder: finding.is_some() && self.holds(),
            finding,
            order: order.map(|obeyed| Order { left_ms: obeyed.left_ms(), ..obeyed.what.clone() }),
        }
    }
}

/// Over how long instances spread out: 10 ms for each that lives, from 0.1 to 5 s, as if there were a hundred where
/// nothing counts them. It is a sixtieth of the longest open time at most, since half of it is lost after each
/// outage, beside the rest of an open time that is lost anyhow.
fn spread_ms(live: u32, max_open_ms: u32) -> u64 {
    let counted = if live == 0 { 100 } else { u64::from(live) };
    (10 * counted).clamp(100, 5_000).min(u64::from(max_open_ms / 60))
}

/// When the holder is to probe after it was open for `open_ms`. It probes for all, so what backoff made longer than
/// an open time is halved: two breakers by themselves would probe as often. The shortest is an open time, less up to
/// 20 %, so that groups do not move in step.
fn probes_after_ms(open_ms: u32, open_for_ms: u32) -> u32 {
    let shortest_ms = fastrand::u32(open_for_ms / 5 * 4..=open_for_ms);
    (open_ms / 2).max(shortest_ms).min(open_ms)
}
