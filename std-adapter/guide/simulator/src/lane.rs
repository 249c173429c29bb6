//! One breaker, and what becomes of the calls before it.
//!
//! It is asked and told as `nanobreaker replay` does: a call counts when it ends, or after `hung_after`; of what
//! happens in the same microsecond, hung calls come first, then ends, then begins.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::cmp::Reverse;

use nanobreaker_core::window::Adjustable;
use nanobreaker_core::{
    Breaker, Cause, ManualClock, Observer, Outcome, Phase, Recorded, Settings, Token, Transition,
};
use nanobreaker_settings::WORDS;

use crate::account::{Change, Tally, Trip};
use crate::log::EPOCH_MS;
use crate::outage::Outage;
use crate::refusal::Refusal;
use crate::setup::Setup;
use crate::traffic::Call;
use crate::why::Recent;

/// So many equal parts of the scene are counted one by one, for drawing.
pub(crate) const PARTS: usize = 400;

/// The first trips are kept one by one, and the first changes of phase; all are counted.
const MOST_KEPT: usize = 2_000;

/// Hears the breaker.
#[derive(Default)]
struct Ear {
    now_ms: Cell<u64>,
    has_news: Cell<bool>,
    news: RefCell<Vec<Transition>>,
    recent: RefCell<Recent>,
}

impl Observer for Ear {
    fn transition(&self, transition: &Transition) {
        self.news.borrow_mut().push(*transition);
        self.has_news.set(true);
    }

    #[inline]
    fn recorded(&self, token: Token, outcome: Outcome, recorded: Recorded) {
        if recorded == Recorded::Counted && !token.is_probe() {
            self.recent.borrow_mut().note(self.now_ms.get(), outcome);
        }
    }
}

/// What happens to a call under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// It has taken `hung_after`.
    Hangs,
    /// It ends.
    Ends,
}

/// Something that is going to happen, in the order of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at_us: u64,
    step: Step,
    /// The call's number: of two that end at once the earlier one goes first.
    number: u64,
    /// The token, unless the call was judged before it ends.
    token: Option<u32>,
    fails: bool,
    slow: bool,
}

/// One breaker before the scene's calls.
pub struct Lane {
    breaker: Breaker<Adjustable<WORDS, WORDS>, ManualClock, Ear>,
    settings: Settings,
    outage: Outage,
    length_us: u64,
    due: BinaryHeap<Reverse<Due>>,
    number: u64,
    under_way: u32,
    now_us: u64,
    opened_at_us: Option<u64>,
    tally: Tally,
    parts: Vec<[u32; 4]>,
    trips: Vec<Trip>,
    /// Whether the last of `trips` is the one that has not ended.
    trip_is_kept: bool,
    changes: Vec<Change>,
    /// Whether it was open when the outage began, and when it ended: known from the first change after that.
    open_at_ends: [Option<bool>; 2],
    first_open_in_outage_us: Option<u64>,
    first_closed_after_us: Option<u64>,
}

impl Lane {
    /// A new breaker with these settings.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] where the settings can't be, which a [`Setup`] has ruled out.
    pub fn new(setup: &Setup, outage: &Outage, length_us: u64) -> Result<Self, Refusal> {
        let settings = *setup.complete();
        let window = Adjustable::new(&settings)
            .map_err(|error| Refusal::new(error.field(), alloc::format!("{error}")))?;
        let clock = ManualClock::new(EPOCH_MS);
        let breaker = Breaker::with_observer(window, (), clock, Ear::default());
        // As a replay's first breaker.
        breaker.seed(0);
        Ok(Self {
            breaker,
            settings,
            outage: outage.clone(),
            length_us,
            due: BinaryHeap::new(),
            number: 0,
            under_way: 0,
            now_us: 0,
            opened_at_us: None,
            tally: Tally::default(),
            parts: alloc::vec![[0; 4]; PARTS],
            trips: Vec::new(),
            trip_is_kept: false,
            changes: Vec::new(),
            open_at_ends: [None; 2],
            first_open_in_outage_us: None,
            first_closed_after_us: None,
        })
    }

