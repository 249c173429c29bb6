//! A plain sequential model of the whole breaker, written from its documentation: unbounded
//! integers, lists, no packed words, no wrapping time.
//!
//! [`Model::after`] says for one operation which answers are allowed, and what the breaker is
//! afterwards with each. Mostly there is one. Where a clock jumped, or narrow words keep a time in
//! coarser units, there are several, and whoever checks a real breaker goes on with those that agree
//! with it. Jitter and rounding leave a range, until a snapshot shows what it came to.

// Each test that includes this module uses its own part of it.
#![allow(dead_code, unreachable_pub, reason = "shared by several tests")]

mod admission;
mod cusum;
mod opening;
pub mod play;
mod policy;
pub mod presets;
mod recording;
pub mod settings;
pub mod time;
mod window;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use nanobreaker_core::{Cause, Evidence, Outcome, Phase, Recorded, Settings, Snapshot, Transition};

use settings::{GENERATIONS, Numbers};
use time::{About, Elapsed, Left, Moment, Span};
use window::Windows;

/// The name that a call is known by, chosen by whoever makes it.
pub type Name = u32;

/// What can be asked of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Allow(Name),
    Record(Name, Outcome),
    Trip,
    TripFor(u64),
    Advise(u64),
    Recover,
    Isolate,
    Disable,
    Reset,
    Shadow(bool),
    /// Its state is saved, and restored as if it had slept so long.
    Restart(u64),
    /// Other settings take the place of these.
    Adjust(Settings),
}

/// What a breaker answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    Granted {
        generation: u16,
        probe: bool,
    },
    Rejected {
        phase: Phase,
        generation: u16,
        retry_after_ms: Option<u32>,
    },
    Recorded(Recorded),
    Changed(bool),
    Done,
    /// Somebody else adjusts.
    Busy,
}

/// What it may answer.
#[derive(Clone, Debug)]
pub enum Allowed {
    Granted { generation: u16, probe: bool },
    Rejected { phase: Phase, generation: u16, retry_after_ms: Option<RangeInclusive<i128>> },
    Recorded(Recorded),
    Changed(bool),
    Done,
}

impl Allowed {
    pub fn permits(&self, answer: &Answer) -> bool {
        match (self, answer) {
            (Self::Granted { generation, probe }, Answer::Granted { generation: g, probe: p }) => {
                (generation, probe) == (g, p)
            }
            (
                Self::Rejected { phase, generation, retry_after_ms },
                Answer::Rejected { phase: p, generation: g, retry_after_ms: r },
            ) => (phase, generation) == (p, g) && lies_in(*r, retry_after_ms),
            (Self::Recorded(allowed), Answer::Recorded(recorded)) => allowed == recorded,
            (Self::Changed(allowed), Answer::Changed(changed)) => allowed == changed,
            (Self::Done, Answer::Done) => true,
            _ => false,
        }
    }
}

fn lies_in(ms: Option<u32>, allowed: &Option<RangeInclusive<i128>>) -> bool {
    match (ms, allowed) {
        (Some(ms), Some(range)) => range.contains(&ms.into()),
        (None, None) => true,
        _ => false,
    }
}

/// A transition that the observer must be told of.
#[derive(Clone, Debug)]
pub struct Told {
    pub generation: u16,
    pub from: Phase,
    pub to: Phase,
    pub cause: Cause,
    pub streak: u8,
    pub open_for_ms: RangeInclusive<i128>,
}

impl Told {
    pub fn permits(&self, told: &Transition) -> bool {
        self.generation == told.generation
            && (self.from, self.to, self.cause) == (told.from, told.to, told.cause)
            && self.streak == told.streak
            && self.open_for_ms.contains(&told.open_for_ms.into())
    }
}

/// One allowed course of an operation.
#[derive(Clone, Debug)]
pub struct Course {
    pub answer: Allowed,
    pub told: Vec<Told>,
    pub model: Model,
}

impl fmt::Display for Course {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, told {:?}, {}", self.answer, self.told, self.model)
    }
}

/// How a call that passed will be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Counted,
    Probe,
    Uncounted,
    /// It passed while the breaker recovered in shadow: whether as one of the share can't be told.
    CountedOrNot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Pass {
    generation: u64,
    kind: Kind,
}

