//! A plain sequential model of the whole breaker, written from its documentation: unbounded
//! integers, lists, no packed words, no wrapping time.
//!
//! [`Model::after`] says for one operation which answers are allowed, and what the breaker is
//! afterwards with each. Mostly there is one; where a clock jumped or words are too narrow to know,
//! there are several, and whoever checks a real breaker goes on with those that agree with it.
//! Jitter leaves a range, until a snapshot shows what it came to.

// Each test that includes this module uses its own part of it.
#![allow(dead_code, unreachable_pub, reason = "shared by several tests")]

mod adjust;
pub mod play;
pub mod settings;
pub mod time;
pub mod window;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use nanobreaker_core::{Cause, Outcome, Phase, Recorded, Snapshot, Transition};

use settings::{GENERATIONS, Settings, WIDE};
use time::{Elapsed, Left, Moment, Span};
use window::Windows;

/// Trips in a row beyond which the streak does not grow.
const LONGEST_STREAK: u32 = 15;
/// Probes given up in a row with which a round has failed.
const GIVEN_UP: u32 = if WIDE { 8 } else { 4 };

/// The name that a call is known by, chosen by whoever makes it.
pub type Name = u32;

/// What can be asked of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Allow(Name),
    Record(Name, Outcome),
    Trip,
    TripFor(u64),
    Isolate,
    Disable,
    Reset,
    Observe(bool),
    /// Its state is saved, and restored at once.
    Restart,
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
}

/// What it may answer.
#[derive(Clone, Debug)]
pub enum Allowed {
    Granted {
        generation: u16,
        probe: bool,
    },
    Rejected {
        phase: Phase,
        generation: u16,
        retry_after_ms: Option<RangeInclusive<i128>>,
    },
    Recorded(Recorded),
    Changed(bool),
    Done,
}

