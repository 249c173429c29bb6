//! The rules of one instance for one breaker, as pure code: when it votes, and what it does on hearsay.
//!
//! The breaker itself is elsewhere. What it did comes in as [`Transition`], what is to be done goes out as
//! [`Act`], and time is a number.

use std::sync::Arc;

use fastrand::Rng;
use nanobreaker_core::{Cause, Phase, Transition};

use super::lasting::Lasting;
use super::message::{Finding, News, Order, OrderedAction, Said};

/// A vote is repeated after this long, 20 % more or less.
const REPEAT_MS: u64 = 5_000;

/// Whoever was held by advice alone for so many times its longest open time looks for itself, within an open
/// time: not all at once.
const TRUST: u64 = 5;

/// A time 20 % more or less, so that instances do not move in step.
pub(super) fn about(ms: u64, rng: &mut Rng) -> u64 {
    rng.u64(ms * 4 / 5..=ms * 6 / 5)
}

/// What is so at this moment: the time, and what matters here of the breaker and its settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub(super) ms: u64,
    pub(super) open_for_ms: u32,
    pub(super) max_open_ms: u32,
    /// How long a probe may take.
    pub(super) probe_ms: u32,
    /// Whether `trip()` is evidence as well.
    pub(super) counts_requests: bool,
    /// Whether a person, or a latch, holds the breaker.
    pub(super) is_held: bool,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// The breaker is advised to stop for so many milliseconds.
    Advise(u32),
    /// The breaker is to look again.
    Recover,
    /// One order takes the place of another; `None` is none.
    Obey { before: Option<OrderedAction>, after: Option<OrderedAction> },
    /// The fleet is to hear this.
    Tell(News),
}

/// What is known of one breaker beside its own state.
#[derive(Debug)]
pub(super) struct Member {
    me: Arc<str>,
    rng: Rng,
    own: Option<Vote>,
    /// The number of the newest finding.
    newest: u64,
    /// That finding, unless it is over, or was found to be wrong.
    known: Option<Lasting<Finding>>,
    /// From then on advice has held it for too long: none is heeded until its own probe has answered.
    doubts_from_ms: Option<u64>,
    /// When it looks for itself.
    look_at_ms: Option<u64>,
    pub(super) obeys: Option<Lasting<Order>>,
    /// An order that somebody here overruled.
    overruled: Option<u64>,
}

/// It is open by its own finding, and is to probe then if it holds that.
#[derive(Clone, Copy, Debug)]
struct Vote {
    until_ms: u64,
    repeat_at_ms: u64,
}

impl Member {
    pub(super) fn new(me: Arc<str>, rng: Rng) -> Self {
        Self {
            me,
            rng,
            own: None,
            newest: 0,
            known: None,
            doubts_from_ms: None,
            look_at_ms: None,
            obeys: None,
            overruled: None,
        }
    }

    /// The breaker made a transition.
    pub(super) fn changed(&mut self, change: &Transition, now: Now) -> Option<Act> {
        self.heed_people(change.to);
        match (change.to, change.cause) {
            (Phase::Open | Phase::Isolated, cause) if is_evidence(cause, now) => {
                // A latch holds without an end: a vote for as long as a trip would have been.
                let open_ms = if change.to == Phase::Open { change.open_for_ms } else { now.open_for_ms };
                let left_ms = probes_after_ms(open_ms, now.open_for_ms, &mut self.rng);
                let repeat_at_ms = now.ms + about(REPEAT_MS, &mut self.rng);
                self.trust_again();
                self.own = Some(Vote { until_ms: now.ms + u64::from(left_ms), repeat_at_ms });
                (!self.is_covered(now)).then_some(Act::Tell(News::Open { left_ms, probe_ms: now.probe_ms }))
            }
            (Phase::Closed | Phase::Recovering, Cause::ProbesSucceeded) => {
                self.trust_again();
                // It knows better than that finding from here on.
                let known = self.known.take()?;
                Some(Act::Tell(News::Well { epoch: known.what.epoch }))
            }
            (Phase::HalfOpen, _) => {
                self.own = None;
                None
            }
            (Phase::Open, Cause::Advised) | (Phase::Closed, Cause::RampOver) => None,
            _ => {
                self.trust_again();
                None
            }
        }
    }

