//! The rules of one instance for one breaker, as pure code: when it votes, and what it does on hearsay.
//!
//! The breaker itself is elsewhere. What it did comes in as [`Change`], what it is to do goes out as [`Act`],
//! and time is a number.

use std::sync::Arc;

use fastrand::Rng;
use nanobreaker_core::{Cause, Phase};

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

/// What the breaker's settings say that matters here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub(super) open_for_ms: u32,
    pub(super) max_open_ms: u32,
    /// How long a probe may take.
    pub(super) probe_ms: u32,
    /// Whether `trip()` is evidence as well.
    pub(super) counts_requests: bool,
}

/// A transition of the breaker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) to: Phase,
    pub(super) cause: Cause,
    pub(super) open_for_ms: u32,
}

/// What the breaker is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Advise(u32),
    Recover,
    /// And an order that this one replaces.
    Obey(OrderedAction, Option<OrderedAction>),
    /// An order is over.
    Release(OrderedAction),
}

/// What is known of one breaker beside its own state.
#[derive(Debug)]
pub(super) struct Member {
    me: Arc<str>,
    /// Until when it is open by its own finding.
    own_until_ms: Option<u64>,
    /// When the vote is to be repeated.
    repeat_at_ms: Option<u64>,
    known: Option<Known>,
    /// Findings up to this one are over, or were found to be wrong.
    settled: Option<u64>,
    run: Option<u64>,
    /// When it looks for itself, if advice alone holds it until then.
    trial_at_ms: Option<u64>,
    /// Advice has held it for too long: none is heeded until its own probe has answered.
    doubts: bool,
    look_at_ms: Option<u64>,
    obeys: Option<Obeyed>,
    /// An order that somebody here overruled.
    overruled: Option<u64>,
}

/// The finding that was heard of last.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) epoch: u64,
    pub(super) until_ms: u64,
    probe_ms: u32,
    spread_ms: u64,
    pub(super) is_mine: bool,
}

#[derive(Debug)]
pub(super) struct Obeyed {
    pub(super) action: OrderedAction,
    pub(super) reason: Arc<str>,
    pub(super) until_ms: u64,
    id: u64,
}

impl Known {
    /// Whether others still wait for the holder's probe.
    fn is_in_force(&self, now_ms: u64) -> bool {
        now_ms < self.until_ms + u64::from(self.probe_ms)
    }
}

impl Member {
    pub(super) fn new(me: Arc<str>) -> Self {
        Self {
            me,
            own_until_ms: None,
            repeat_at_ms: None,
            known: None,
            settled: None,
            run: None,
            trial_at_ms: None,
            doubts: false,
            look_at_ms: None,
            obeys: None,
            overruled: None,
        }
    }

    /// The breaker made a transition. Returns what the fleet is to hear.
    pub(super) fn changed(
        &mut self,
        change: Change,
        now_ms: u64,
        timing: Timing,
        rng: &mut Rng,
    ) -> Option<News> {
        self.heed_people(change);
        match (change.to, change.cause) {
            (Phase::Open | Phase::Isolated, cause) if is_evidence(cause, timing) => {
                // A latch holds without an end: a vote for as long as a trip would have been.
                let left_ms = if change.to == Phase::Open { change.open_for_ms } else { timing.open_for_ms };
                self.own_until_ms = Some(now_ms + u64::from(left_ms));
                self.repeat_at_ms = Some(now_ms + about(REPEAT_MS, rng));
                self.trust_again();
                let covered = self.is_covered(now_ms);
                (!covered).then_some(News::Open { left_ms, probe_ms: timing.probe_ms })
            }
            (Phase::Closed | Phase::Recovering, Cause::ProbesSucceeded) => {
                self.forget_own();
                let known = self.known.take()?;
                // It knows better than that finding from here on.
                self.settled = Some(known.epoch);
                Some(News::Well { epoch: known.epoch })
            }
            (Phase::HalfOpen, _) => {
                self.repeat_at_ms = None;
                None
            }
            (Phase::Open, Cause::Advised) | (Phase::Closed, Cause::RampOver) => None,
            _ => {
                self.forget_own();
                None
            }
        }
    }

    /// A check in the background failed. As a holder's it is a probe that failed, once that was due.
    #[cfg(feature = "check")]
    pub(super) fn check_failed(&mut self, now_ms: u64, timing: Timing) -> Option<News> {
        let known = self.known.as_ref()?;
        let is_due = known.is_mine && known.until_ms <= now_ms;
        is_due.then_some(News::Open { left_ms: timing.open_for_ms, probe_ms: timing.probe_ms })
    }

