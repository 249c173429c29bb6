//! Plays a log against real breakers, on a clock that shows the log's time.
//!
//! While a breaker is open the log goes on telling what each rejected call would have come to, and
//! what its probes see. What a log can't tell is what would have been different: callers that retry
//! less, a dependency that recovers sooner because it is left alone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use nanobreaker::{
    Clock, ManualClock, Outcome, Settings, SettingsError, SharedBreaker, Token, Transition,
};

use crate::configuration::Configuration;
use crate::reading::{Call, Keys};
use crate::replaying::histogram::{Bin, Histogram};
use crate::replaying::schedule::{Event, Moment};
use crate::replaying::tally::Tally;
use crate::replaying::trips::{Course, MOST_KEPT, Trip};

/// The log's time, for all breakers of one replay.
#[derive(Clone)]
struct LogClock(Arc<ManualClock>);

impl Clock for LogClock {
    fn now_ms(&self) -> u64 {
        self.0.now_ms()
    }
}

/// One breaker of the replay.
struct Guarded {
    breaker: SharedBreaker<LogClock>,
    limits: Limits,
    course: Course,
    /// As far as ended and hung calls tell.
    trouble_since_us: Option<i64>,
}

/// How long calls may take.
#[derive(Clone, Copy, Debug)]
struct Limits {
    slow_after_us: u64,
    hung_after_us: u64,
}

impl Limits {
    fn of(settings: &Settings) -> Self {
        let micros = |limit: Option<std::time::Duration>| {
            limit.map_or(u64::MAX, |limit| {
                u64::try_from(limit.as_micros()).unwrap_or(u64::MAX)
            })
        };
        Self {
            slow_after_us: micros(settings.slow_after),
            hung_after_us: micros(settings.hung_after),
        }
    }

    fn is_slow(self, call: &Call) -> bool {
        call.outcome == Outcome::Success && call.duration_us() > self.slow_after_us
    }
}

/// What the breaker said to a call under way.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Admitted(Token),
    Rejected,
    /// Admitted, and judged before it ended: it hung.
    Judged,
}

/// A call that is going to hang.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Hanging {
    at_us: i64,
    slot: u32,
    key: u32,
    start_us: i64,
}

/// Plays events against one configuration.
pub(crate) struct Player {
    configuration: Configuration,
    clock: LogClock,
    breakers: Vec<Option<Guarded>>,
    answers: Vec<Answer>,
    /// Calls that are going to hang: when, and which.
    hanging: BinaryHeap<Reverse<Hanging>>,
    news: Receiver<(u32, Transition)>,
    teller: Sender<(u32, Transition)>,
    tally: Tally,
    trips: Vec<Trip>,
    histogram: Histogram,
    freed: u64,
    last_us: i64,
    first_us: Option<i64>,
}

/// What a replay came to.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) tally: Tally,
    /// In the order of time; the first [`MOST_KEPT`] to end.
    pub(crate) trips: Vec<Trip>,
    pub(crate) histogram: Histogram,
    /// When the first call began and the last one ended; `None` where there was none.
    pub(crate) span_us: Option<(i64, i64)>,
}

impl Player {
    pub(crate) fn new(configuration: Configuration) -> Self {
        let (teller, news) = channel();
        Self {
            configuration,
            clock: LogClock(Arc::new(ManualClock::new(0))),
            breakers: Vec::new(),
            answers: Vec::new(),
            hanging: BinaryHeap::new(),
            news,
            teller,
            tally: Tally::default(),
            trips: Vec::new(),
            histogram: Histogram::default(),
            freed: 0,
            last_us: i64::MIN,
            first_us: None,
        }
    }

    /// Plays the next events.
    ///
    /// # Errors
    ///
    /// What is wrong with the settings, if they were not checked.
    pub(crate) fn play(&mut self, events: &[Event], keys: &Keys) -> Result<(), SettingsError> {
        for event in events {
            self.guard(event.call.key, keys)?;
            self.hang_until(event.at_us());
            self.set_time(event.at_us());
            match event.moment {
                Moment::Start => self.start(event),
                Moment::End => self.end(event),
            }
        }
        Ok(())
    }

    /// The log is over.
    pub(crate) fn finish(mut self) -> Played {
        for guarded in self.breakers.iter_mut().flatten() {
            if let Some(trip) = guarded.course.finish(self.last_us, &mut self.tally)
                && self.trips.len() < MOST_KEPT
            {
                self.trips.push(trip);
            }
        }
        self.trips.sort_by_key(|trip| (trip.at_us, trip.key));
        Played {
            tally: self.tally,
            trips: self.trips,
            histogram: self.histogram,
            span_us: self.first_us.map(|first_us| (first_us, self.last_us)),
        }
    }