impl Allowed {
    pub fn permits(&self, answer: &Answer) -> bool {
        match (self, answer) {
            (
                Self::Granted { generation, probe },
                Answer::Granted {
                    generation: g,
                    probe: p,
                },
            ) => (generation, probe) == (g, p),
            (
                Self::Rejected {
                    phase,
                    generation,
                    retry_after_ms,
                },
                Answer::Rejected {
                    phase: p,
                    generation: g,
                    retry_after_ms: r,
                },
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

/// Between the two steps of a trip.
#[derive(Clone, Debug)]
pub struct AboutToTrip {
    pub generation: u64,
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
    /// It passed while the breaker recovered and observed: whether as one of the share can't be told.
    CountedOrNot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Pass {
    generation: u64,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stage {
    Closed {
        /// When it closed after a trip.
        since: Option<Moment>,
    },
    Open {
        /// The latest moment,
        retry_at: Moment,
        /// and how much earlier it may be.
        jitter: i128,
        /// Whether the time was asked for, instead of computed.
        asked: bool,
    },
    HalfOpen {
        in_flight: u32,
        succeeded: u32,
        failed: u32,
        given_up: u32,
        lease_ends: Moment,
    },
    Recovering {
        since: Moment,
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
    settings: Settings,
    stage: Stage,
    observing: bool,
    generation: u64,
    streak: u32,
    windows: Windows,
    passes: BTreeMap<Name, Pass>,
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (generation, streak) = (self.generation, self.streak);
        write!(
            f,
            "{:?}, generation {generation}, streak {streak}",
            self.stage
        )?;
        f.write_str(if self.observing { ", observing" } else { "" })
    }
}

impl Model {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            stage: Stage::Closed { since: None },
            observing: false,
            generation: 0,
            streak: 0,
            windows: Windows::new(settings.window, settings.slow),
            passes: BTreeMap::new(),
        }
    }

    /// All allowed courses of `operation`.
    pub fn after(&self, operation: Operation, now: Moment) -> Vec<Course> {
        match operation {
            Operation::Allow(name) => self.allow(name, now),
            Operation::Record(name, outcome) => self.record(name, outcome, now),
            Operation::Trip => self.trip(None, now),
            Operation::TripFor(ms) => {
                let ms = ms.clamp(1, self.settings.max_open_ms.into());
                self.trip(Some(ms.into()), now)
            }
            Operation::Isolate => self.hold(Stage::Isolated, Cause::Isolated),
            Operation::Disable => self.hold(Stage::Disabled, Cause::Disabled),
            Operation::Reset => {
                let mut next = self.in_next_generation(Stage::Closed { since: None });
                next.streak = 0;
                let told = self.told(&next, Cause::Reset, 0..=0);
                vec![next.answers(Allowed::Done, vec![told])]
            }
            Operation::Restart => self.restart(now),
            Operation::Adjust(settings) => self.adjust(&settings, now),
            Operation::Observe(on) => {
                let mut next = self.clone();
                next.observing = on;
                vec![next.answers(Allowed::Done, vec![])]
            }
        }
    }

    /// Where this outcome is enough to trip: the breaker with the outcome in its window, but before it
    /// trips. A trip is two steps, and others can come between.
    pub fn about_to_trip(&self, name: Name, outcome: Outcome, now: Moment) -> Option<AboutToTrip> {
        let pass = self.passes.get(&name)?;
        let judged = matches!(self.stage, Stage::Closed { .. } | Stage::Recovering { .. })
            && pass.generation == self.generation
            && pass.kind != Kind::Uncounted
            && !matches!(outcome, Outcome::Ignored | Outcome::Cancelled);
        let mut model = self.clone();
        (judged && model.windows.take_in(outcome, now).may_trip).then_some(AboutToTrip {
            generation: self.generation,
            model,
        })
    }

    /// The second step of a trip, if the generation in which it was judged still stands.
    pub fn trips_now(&self, generation: u64, now: Moment) -> Vec<Model> {
        let stands = self.generation == generation
            && matches!(self.stage, Stage::Closed { .. } | Stage::Recovering { .. });
        if !stands {
            return vec![self.clone()];
        }
        let ways = self.opened(Cause::ThresholdReached, None, now).into_iter();
        ways.map(|(open, _)| open).collect()
    }

    /// Whether a snapshot at `now` may look like this.
    pub fn permits(&self, snapshot: &Snapshot, now: Moment) -> bool {
        let (in_flight, succeeded, failed) = match self.stage {
            Stage::HalfOpen {
                in_flight,
                succeeded,
                failed,
                ..
            } => (in_flight, succeeded, failed),
            _ => (0, 0, 0),
        };
        let counts = [snapshot.in_flight, snapshot.succeeded, snapshot.failed].map(u32::from);
        snapshot.phase == self.phase()
            && snapshot.observing == self.observing
            && snapshot.generation == self.number()
            && u32::from(snapshot.streak) == self.streak
            && counts == [in_flight, succeeded, failed]
            && self
                .times_left(now)
                .iter()
                .any(|allowed| lies_in(snapshot.time_left_ms, allowed))
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

    fn times_left(&self, now: Moment) -> Vec<Option<RangeInclusive<i128>>> {
        match self.stage {
            Stage::Open {
                retry_at,
                jitter,
                asked,
            } => {
                let ms = self.open_ms(asked);
                let left = self.open_time_left(retry_at, jitter, asked, now);
                left.iter().map(|left| Some(left.ms(ms))).collect()
            }
            Stage::HalfOpen {
                in_flight,
                lease_ends,
                ..
            } if in_flight > 0 => {
                let ms = self.settings.lease_ms.into();
                let left = Span::lease(ms).left(lease_ends, now);
                left.iter().map(|left| Some(left.ms(ms))).collect()
            }
            Stage::Recovering { since, .. } => {
                let ms: i128 = self.settings.ramp_ms.into();
                let elapsed = Span::open(ms).elapsed(since, now);
                let left = elapsed.iter().map(|elapsed| match elapsed {
                    Elapsed::Over => Some(0..=0),
                    Elapsed::Within(range) => {
                        Some((ms - range.end()).max(0)..=(ms - range.start()).max(0))
                    }
                });
                left.collect()
            }
            _ => vec![None],
        }
    }

    /// The length that bounds how long this open state may wait.
    fn open_ms(&self, asked: bool) -> i128 {
        if asked {
            self.settings.max_open_ms.into()
        } else {
            self.settings.backoff_ms(self.streak)
        }
    }

    /// The generation's number, as shown.
    fn number(&self) -> u16 {
        (self.generation % GENERATIONS) as u16
    }

    fn at(&self, stage: Stage) -> Self {
        Self {
            stage,
            ..self.clone()
        }
    }

    fn in_next_generation(&self, stage: Stage) -> Self {
        Self {
            generation: self.generation + 1,
            windows: Windows::new(self.settings.window, self.settings.slow),
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
        Course {
            answer,
            told,
            model: self,
        }
    }

    /// What a reset of the chip does to a breaker that is saved before and restored after it.
    fn restart(&self, now: Moment) -> Vec<Course> {
        let longest: i128 = self.settings.max_open_ms.into();
        let stages = match self.stage {
            Stage::Closed { .. } | Stage::Recovering { .. } => {
                let since = (self.streak > 0).then_some(now);
                vec![(Stage::Closed { since }, 0..=0)]
            }
            Stage::Open { .. } => {
                let lefts = self.times_left(now).into_iter().flatten();
                let stages = lefts.flat_map(|left| {
                    left.map(|ms| {
                        let ms = ms.min(longest);
                        let retry_at = now + ms;
                        let early = if WIDE { 0 } else { longest / 128 };
                        let open = Stage::Open {
                            retry_at,
                            jitter: 0,
                            asked: true,
                        };
                        (open, (ms - early).max(0)..=ms)
                    })
                });
                stages.collect()
            }
            Stage::HalfOpen { .. } => vec![(
                Stage::Open {
                    retry_at: now,
                    jitter: 0,
                    asked: true,
                },
                0..=0,
            )],
            Stage::Isolated => vec![(Stage::Isolated, 0..=0)],
            Stage::Disabled => vec![(Stage::Disabled, 0..=0)],
        };
        let courses = stages.into_iter().map(|(stage, open_for_ms)| {
            let next = self.in_next_generation(stage);
            let told = self.told(&next, Cause::Restored, open_for_ms);
            next.answers(Allowed::Done, vec![told])
        });
        courses.collect()
    }

    fn hold(&self, stage: Stage, cause: Cause) -> Vec<Course> {
        let next = self.in_next_generation(stage);
        if self.phase() == next.phase() {
            return vec![self.clone().answers(Allowed::Changed(false), vec![])];
        }
        let told = self.told(&next, cause, 0..=0);
        vec![next.answers(Allowed::Changed(true), vec![told])]
    }
}

/// Opening.
impl Model {
    /// The ways to open from here; for the time asked, or the backoff's.
    fn opened(&self, cause: Cause, asked: Option<i128>, now: Moment) -> Vec<(Self, Told)> {
        if self.settings.latch {
            let next = self.in_next_generation(Stage::Isolated);
            let told = self.told(&next, cause, 0..=0);
            return vec![(next, told)];
        }
        let ways = self.streaks_after_trip(now).into_iter().map(|streak| {
            let ms = asked.unwrap_or(self.settings.backoff_ms(streak));
            let mut next = self.in_next_generation(Stage::Open {
                retry_at: now + ms,
                jitter: asked.map_or(self.jitter(ms), |_| 0),
                asked: asked.is_some(),
            });
            next.streak = streak;
            let shortest = next
                .times_left(now)
                .into_iter()
                .flatten()
                .map(|range| *range.start())
                .min();
            let told = self.told(&next, cause, shortest.unwrap_or(ms)..=ms);
            (next, told)
        });
        ways.collect()
    }

    fn streaks_after_trip(&self, now: Moment) -> Vec<u32> {
        let longer = (self.streak + 1).min(LONGEST_STREAK);
        match self.stage {
            Stage::Closed { since: None } => vec![0],
            Stage::Closed { since: Some(since) } => {
                let open_for: i128 = self.settings.open_for_ms.into();
                let elapsed = Span::flap(open_for).elapsed(since, now);
                let streaks = elapsed.into_iter().map(|elapsed| match elapsed {
                    Elapsed::Over => 0,
                    Elapsed::Within(_) => longer,
                });
                streaks.collect()
            }
            _ => vec![longer],
        }
    }

    fn trip(&self, asked: Option<i128>, now: Moment) -> Vec<Course> {
        let unchanged = || self.clone().answers(Allowed::Changed(false), vec![]);
        match (&self.stage, asked) {
            (Stage::Closed { .. } | Stage::HalfOpen { .. } | Stage::Recovering { .. }, _) => self
                .opened(Cause::TripRequested, asked, now)
                .into_iter()
                .map(|(next, told)| next.answers(Allowed::Changed(true), vec![told]))
                .collect(),
            (
                Stage::Open {
                    retry_at,
                    jitter,
                    asked,
                },
                Some(ms),
            ) => {
                // Later than now: no new transition, but a later time.
                let span = self.open_ms(*asked);
                let later = self.at(Stage::Open {
                    retry_at: now + ms,
                    jitter: 0,
                    asked: true,
                });
                let mut courses = Vec::new();
                for left in self.open_time_left(*retry_at, *jitter, *asked, now) {
                    let left = left.ms(span);
                    if *left.start() < ms {
                        courses.push(later.clone().answers(Allowed::Changed(true), vec![]));
                    }
                    if *left.end() >= ms {
                        courses.push(unchanged());
                    }
                }
                courses
            }
            _ => vec![unchanged()],
        }
    }
}

/// Admission.
impl Model {
    fn allow(&self, name: Name, now: Moment) -> Vec<Course> {
        match self.stage {
            Stage::Closed { .. } => vec![self.passes(name, Kind::Counted)],
            Stage::Disabled => vec![self.passes(name, Kind::Uncounted)],
            Stage::Isolated => vec![self.rejects(name, None)],
            Stage::Open { .. } => self.allow_while_open(name, now),
            Stage::HalfOpen { .. } => self.allow_while_half_open(name, now),
            Stage::Recovering { since, row } => self.allow_while_recovering(name, since, row, now),
        }
    }

    fn passes(&self, name: Name, kind: Kind) -> Course {
        let mut next = self.clone();
        let pass = Pass {
            generation: self.generation,
            kind,
        };
        next.passes.insert(name, pass);
        let answer = Allowed::Granted {
            generation: self.number(),
            probe: kind == Kind::Probe,
        };
        next.answers(answer, vec![])
    }

    fn rejects(&self, name: Name, retry_after_ms: Option<RangeInclusive<i128>>) -> Course {
        if self.observing {
            return self.passes(name, Kind::Uncounted);
        }
        let answer = Allowed::Rejected {
            phase: self.phase(),
            generation: self.number(),
            retry_after_ms,
        };
        self.clone().answers(answer, vec![])
    }

    fn allow_while_open(&self, name: Name, now: Moment) -> Vec<Course> {
        let Stage::Open {
            retry_at,
            jitter,
            asked,
        } = self.stage
        else {
            unreachable!("called while open");
        };
        let span = self.open_ms(asked);
        let lefts = self
            .open_time_left(retry_at, jitter, asked, now)
            .into_iter();
        let courses = lefts.map(|left| match left {
            Left::Due => {
                let half_open = self.at(Stage::HalfOpen {
                    in_flight: 1,
                    succeeded: 0,
                    failed: 0,
                    given_up: 0,
                    lease_ends: now + i128::from(self.settings.lease_ms),
                });
                let told = self.told(&half_open, Cause::OpenTimeOver, 0..=0);
                let mut course = half_open.passes(name, Kind::Probe);
                course.told.push(told);
                course
            }
            Left::Pending(ms) => self.rejects(name, Some(ms)),
            // Not longer than a whole span from here.
            Left::Beyond => {
                let nearer = self.at(Stage::Open {
                    retry_at: now + span,
                    jitter: 0,
                    asked,
                });
                let shortest = nearer
                    .times_left(now)
                    .into_iter()
                    .flatten()
                    .map(|range| *range.start())
                    .min();
                nearer.rejects(name, Some(shortest.unwrap_or(span)..=span))
            }
        });
        courses.collect()
    }

    fn allow_while_half_open(&self, name: Name, now: Moment) -> Vec<Course> {
        let Stage::HalfOpen {
            in_flight,
            lease_ends,
            ..
        } = self.stage
        else {
            unreachable!("called while half-open");
        };
        let lease: i128 = self.settings.lease_ms.into();
        if in_flight == 0 {
            return vec![self.one_more_probe(name, Some(now + lease))];
        }
        let mut courses = Vec::new();
        for left in Span::lease(lease).left(lease_ends, now) {
            match left {
                // Nothing came back for a whole lease.
                Left::Due => {
                    for (open, told) in self.opened(Cause::ProbesLost, None, now) {
                        for mut course in open.allow(name, now) {
                            course.told.insert(0, told.clone());
                            courses.push(course);
                        }
                    }
                }
                Left::Pending(_) if in_flight < self.settings.probes => {
                    courses.push(self.one_more_probe(name, None));
                }
                Left::Pending(ms) => courses.push(self.rejects(name, Some(ms))),
                Left::Beyond => {
                    let nearer = self.with_lease(now + lease);
                    if in_flight < self.settings.probes {
                        courses.push(nearer.one_more_probe(name, None));
                    } else {
                        let late = if WIDE { 15 } else { lease / 8 };
                        courses.push(nearer.rejects(name, Some(lease..=lease + late)));
                    }
                }
            }
        }
        courses
    }

    fn with_lease(&self, ends: Moment) -> Self {
        let mut next = self.clone();
        if let Stage::HalfOpen { lease_ends, .. } = &mut next.stage {
            *lease_ends = ends;
        }
        next
    }

    fn one_more_probe(&self, name: Name, lease_ends: Option<Moment>) -> Course {
        let mut next = match lease_ends {
            Some(ends) => self.with_lease(ends),
            None => self.clone(),
        };
        if let Stage::HalfOpen { in_flight, .. } = &mut next.stage {
            *in_flight += 1;
        }
        next.passes(name, Kind::Probe)
    }

    fn allow_while_recovering(
        &self,
        name: Name,
        since: Moment,
        row: Row,
        now: Moment,
    ) -> Vec<Course> {
        let ramp: i128 = self.settings.ramp_ms.into();
        let over = || {
            let closed = self.at(Stage::Closed { since: Some(now) });
            let told = self.told(&closed, Cause::RampOver, 0..=0);
            let mut course = closed.passes(name, Kind::Counted);
            course.told.push(told);
            course
        };
        let mut courses = Vec::new();
        for elapsed in Span::open(ramp).elapsed(since, now) {
            let Elapsed::Within(ms) = elapsed else {
                courses.push(over());
                continue;
            };
            if *ms.end() >= ramp {
                courses.push(over());
            }
            if *ms.start() >= ramp {
                continue;
            }
            courses.extend(self.share(name, since, row, *ms.start()..=(*ms.end()).min(ramp - 1)));
        }
        courses
    }

    /// The part of the ramp that is over is the share of calls that pass, give or take three of any
    /// hundred calls in a row, six of any million.
    fn share(
        &self,
        name: Name,
        since: Moment,
        row: Row,
        elapsed: RangeInclusive<i128>,
    ) -> Vec<Course> {
        let ramp: i128 = self.settings.ramp_ms.into();
        let exact = elapsed.start() == elapsed.end();
        let before = if exact && row.elapsed_ms == *elapsed.start() {
            row
        } else {
            Row::default()
        };
        let counted = |passed: i128| Row {
            elapsed_ms: *elapsed.start(),
            calls: before.calls + 1,
            passed: before.passed + passed,
        };
        let is_fair = |row: Row| {
            let low = row.calls * elapsed.start();
            let high = row.calls * elapsed.end();
            let off = if row.calls <= 100 { 3 } else { 6 };
            (row.passed - off) * ramp <= high && low <= (row.passed + off) * ramp
        };
        let left = ramp - elapsed.end()..=ramp - elapsed.start();
        let mut courses = Vec::new();
        if self.observing {
            // Passes in any case; which way can't be seen.
            let row = Row::default();
            let kind = if *elapsed.end() == 0 {
                Kind::Uncounted
            } else {
                Kind::CountedOrNot
            };
            courses.push(self.at(Stage::Recovering { since, row }).passes(name, kind));
            return courses;
        }
        if *elapsed.end() > 0 && is_fair(counted(1)) {
            let next = self.at(Stage::Recovering {
                since,
                row: counted(1),
            });
            courses.push(next.passes(name, Kind::Counted));
        }
        if is_fair(counted(0)) {
            let next = self.at(Stage::Recovering {
                since,
                row: counted(0),
            });
            courses.push(next.rejects(name, Some(left)));
        }
        courses
    }
}

/// Outcomes.
impl Model {
    fn record(&self, name: Name, outcome: Outcome, now: Moment) -> Vec<Course> {
        let unchanged = |recorded| vec![self.clone().answers(Allowed::Recorded(recorded), vec![])];
        let Some(pass) = self.passes.get(&name) else {
            panic!("{name} was never granted");
        };
        // Numbers of generations are used again, so a permit from that long ago can't be told.
        if pass.generation % GENERATIONS != self.generation % GENERATIONS {
            return unchanged(Recorded::Stale);
        }
        match (&self.stage, pass.kind) {
            (_, Kind::Uncounted) => unchanged(Recorded::Ignored),
            (Stage::Closed { .. } | Stage::Recovering { .. }, Kind::CountedOrNot) => {
                let mut courses = unchanged(Recorded::Ignored);
                courses.extend(self.judge(outcome, now));
                courses
            }
            (Stage::Closed { .. } | Stage::Recovering { .. }, _) => self.judge(outcome, now),
            (Stage::HalfOpen { in_flight, .. }, Kind::Probe) if *in_flight > 0 => {
                self.answer(outcome, now)
            }
            (_, Kind::CountedOrNot) => {
                let mut courses = unchanged(Recorded::Ignored);
                courses.extend(unchanged(Recorded::Stale));
                courses
            }
            _ => unchanged(Recorded::Stale),
        }
    }

    fn judge(&self, outcome: Outcome, now: Moment) -> Vec<Course> {
        if matches!(outcome, Outcome::Ignored | Outcome::Cancelled) {
            return vec![
                self.clone()
                    .answers(Allowed::Recorded(Recorded::Ignored), vec![]),
            ];
        }
        let mut next = self.clone();
        let verdicts = next.windows.take_in(outcome, now);
        let counted = || Allowed::Recorded(Recorded::Counted);
        let mut courses = Vec::new();
        if verdicts.may_trip {
            for (open, told) in next.opened(Cause::ThresholdReached, None, now) {
                courses.push(open.answers(counted(), vec![told]));
            }
        }
        if verdicts.may_hold {
            courses.push(next.answers(counted(), vec![]));
        }
        courses
    }

    /// A probe's answer.
    fn answer(&self, outcome: Outcome, now: Moment) -> Vec<Course> {
        let mut next = self.clone();
        let Stage::HalfOpen {
            in_flight,
            succeeded,
            failed,
            given_up,
            lease_ends,
        } = &mut next.stage
        else {
            unreachable!("called while half-open");
        };
        *in_flight -= 1;
        if outcome == Outcome::Cancelled {
            *given_up += 1;
        } else {
            *given_up = 0;
            *lease_ends = now + i128::from(self.settings.lease_ms);
        }
        match outcome {
            Outcome::Success => *succeeded += 1,
            Outcome::Slow | Outcome::Failure => *failed += 1,
            Outcome::Ignored | Outcome::Cancelled => {}
        }
        let has_failed = matches!(outcome, Outcome::Slow | Outcome::Failure);
        let recorded = match outcome {
            Outcome::Ignored | Outcome::Cancelled => Recorded::Ignored,
            _ => Recorded::Counted,
        };
        let answer = Allowed::Recorded(recorded);
        // Only an answer of the kind decides: the number may have been lowered since the last one.
        if outcome == Outcome::Success && *succeeded >= self.settings.successes {
            let well = if self.settings.ramp_ms > 0 {
                self.at(Stage::Recovering {
                    since: now,
                    row: Row::default(),
                })
            } else {
                self.at(Stage::Closed { since: Some(now) })
            };
            let told = self.told(&well, Cause::ProbesSucceeded, 0..=0);
            vec![well.answers(answer, vec![told])]
        } else if has_failed && *failed >= self.settings.failures || *given_up >= GIVEN_UP {
            let ways = self.opened(Cause::ProbesFailed, None, now).into_iter();
            ways.map(|(open, told)| open.answers(answer.clone(), vec![told]))
                .collect()
        } else {
            vec![next.answers(answer, vec![])]
        }
    }
}