/// How an open time came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum OpenBy {
    Streak,
    Request,
    Advice,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stage {
    Closed {
        /// When it closed after a trip.
        since: Option<About>,
    },
    Open {
        ends: About,
        by: OpenBy,
        /// Whether the clock was set back, and the time began anew.
        again: bool,
    },
    HalfOpen {
        in_flight: u32,
        succeeded: u32,
        failed: u32,
        given_up: u32,
        lease_ends: About,
    },
    Recovering {
        since: About,
        row: Row,
    },
    Isolated,
    Disabled,
}

/// Calls in a row while the same part of the ramp was over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Row {
    elapsed_ms: i128,
    calls: i128,
    passed: i128,
}

/// The breaker, as documented.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Model {
    settings: Numbers,
    stage: Stage,
    in_shadow: bool,
    generation: u64,
    streak: u32,
    windows: Windows,
    passes: BTreeMap<Name, Pass>,
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (generation, streak) = (self.generation, self.streak);
        write!(f, "{:?}, generation {generation}, streak {streak}", self.stage)?;
        f.write_str(if self.in_shadow { ", in shadow" } else { "" })
    }
}

impl Model {
    pub fn new(settings: Settings) -> Self {
        let settings = Numbers::from(settings);
        Self::of(settings, Windows::new(settings.window, settings.slow))
    }

    /// The breaker whose first window is the [`policy`].
    pub fn of_policy(settings: Settings) -> Self {
        let settings = Numbers::from(settings);
        Self::of(settings, Windows::of_policy(settings.slow))
    }

    fn of(settings: Numbers, windows: Windows) -> Self {
        Self {
            settings,
            stage: Stage::Closed { since: None },
            in_shadow: false,
            generation: 0,
            streak: 0,
            windows,
            passes: BTreeMap::new(),
        }
    }

    /// All allowed courses of `operation`.
    pub fn after(&self, operation: Operation, now: Moment) -> Vec<Course> {
        match operation {
            Operation::Allow(name) => self.allow(name, now),
            Operation::Record(name, outcome) => self.record(name, outcome, now),
            Operation::Trip => self.trip(now),
            Operation::TripFor(ms) => self.trip_for(ms, now),
            Operation::Advise(ms) => self.advise(ms, now),
            Operation::Recover => self.recover(now),
            Operation::Isolate => self.hold(Stage::Isolated, Cause::Isolated),
            Operation::Disable => self.hold(Stage::Disabled, Cause::Disabled),
            Operation::Reset => {
                let mut next = self.in_next_generation(Stage::Closed { since: None });
                next.streak = 0;
                let told = self.told(&next, Cause::Reset, 0..=0);
                vec![next.answers(Allowed::Done, vec![told])]
            }
            Operation::Restart(slept_ms) => self.restart(slept_ms, now),
            Operation::Adjust(settings) => self.adjust(settings, now),
            Operation::Shadow(on) => {
                let mut next = self.clone();
                next.in_shadow = on;
                vec![next.answers(Allowed::Done, vec![])]
            }
        }
    }

    /// Whether the evidence at `now` may look like this.
    pub fn permits_evidence(&self, evidence: &Evidence, now: Moment) -> bool {
        self.windows.permit(evidence, now)
    }

    /// Whether a snapshot at `now` may look like this.
    pub fn permits(&self, snapshot: &Snapshot, now: Moment) -> bool {
        let (in_flight, succeeded, failed) = match self.stage {
            Stage::HalfOpen { in_flight, succeeded, failed, .. } => (in_flight, succeeded, failed),
            _ => (0, 0, 0),
        };
        let counts = [snapshot.in_flight, snapshot.succeeded, snapshot.failed].map(u32::from);
        snapshot.phase == self.phase()
            && snapshot.in_shadow == self.in_shadow
            && snapshot.generation == self.number()
            && u32::from(snapshot.streak) == self.streak
            && counts == [in_flight, succeeded, failed]
            && self.times_left(now).iter().any(|allowed| lies_in(snapshot.time_left_ms, allowed))
    }