    fn set_time(&mut self, at_us: i64) {
        self.first_us.get_or_insert(at_us);
        self.last_us = at_us;
        // Times before the epoch wrap, as the breaker's own times do.
        self.clock.0.set(at_us.div_euclid(1_000) as u64);
    }

    /// Makes the key's breaker if it has none yet.
    fn guard(&mut self, key: u32, keys: &Keys) -> Result<(), SettingsError> {
        let index = key as usize;
        if self.breakers.len() <= index {
            self.breakers.resize_with(index + 1, || None);
        }
        if let Some(place @ None) = self.breakers.get_mut(index) {
            let settings = self.configuration.settings(keys.name(key));
            let teller = self.teller.clone();
            let breaker = SharedBreaker::builder()
                .clock(self.clock.clone())
                .settings(&settings)?
                .on_transition(move |transition| {
                    // Refused only where no one listens any more.
                    let _ = teller.send((key, *transition));
                })
                .build()?;
            // Two replays of one log are to come to the same.
            breaker.seed(key);
            *place = Some(Guarded {
                breaker,
                limits: Limits::of(&settings),
                course: Course::NEW,
                trouble_since_us: None,
            });
        }
        Ok(())
    }

    fn start(&mut self, event: &Event) {
        let call = &event.call;
        let Some(Some(guarded)) = self.breakers.get_mut(call.key as usize) else {
            return;
        };
        let is_slow = guarded.limits.is_slow(call);
        self.tally.count(call, is_slow);
        let answer = match guarded.breaker.allow_token() {
            Ok(token) => {
                let hung_after_us = guarded.limits.hung_after_us;
                if call.duration_us() > hung_after_us {
                    self.hanging.push(Reverse(Hanging {
                        at_us: call.start_us.saturating_add_unsigned(hung_after_us),
                        slot: event.slot,
                        key: call.key,
                        start_us: call.start_us,
                    }));
                }
                Answer::Admitted(token)
            }
            Err(_) => {
                self.tally.reject(call, is_slow);
                guarded.course.reject(call);
                self.freed += u64::from(call.failed());
                self.tally.workers_freed_at_once = self.tally.workers_freed_at_once.max(self.freed);
                Answer::Rejected
            }
        };
        self.histogram.add(call.start_us, bin(call, answer));
        let slot = event.slot as usize;
        if self.answers.len() <= slot {
            self.answers.resize(slot + 1, Answer::Judged);
        }
        if let Some(place) = self.answers.get_mut(slot) {
            *place = answer;
        }
        self.follow();
    }

    fn end(&mut self, event: &Event) {
        let call = &event.call;
        let Some(Some(guarded)) = self.breakers.get_mut(call.key as usize) else {
            return;
        };
        guarded.trouble_since_us = event.trouble_since_us;
        match self.answers.get(event.slot as usize) {
            Some(Answer::Admitted(token)) => {
                let outcome = if guarded.limits.is_slow(call) {
                    Outcome::Slow
                } else {
                    call.outcome
                };
                guarded.breaker.record(*token, outcome);
                self.follow();
            }
            Some(Answer::Rejected) => self.freed -= u64::from(call.failed()),
            Some(Answer::Judged) | None => {}
        }
    }

    /// Judges the calls that hang until then.
    fn hang_until(&mut self, at_us: i64) {
        while let Some(Reverse(hanging)) = self.hanging.peek().copied()
            && hanging.at_us <= at_us
        {
            self.hanging.pop();
            self.set_time(hanging.at_us);
            if let (Some(Some(guarded)), Some(answer)) = (
                self.breakers.get_mut(hanging.key as usize),
                self.answers.get_mut(hanging.slot as usize),
            ) && let Answer::Admitted(token) = *answer
            {
                *answer = Answer::Judged;
                let since_us = guarded.trouble_since_us.unwrap_or(hanging.start_us);
                guarded.trouble_since_us = Some(since_us.min(hanging.start_us));
                guarded.breaker.record(token, Outcome::Failure);
                self.follow();
            }
        }
    }

    /// Takes in the transitions that the last step made.
    fn follow(&mut self) {
        while let Ok((key, transition)) = self.news.try_recv() {
            let Some(Some(guarded)) = self.breakers.get_mut(key as usize) else {
                continue;
            };
            let ended = guarded.course.follow(
                key,
                &transition,
                self.last_us,
                guarded.trouble_since_us,
                &mut self.tally,
            );
            if let Some(trip) = ended
                && self.trips.len() < MOST_KEPT
            {
                self.trips.push(trip);
            }
        }
    }
}

fn bin(call: &Call, answer: Answer) -> Bin {
    let mut bin = Bin::default();
    match (answer, call.failed()) {
        (Answer::Rejected, true) => bin.saved = 1,
        (Answer::Rejected, false) => bin.lost = 1,
        (_, true) => bin.failed = 1,
        (_, false) => bin.good = 1,
    }
    bin
}
