//! Plays a log against real breakers, on a clock that shows the log's time.
//!
//! While a breaker is open the log goes on telling what each rejected call would have come to, and
//! what its probes see. What a log can't tell is what would have been different: callers that retry
//! less, a dependency that recovers sooner because it is left alone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use nanobreaker::{
    Clock, ManualClock, Outcome, PartialSettings, SettingsError, SharedBreaker, Token, Transition,
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

/// The transitions that the breakers have made and nobody has taken in.
#[derive(Default)]
struct News {
    is_there: AtomicBool,
    transitions: Mutex<Vec<(u32, Transition)>>,
}

impl News {
    fn tell(&self, key: u32, transition: Transition) {
        let mut transitions = self.transitions.lock().unwrap_or_else(PoisonError::into_inner);
        transitions.push((key, transition));
        // Relaxed: the player's own thread told it, within a call of its own.
        self.is_there.store(true, Ordering::Relaxed);
    }

    /// Transitions are rare: without one this is a load.
    #[inline]
    fn take(&self) -> Vec<(u32, Transition)> {
        // Relaxed: see above.
        if !self.is_there.load(Ordering::Relaxed) {
            return Vec::new();
        }
        self.is_there.store(false, Ordering::Relaxed);
        let mut transitions = self.transitions.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *transitions)
    }
}

/// One breaker of the replay.
struct Guarded {
    breaker: SharedBreaker,
    limits: Limits,
    course: Course,
    /// Before the log is split, and after.
    tallies: [Tally; 2],
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
    /// With those that follow from others: a percentile has a limit, too.
    fn of(settings: &PartialSettings) -> Result<Self, SettingsError> {
        let complete = settings.complete()?;
        let micros = |limit: Option<u32>| limit.map_or(u64::MAX, |ms| u64::from(ms) * 1_000);
        Ok(Self {
            slow_after_us: micros(complete.slow_after_ms),
            hung_after_us: micros(complete.hung_after_ms),
        })
    }

    /// Whether nothing but its length was wrong with a call.
    fn is_slow(self, call: &Call) -> bool {
        call.outcome == Outcome::Success && call.duration_us() > self.slow_after_us
    }

    /// What a breaker's caller makes of a call that took so long.
    fn judged(self, outcome: Outcome, took_us: u64) -> Outcome {
        match outcome {
            Outcome::Success | Outcome::Cancelled if took_us > self.slow_after_us => Outcome::Slow,
            Outcome::Failure if took_us > self.slow_after_us => Outcome::SlowFailure,
            outcome => outcome,
        }
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
    news: Arc<News>,
    trips: Vec<Trip>,
    /// Only where it is to be drawn.
    histogram: Option<Histogram>,
    /// Calls that begin from here on are counted apart.
    split_us: i64,
    freed: u64,
    most_freed: u64,
    last_us: i64,
    first_us: Option<i64>,
}

/// What a replay came to.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) tally: Tally,
    /// The same by breaker, and there before the split of the log and after it.
    pub(crate) by_key: Vec<[Tally; 2]>,
    /// In the order of time; the first [`MOST_KEPT`] to end.
    pub(crate) trips: Vec<Trip>,
    pub(crate) histogram: Option<Histogram>,
    /// When the first call began and the last one ended; `None` where there was none.
    pub(crate) span_us: Option<(i64, i64)>,
}

impl Player {
    pub(crate) fn new(configuration: Configuration) -> Self {
        Self {
            configuration,
            clock: LogClock(Arc::new(ManualClock::new(0))),
            breakers: Vec::new(),
            answers: Vec::new(),
            hanging: BinaryHeap::new(),
            news: Arc::new(News::default()),
            trips: Vec::new(),
            histogram: None,
            split_us: i64::MAX,
            freed: 0,
            most_freed: 0,
            last_us: i64::MIN,
            first_us: None,
        }
    }

    /// Counts calls over time, too.
    pub(crate) fn draw(&mut self) {
        self.histogram = Some(Histogram::default());
    }