    fn forget_own(&mut self) {
        self.own_until_ms = None;
        self.repeat_at_ms = None;
        self.trust_again();
    }

    fn trust_again(&mut self) {
        self.trial_at_ms = None;
        self.doubts = false;
        self.look_at_ms = None;
    }

    /// Somebody here decided otherwise than the order that is obeyed.
    fn heed_people(&mut self, change: Change) {
        let stands = |obeyed: &Obeyed| match obeyed.action {
            OrderedAction::Isolate => change.to == Phase::Isolated,
            OrderedAction::Disable => change.to == Phase::Disabled,
            OrderedAction::Shadow => true,
        };
        if let Some(obeyed) = self.obeys.take_if(|obeyed| !stands(obeyed)) {
            self.overruled = Some(obeyed.id);
        }
    }

    /// Whether others act on a finding already, so that a vote says nothing new.
    fn is_covered(&self, now_ms: u64) -> bool {
        self.known.as_ref().is_some_and(|known| !known.is_mine && known.is_in_force(now_ms))
    }

    /// The store said something. `is_held` is whether a person, or a latch, holds the breaker here.
    pub(super) fn heard(
        &mut self,
        run: u64,
        said: &Said,
        now_ms: u64,
        timing: Timing,
        is_held: bool,
        rng: &mut Rng,
    ) -> Option<Act> {
        self.in_run(run, now_ms);
        match said {
            Said::Open(finding) => self.heard_open(finding, now_ms, timing, rng),
            Said::Look { epoch, .. } => {
                self.heard_look(*epoch, now_ms, rng);
                None
            }
            Said::Order { order, .. } => self.heard_order(order.as_ref(), now_ms, is_held),
        }
    }

    /// A memory of the store that is not the one known: its epochs begin anew, and it has no votes.
    pub(super) fn in_run(&mut self, run: u64, now_ms: u64) {
        if self.run != Some(run) {
            if self.run.is_some() {
                self.settled = None;
                self.known = None;
                self.vote_again(now_ms);
            }
            self.run = Some(run);
        }
    }

    /// After a gap: what was said meanwhile may be lost.
    pub(super) fn vote_again(&mut self, now_ms: u64) {
        if self.own_until_ms.is_some_and(|until_ms| now_ms < until_ms) {
            self.repeat_at_ms = Some(now_ms);
        }
    }

    fn heard_open(&mut self, finding: &Finding, now_ms: u64, timing: Timing, rng: &mut Rng) -> Option<Act> {
        let newest = self.known.as_ref().map(|known| known.epoch).max(self.settled);
        let is_known = self.known.as_ref().is_some_and(|known| known.epoch == finding.epoch);
        if newest >= Some(finding.epoch) && !is_known {
            return None;
        }
        let spread_ms = spread_ms(finding.live, timing.max_open_ms);
        let is_mine = *finding.holder == *self.me;
        let until_ms = now_ms + u64::from(finding.left_ms);
        let probe_ms = finding.probe_ms;
        self.known = Some(Known { epoch: finding.epoch, until_ms, probe_ms, spread_ms, is_mine });
        if is_known || self.doubts {
            return None;
        }
        // Where its own finding holds it already, advice is what holds it after that.
        let held_since_ms = self.own_until_ms.map_or(now_ms, |until_ms| until_ms.max(now_ms));
        let trust_ms = TRUST * u64::from(timing.max_open_ms) + rng.u64(0..=timing.open_for_ms.into());
        self.trial_at_ms.get_or_insert(held_since_ms + trust_ms);
        if is_mine {
            // It is to probe then, whatever it was advised before.
            let ms = probes_after_ms(finding.left_ms, timing.open_for_ms, rng);
            self.look_at_ms = Some(now_ms + u64::from(ms));
            return Some(Act::Advise(ms));
        }
        self.look_at_ms = None;
        let spread = rng.u64(0..=spread_ms);
        let ms = u64::from(finding.left_ms) + u64::from(finding.probe_ms) + spread;
        Some(Act::Advise(u32::try_from(ms).unwrap_or(u32::MAX)))
    }