    /// What a snapshot shows of a deadline settles what jitter and rounding left open.
    pub fn settled(mut self, snapshot: &Snapshot, now: Moment) -> Self {
        let Some(ms) = snapshot.time_left_ms.map(i128::from) else {
            return self;
        };
        let lefts = self.lefts(now);
        let (Stage::Open { ends, .. } | Stage::HalfOpen { lease_ends: ends, .. }) = &mut self.stage else {
            return self;
        };
        let pends = |left: &Left| matches!(left, Left::Pending(range) if range.contains(&ms));
        let is_exact = ends.start() == ends.end();
        if ms > 0 && !is_exact && lefts.iter().any(pends) && !lefts.contains(&Left::Beyond) {
            *ends = now + ms..=now + ms;
        }
        self
    }

    /// The call of this name won't be heard of again.
    pub fn forget(&mut self, name: Name) {
        self.passes.remove(&name);
    }

    pub fn phase(&self) -> Phase {
        match self.stage {
            Stage::Closed { .. } => Phase::Closed,
            Stage::Open { .. } => Phase::Open,
            Stage::HalfOpen { .. } => Phase::HalfOpen,
            Stage::Recovering { .. } => Phase::Recovering,
            Stage::Isolated => Phase::Isolated,
            Stage::Disabled => Phase::Disabled,
        }
    }

    /// How the deadline of an open time or a lease may look.
    fn lefts(&self, now: Moment) -> Vec<Left> {
        match &self.stage {
            Stage::Open { ends, .. } => self.open_span().left(ends, now),
            Stage::HalfOpen { lease_ends, .. } => self.lease().left(lease_ends, now),
            _ => vec![],
        }
    }

    fn times_left(&self, now: Moment) -> Vec<Option<RangeInclusive<i128>>> {
        match &self.stage {
            Stage::Open { .. } => {
                let span = self.open_span();
                let lefts = self.lefts(now).into_iter();
                lefts.map(|left| Some(left.ms(span))).collect()
            }
            Stage::HalfOpen { in_flight, .. } if *in_flight > 0 => {
                let lefts = self.lefts(now).into_iter();
                lefts.map(|left| Some(left.ms(self.lease()))).collect()
            }
            Stage::Recovering { since, .. } => {
                let ms = self.settings.ramp_ms;
                let elapsed = Span::open(ms).elapsed(since, now).into_iter();
                let left = elapsed.map(|elapsed| match elapsed {
                    Elapsed::Over => Some(0..=0),
                    Elapsed::Within(range) => Some((ms - range.end()).max(0)..=(ms - range.start()).max(0)),
                });
                left.collect()
            }
            _ => vec![None],
        }
    }

    fn lease(&self) -> Span {
        Span::lease(self.settings.lease_ms)
    }

    /// The span that bounds how long this open state may wait.
    fn open_span(&self) -> Span {
        match self.stage {
            Stage::Open { by, again: true, .. } => self.span_of(by).again(),
            Stage::Open { by, .. } => self.span_of(by),
            _ => self.span_of(OpenBy::Streak),
        }
    }

    fn span_of(&self, by: OpenBy) -> Span {
        Span::open(match by {
            OpenBy::Streak => self.settings.backoff_ms(self.streak),
            OpenBy::Request => self.settings.max_open_ms,
            OpenBy::Advice => self.settings.advised_ms(),
        })
    }

    /// The generation's number, as shown.
    fn number(&self) -> u16 {
        (self.generation % GENERATIONS) as u16
    }

    fn at(&self, stage: Stage) -> Self {
        Self { stage, ..self.clone() }
    }

    fn in_next_generation(&self, stage: Stage) -> Self {
        Self {
            generation: self.generation + 1,
            windows: self.windows.anew(self.settings.window, self.settings.slow),
            ..self.at(stage)
        }
    }

    fn told(&self, next: &Self, cause: Cause, open_for_ms: RangeInclusive<i128>) -> Told {
        Told {
            generation: next.number(),
            from: self.phase(),
            to: next.phase(),
            cause,
            streak: next.streak as u8,
            open_for_ms,
        }
    }

    fn answers(self, answer: Allowed, told: Vec<Told>) -> Course {
        Course { answer, told, model: self }
    }

    fn unchanged(&self) -> Course {
        self.clone().answers(Allowed::Changed(false), vec![])
    }
}