    /// Counts calls that begin at this time or later apart.
    pub(crate) fn split_at(mut self, split_us: i64) -> Self {
        self.split_us = split_us;
        self
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
        let mut by_key = Vec::with_capacity(self.breakers.len());
        let part = usize::from(self.last_us >= self.split_us);
        for guarded in &mut self.breakers {
            let Some(guarded) = guarded else {
                by_key.push([Tally::default(); 2]);
                continue;
            };
            if let Some(trip) = guarded.course.finish(self.last_us, &mut guarded.tallies[part])
                && self.trips.len() < MOST_KEPT
            {
                self.trips.push(trip);
            }
            by_key.push(guarded.tallies);
        }
        self.trips.sort_by_key(|trip| (trip.at_us, trip.key));
        let sum = by_key.iter().flatten().fold(Tally::default(), |sum, one| sum.and(*one));
        Played {
            tally: Tally { workers_freed_at_once: self.most_freed, ..sum },
            by_key,
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
            let news = Arc::clone(&self.news);
            let breaker = SharedBreaker::builder()
                .clock(self.clock.clone())
                .settings(&settings)?
                .on_transition(move |transition| news.tell(key, *transition))
                .build()?;
            // Two replays of one log are to come to the same.
            breaker.seed(key);
            *place = Some(Guarded {
                breaker,
                limits: Limits::of(&settings)?,
                course: Course::NEW,
                tallies: [Tally::default(); 2],
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
        let part = usize::from(call.start_us >= self.split_us);
        let tally = &mut guarded.tallies[part];
        tally.count(call, is_slow);
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
                tally.reject(call, is_slow);
                guarded.course.reject(call, is_slow);
                self.freed += u64::from(call.failed() || is_slow);
                self.most_freed = self.most_freed.max(self.freed);
                Answer::Rejected
            }
        };
        if let Some(histogram) = &mut self.histogram {
            histogram.add(call.start_us, bin(call, answer, is_slow));
        }
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
                let outcome = guarded.limits.judged(call.outcome, call.duration_us());
                guarded.breaker.record(*token, outcome);
                self.follow();
            }
            Some(Answer::Rejected) => {
                self.freed -= u64::from(call.failed() || guarded.limits.is_slow(call));
            }
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
            if let (Some(Some(guarded)), Some(answer)) =
                (self.breakers.get_mut(hanging.key as usize), self.answers.get_mut(hanging.slot as usize))
                && let Answer::Admitted(token) = *answer
            {
                *answer = Answer::Judged;
                let since_us = guarded.trouble_since_us.unwrap_or(hanging.start_us);
                guarded.trouble_since_us = Some(since_us.min(hanging.start_us));
                let limits = guarded.limits;
                guarded.breaker.record(token, limits.judged(Outcome::Failure, limits.hung_after_us));
                self.follow();
            }
        }
    }

    /// Takes in the transitions that the last step made.
    fn follow(&mut self) {
        for (key, transition) in self.news.take() {
            let Some(Some(guarded)) = self.breakers.get_mut(key as usize) else {
                continue;
            };
            let part = usize::from(self.last_us >= self.split_us);
            let ended = guarded.course.follow(
                key,
                &transition,
                self.last_us,
                guarded.trouble_since_us,
                &mut guarded.tallies[part],
            );
            if let Some(trip) = ended
                && self.trips.len() < MOST_KEPT
            {
                self.trips.push(trip);
            }
        }
    }
}

fn bin(call: &Call, answer: Answer, is_slow: bool) -> Bin {
    let mut bin = Bin::default();
    let is_bad = call.failed() || is_slow && matches!(answer, Answer::Rejected);
    match (answer, is_bad) {
        (Answer::Rejected, true) => bin.saved = 1,
        (Answer::Rejected, false) => bin.lost = 1,
        (_, true) => bin.failed = 1,
        (_, false) => bin.good = 1,
    }
    bin
}