    fn heard_look(&mut self, epoch: u64, now_ms: u64, rng: &mut Rng) {
        if self.settled >= Some(epoch) {
            return;
        }
        self.settled = Some(epoch);
        if let Some(known) = self.known.take_if(|known| known.epoch <= epoch) {
            self.look_at_ms = Some(now_ms + rng.u64(0..=known.spread_ms));
        }
    }

    fn heard_order(&mut self, order: Option<&Order>, now_ms: u64, is_held: bool) -> Option<Act> {
        let Some(order) = order else {
            return self.obeys.take().map(|obeyed| Act::Release(obeyed.action));
        };
        let until_ms = now_ms + u64::from(order.left_ms);
        if let Some(obeyed) = self.obeys.as_mut().filter(|obeyed| obeyed.id == order.id) {
            obeyed.until_ms = until_ms;
            return None;
        }
        if self.overruled == Some(order.id) {
            return None;
        }
        if is_held && self.obeys.is_none() {
            self.overruled = Some(order.id);
            return None;
        }
        let (action, reason) = (order.action, Arc::clone(&order.reason));
        let before = self.obeys.replace(Obeyed { action, reason, until_ms, id: order.id });
        Some(Act::Obey(action, before.map(|obeyed| obeyed.action)))
    }

    /// When [`due`](Self::due) has something to say.
    pub(super) fn next_ms(&self) -> Option<u64> {
        let order_ends = self.obeys.as_ref().map(|obeyed| obeyed.until_ms);
        [self.look_at_ms, self.repeat_at_ms, self.trial_at_ms, order_ends].into_iter().flatten().min()
    }

    /// What time has brought.
    pub(super) fn due(&mut self, now_ms: u64, timing: Timing, rng: &mut Rng) -> (Option<Act>, Option<News>) {
        (self.act_due(now_ms, timing), self.repeat_due(now_ms, timing, rng))
    }

    fn act_due(&mut self, now_ms: u64, timing: Timing) -> Option<Act> {
        if let Some(obeyed) = self.obeys.take_if(|obeyed| obeyed.until_ms <= now_ms) {
            return Some(Act::Release(obeyed.action));
        }
        if self.look_at_ms.take_if(|at_ms| *at_ms <= now_ms).is_some() {
            return Some(Act::Recover);
        }
        if self.trial_at_ms.is_some_and(|at_ms| at_ms <= now_ms) {
            self.doubts = true;
            self.trial_at_ms = Some(now_ms + u64::from(timing.open_for_ms));
            return Some(Act::Recover);
        }
        None
    }

    fn repeat_due(&mut self, now_ms: u64, timing: Timing, rng: &mut Rng) -> Option<News> {
        self.repeat_at_ms.take_if(|at_ms| *at_ms <= now_ms)?;
        let until_ms = self.own_until_ms.filter(|until_ms| now_ms < *until_ms)?;
        self.repeat_at_ms = Some(now_ms + about(REPEAT_MS, rng));
        if self.is_covered(now_ms) {
            return None;
        }
        let left_ms = u32::try_from(until_ms - now_ms).unwrap_or(u32::MAX);
        Some(News::Still { left_ms, probe_ms: timing.probe_ms })
    }

    /// Until when its own finding holds it.
    pub(super) fn votes_until_ms(&self, now_ms: u64) -> Option<u64> {
        self.own_until_ms.filter(|until_ms| now_ms < *until_ms)
    }

    /// The finding that is in force, as far as is known.
    pub(super) fn finding(&self, now_ms: u64) -> Option<&Known> {
        self.known.as_ref().filter(|known| known.is_in_force(now_ms))
    }

    pub(super) fn order(&self) -> Option<&Obeyed> {
        self.obeys.as_ref()
    }
}

/// Whether the breaker opened on what its own calls told.
fn is_evidence(cause: Cause, timing: Timing) -> bool {
    match cause {
        Cause::ThresholdReached | Cause::SlowThresholdReached | Cause::ProbesFailed | Cause::ProbesLost => {
            true
        }
        Cause::TripRequested => timing.counts_requests,
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

/// When the holder probes of a finding that has `left_ms` to go. It probes for all, so what backoff made longer than
/// an open time is halved: two breakers by themselves would probe as often. The shortest is an open time, less up to
/// 20 %, so that groups do not move in step.
fn probes_after_ms(left_ms: u32, open_for_ms: u32, rng: &mut Rng) -> u32 {
    let shortest_ms = rng.u32(open_for_ms / 5 * 4..=open_for_ms);
    (left_ms / 2).max(shortest_ms).min(left_ms)
}