    /// A check in the background failed. As a holder's it is a probe that failed, once that was due.
    #[cfg(feature = "check")]
    pub(super) fn check_failed(&mut self, now: Now) -> Option<Act> {
        let is_due = self.known.as_ref().is_some_and(|known| self.holds(known) && known.until_ms <= now.ms);
        is_due.then_some(Act::Tell(News::Open { left_ms: now.open_for_ms, probe_ms: now.probe_ms }))
    }

    /// Others' advice is heeded from here on, and its own finding is over.
    fn trust_again(&mut self) {
        self.own = None;
        self.doubts_from_ms = None;
        self.look_at_ms = None;
    }

    /// Somebody here decided otherwise than the order that is obeyed.
    fn heed_people(&mut self, to: Phase) {
        let stands = |order: &Order| order.action.phase().is_none_or(|ordered| ordered == to);
        if let Some(obeyed) = self.obeys.take_if(|obeyed| !stands(&obeyed.what)) {
            self.overruled = Some(obeyed.what.id);
        }
    }

    /// Whether others act on a finding already, so that a vote says nothing new.
    fn is_covered(&self, now: Now) -> bool {
        self.finding(now.ms).is_some_and(|known| !self.holds(known))
    }

    /// Votes again, even if others act on a finding already: the store may have lost who else could probe.
    pub(super) fn vote_again(&mut self, now: Now) -> Option<Act> {
        let own = self.own.as_mut().filter(|own| now.ms < own.until_ms)?;
        own.repeat_at_ms = now.ms + about(REPEAT_MS, &mut self.rng);
        let left_ms = u32::try_from(own.until_ms - now.ms).unwrap_or(u32::MAX);
        Some(Act::Tell(News::Still { left_ms, probe_ms: now.probe_ms }))
    }

    /// The store said something.
    pub(super) fn heard(&mut self, said: &Said, now: Now) -> Option<Act> {
        match said {
            Said::Open(finding) => self.heard_open(finding, now),
            Said::Look { epoch, .. } => {
                self.heard_look(*epoch, now);
                None
            }
            Said::Order { order: Some(order), .. } => self.heard_order(order, now),
            Said::Order { order: None, .. } => self.obey(None),
        }
    }

    /// The store lost its memory: its epochs begin anew, and it has no votes.
    pub(super) fn is_forgotten(&mut self, now: Now) -> Option<Act> {
        self.newest = 0;
        self.known = None;
        self.vote_again(now)
    }

    fn heard_open(&mut self, finding: &Finding, now: Now) -> Option<Act> {
        let is_known = self.known.as_ref().is_some_and(|known| known.what.epoch == finding.epoch);
        if finding.epoch <= self.newest && !is_known {
            return None;
        }
        self.newest = finding.epoch;
        let known = self.known.insert(Lasting::new(finding.left_ms, finding.clone(), now.ms));
        let is_mine = known.what.holder == self.me;
        if is_known || self.doubts_from_ms.is_some_and(|from_ms| from_ms <= now.ms) {
            return None;
        }
        // Where its own finding holds it already, advice is what holds it after that.
        let held_since_ms = self.own.map_or(now.ms, |own| own.until_ms.max(now.ms));
        let trust_ms = TRUST * u64::from(now.max_open_ms) + self.rng.u64(0..=now.open_for_ms.into());
        let doubts_from_ms = *self.doubts_from_ms.get_or_insert(held_since_ms + trust_ms);
        if is_mine {
            // It is to probe then, whatever it was advised before.
            self.look_at_ms = Some(doubts_from_ms.min(now.ms + u64::from(finding.left_ms)));
            return Some(Act::Advise(finding.left_ms));
        }
        self.look_at_ms = Some(doubts_from_ms);
        let spread_ms = self.rng.u64(0..=spread_ms(finding.live, now.max_open_ms));
        let ms = u64::from(finding.left_ms) + u64::from(finding.awaits_ms()) + spread_ms;
        Some(Act::Advise(u32::try_from(ms).unwrap_or(u32::MAX)))
    }