    /// A call begins. Calls come in the order of their begins.
    pub fn begin(&mut self, call: &Call) {
        self.play_until(call.start_us);
        self.set_time(call.start_us);
        self.number += 1;
        let slow = call.duration_us > micros(self.settings.slow_after_ms);
        let bad = call.fails || slow;
        let admitted = self.breaker.allow_token();
        // Asking may itself be what makes it half-open: the phase changes before the call is counted.
        self.follow();
        let column = match (&admitted, bad) {
            (Ok(_), false) => 0,
            (Ok(_), true) => 1,
            (Err(_), true) => 2,
            (Err(_), false) => 3,
        };
        self.count(call, column);
        if let Ok(token) = admitted {
            self.send(call, token, slow);
        }
    }

    fn count(&mut self, call: &Call, column: usize) {
        let part = (call.start_us * PARTS as u64 / self.length_us) as usize;
        if let Some(count) = self.parts.get_mut(part).and_then(|part| part.get_mut(column)) {
            *count += 1;
        }
        let tally = &mut self.tally;
        tally.calls += 1;
        let trip = if self.trip_is_kept { self.trips.last_mut() } else { None };
        match column {
            0 => tally.good += 1,
            1 => {
                tally.bad += 1;
                tally.waited_us += call.duration_us;
            }
            2 => {
                tally.saved += 1;
                tally.saved_us += call.duration_us;
                if let Some(trip) = trip {
                    trip.saved += 1;
                }
            }
            _ => {
                tally.lost += 1;
                if let Some(trip) = trip {
                    trip.lost += 1;
                }
            }
        }
    }

    fn send(&mut self, call: &Call, token: Token, slow: bool) {
        let hung_after_us = micros(self.settings.hung_after_ms);
        let hangs = call.duration_us > hung_after_us;
        let token = Some(token.to_bits());
        let end = Due {
            at_us: call.end_us(),
            step: Step::Ends,
            number: self.number,
            token: if hangs { None } else { token },
            fails: call.fails,
            slow,
        };
        self.due.push(Reverse(end));
        if hangs {
            let at_us = call.start_us + hung_after_us;
            let slow = hung_after_us > micros(self.settings.slow_after_ms);
            self.due.push(Reverse(Due { at_us, step: Step::Hangs, token, slow, ..end }));
        }
        self.under_way += 1;
        self.tally.most_under_way = self.tally.most_under_way.max(self.under_way);
    }

    /// Plays what is due until then, that moment included.
    pub fn play_until(&mut self, until_us: u64) {
        while let Some(Reverse(due)) = self.due.peek().copied()
            && due.at_us <= until_us
        {
            self.due.pop();
            self.set_time(due.at_us);
            if due.step == Step::Ends {
                self.under_way -= 1;
            }
            let outcome = match (due.fails || due.step == Step::Hangs, due.slow) {
                (true, true) => Outcome::SlowFailure,
                (true, false) => Outcome::Failure,
                (false, true) => Outcome::Slow,
                (false, false) => Outcome::Success,
            };
            if let Some(token) = due.token {
                let _ = self.breaker.record(Token::from_bits(token), outcome);
                self.follow();
            }
        }
    }

    /// All calls have begun: plays the ends of those under way, until the last call of the scene has ended.
    pub fn finish(&mut self, last_us: u64) {
        self.play_until(last_us);
        self.set_time(last_us);
        if let Some(since_us) = self.opened_at_us.take() {
            self.tally.not_closed_us += last_us - since_us;
        }
    }

    fn set_time(&mut self, at_us: u64) {
        self.now_us = at_us;
        let now_ms = EPOCH_MS + at_us / 1_000;
        self.breaker.clock().set(now_ms);
        self.breaker.observer().now_ms.set(now_ms);
    }

    /// Takes in what the breaker's last step changed.
    #[inline]
    fn follow(&mut self) {
        if self.breaker.observer().has_news.replace(false) {
            self.take_in();
        }
    }