    fn heard_look(&mut self, epoch: u64, now: Now) {
        if epoch < self.newest {
            return;
        }
        self.newest = epoch;
        if let Some(known) = self.known.take() {
            let spread_ms = spread_ms(known.what.live, now.max_open_ms);
            self.look_at_ms = Some(now.ms + self.rng.u64(0..=spread_ms));
        }
    }

    fn heard_order(&mut self, order: &Order, now: Now) -> Option<Act> {
        let lasting = Lasting::new(order.left_ms, order.clone(), now.ms);
        if let Some(obeyed) = self.obeys.as_mut().filter(|obeyed| obeyed.what.id == order.id) {
            obeyed.until_ms = lasting.until_ms;
            return None;
        }
        if now.is_held && self.obeys.is_none() {
            self.overruled = Some(order.id);
        }
        if self.overruled == Some(order.id) {
            return None;
        }
        self.obey(Some(lasting))
    }

    fn obey(&mut self, order: Option<Lasting<Order>>) -> Option<Act> {
        let after = order.as_ref().map(|order| order.what.action);
        let before = std::mem::replace(&mut self.obeys, order).map(|order| order.what.action);
        (before.is_some() || after.is_some()).then_some(Act::Obey { before, after })
    }

    /// When [`due`](Self::due) has something to say.
    pub(super) fn next_ms(&self) -> Option<u64> {
        let order_ends = self.obeys.as_ref().map(|obeyed| obeyed.until_ms);
        [self.look_at_ms, self.own.map(|own| own.repeat_at_ms), order_ends].into_iter().flatten().min()
    }

    /// What time has brought: one thing at a time.
    pub(super) fn due(&mut self, now: Now) -> Option<Act> {
        if self.obeys.as_ref().is_some_and(|obeyed| obeyed.until_ms <= now.ms) {
            return self.obey(None);
        }
        if self.look_at_ms.take_if(|at_ms| *at_ms <= now.ms).is_some() {
            // While it doubts, once an open time.
            let again_ms = now.ms + u64::from(now.open_for_ms);
            self.look_at_ms =
                self.doubts_from_ms.map(|from_ms| if from_ms > now.ms { from_ms } else { again_ms });
            return Some(Act::Recover);
        }
        self.own.take_if(|own| own.until_ms <= now.ms);
        self.own.filter(|own| own.repeat_at_ms <= now.ms)?;
        let is_covered = self.is_covered(now);
        self.vote_again(now).filter(|_| !is_covered)
    }

    /// Until when its own finding holds it.
    pub(super) fn votes_until_ms(&self, now_ms: u64) -> Option<u64> {
        self.own.map(|own| own.until_ms).filter(|until_ms| now_ms < *until_ms)
    }

    /// The finding that is in force, as far as is known.
    pub(super) fn finding(&self, now_ms: u64) -> Option<&Lasting<Finding>> {
        self.known.as_ref().filter(|known| known.is_in_force(now_ms))
    }

    /// Whether this instance is the one to probe.
    pub(super) fn holds(&self, finding: &Lasting<Finding>) -> bool {
        finding.what.holder == self.me
    }
}

/// Whether the breaker opened on what its own calls told.
fn is_evidence(cause: Cause, now: Now) -> bool {
    match cause {
        Cause::ThresholdReached | Cause::SlowThresholdReached | Cause::ProbesFailed | Cause::ProbesLost => {
            true
        }
        Cause::TripRequested => now.counts_requests,
        _ => false,
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
fn probes_after_ms(open_ms: u32, open_for_ms: u32, rng: &mut Rng) -> u32 {
    let shortest_ms = rng.u32(open_for_ms / 5 * 4..=open_for_ms);
    (open_ms / 2).max(shortest_ms).min(open_ms)
}