    #[cold]
    fn take_in(&mut self) {
        let news = self.breaker.observer().news.take();
        for transition in news {
            let at_us = self.now_us;
            if self.changes.len() < MOST_KEPT {
                let to = transition.to.name();
                self.changes.push(Change { at_us, to, cause: transition.cause.name() });
            }
            if let Some((from_us, to_us)) = self.outage.span_us() {
                for (end_us, was_open) in [from_us, to_us].into_iter().zip(&mut self.open_at_ends) {
                    if at_us >= end_us {
                        was_open.get_or_insert(transition.from != Phase::Closed);
                    }
                }
            }
            match transition.to {
                Phase::Open | Phase::Isolated => self.opened(transition.cause),
                Phase::Closed => self.closed(),
                Phase::HalfOpen | Phase::Recovering | Phase::Disabled => {}
            }
        }
    }

    fn opened(&mut self, cause: Cause) {
        let at_us = self.now_us;
        if let Some((from_us, to_us)) = self.outage.span_us()
            && (from_us..to_us).contains(&at_us)
        {
            self.first_open_in_outage_us.get_or_insert(at_us);
        }
        if self.opened_at_us.is_some() {
            self.tally.reopenings += 1;
            if self.trip_is_kept
                && let Some(trip) = self.trips.last_mut()
            {
                trip.reopenings += 1;
            }
            return;
        }
        self.opened_at_us = Some(at_us);
        let while_well = self.outage.severity(at_us) == 0;
        self.tally.trips += 1;
        self.tally.trips_while_well += u64::from(while_well);
        let mut recent = self.breaker.observer().recent.borrow_mut();
        self.trip_is_kept = self.trips.len() < MOST_KEPT;
        if self.trip_is_kept {
            self.trips.push(Trip {
                at_us,
                cause: cause.name(),
                evidence: recent.evidence(&self.settings, cause),
                while_well,
                reopenings: 0,
                closed_at_us: None,
                saved: 0,
                lost: 0,
            });
        }
        recent.clear();
    }

    fn closed(&mut self) {
        let at_us = self.now_us;
        if let Some((_, to_us)) = self.outage.span_us()
            && at_us >= to_us
        {
            self.first_closed_after_us.get_or_insert(at_us);
        }
        let Some(since_us) = self.opened_at_us.take() else {
            return;
        };
        self.tally.not_closed_us += at_us - since_us;
        if self.trip_is_kept
            && let Some(trip) = self.trips.last_mut()
        {
            trip.closed_at_us = Some(at_us);
        }
        self.trip_is_kept = false;
    }

    /// What became of the calls so far.
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The first trips.
    pub fn trips(&self) -> &[Trip] {
        &self.trips
    }

    /// The first changes of phase.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// What became of the calls of each part of the scene: good, bad, saved, lost.
    pub fn parts(&self) -> &[[u32; 4]] {
        &self.parts
    }

    /// The phase as it stands.
    pub fn phase(&self) -> Phase {
        self.breaker.phase()
    }

    /// Calls under way.
    pub const fn under_way(&self) -> u32 {
        self.under_way
    }

    /// From the begin of the outage until the breaker was open: 0 where it was open already.
    pub fn time_to_trip_us(&self) -> Option<u64> {
        let (from_us, _) = self.outage.span_us()?;
        let [at_begin, _] = self.open_at_ends;
        if self.was_open(from_us, at_begin)? {
            return Some(0);
        }
        self.first_open_in_outage_us.map(|at_us| at_us - from_us)
    }

    /// From the end of the outage until the breaker was closed: 0 where it was closed already.
    pub fn time_to_close_us(&self) -> Option<u64> {
        let (_, to_us) = self.outage.span_us()?;
        let [_, at_end] = self.open_at_ends;
        if !self.was_open(to_us, at_end)? {
            return Some(0);
        }
        self.first_closed_after_us.map(|at_us| at_us - to_us)
    }

    /// Whether it was open at that moment: as it is now, if nothing has changed since. Not known before.
    fn was_open(&self, at_us: u64, known: Option<bool>) -> Option<bool> {
        (self.now_us >= at_us).then(|| known.unwrap_or(self.phase() != Phase::Closed))
    }
}

/// A limit in microseconds; without one no call reaches it.
fn micros(limit_ms: Option<u32>) -> u64 {
    limit_ms.map_or(u64::MAX, |ms| u64::from(ms) * 1_000)
}
