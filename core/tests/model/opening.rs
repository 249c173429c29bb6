//! Opening, staying open, and what people and other breakers ask for.

use std::ops::RangeInclusive;

use nanobreaker_core::{Cause, Settings};

use super::settings::{LONGEST_STREAK, Numbers};
use super::time::{Elapsed, Left, Moment, Span};
use super::{Allowed, Course, Model, OpenBy, Row, Stage, Told};

/// Trips.
impl Model {
    /// Open for the time that the streak says less jitter, or held by the latch.
    pub(super) fn tripped(&self, cause: Cause, now: Moment) -> Vec<(Self, Told)> {
        self.opened(cause, now, |next| {
            let ms = next.settings.backoff_ms(next.streak);
            // It stays a millisecond or longer.
            let cut = (ms * next.settings.jitter_permille / 1_000).min(ms - 1);
            (OpenBy::Streak, ms - cut..=ms)
        })
    }

    /// The ways to open from here, for a time that may lie in a range.
    fn opened(
        &self,
        cause: Cause,
        now: Moment,
        time: impl Fn(&Self) -> (OpenBy, RangeInclusive<i128>),
    ) -> Vec<(Self, Told)> {
        if self.settings.latch {
            let next = self.in_next_generation(Stage::Isolated);
            let told = self.told(&next, cause, 0..=0);
            return vec![(next, told)];
        }
        let ways = self.streaks_after_trip(now).into_iter().map(|streak| {
            let mut next = self.clone();
            next.streak = streak;
            let (by, ms) = time(&next);
            self.opens(&next, cause, by, ms, now)
        });
        ways.collect()
    }

    /// `next`, which is this one but for the streak, opens.
    fn opens(
        &self,
        next: &Self,
        cause: Cause,
        by: OpenBy,
        ms: RangeInclusive<i128>,
        now: Moment,
    ) -> (Self, Told) {
        let open = next.in_next_generation(next.open_for(by, ms.clone(), now));
        let told = self.told(&open, cause, *ms.start()..=ms.end() + next.span_of(by).late);
        (open, told)
    }

    pub(super) fn open_for(&self, by: OpenBy, ms: RangeInclusive<i128>, now: Moment) -> Stage {
        let late = self.span_of(by).late;
        // What is over already is rounded down.
        let early = if *ms.start() == 0 { late } else { 0 };
        Stage::Open { ends: now + ms.start() - early..=now + ms.end() + late, by, again: false }
    }

    fn streaks_after_trip(&self, now: Moment) -> Vec<u32> {
        let longer = (self.streak + 1).min(LONGEST_STREAK);
        match &self.stage {
            Stage::Closed { since: None } => vec![0],
            Stage::Closed { since: Some(since) } => {
                let relapse = self.settings.relapse_ms;
                let elapsed = Span::relapse(relapse).elapsed(since, now).into_iter();
                let mut streaks: Vec<u32> = elapsed
                    .flat_map(|elapsed| match elapsed {
                        Elapsed::Over => vec![0],
                        Elapsed::Within(range) if *range.end() > relapse => vec![longer, 0],
                        Elapsed::Within(_) => vec![longer],
                    })
                    .collect();
                streaks.dedup();
                streaks
            }
            _ => vec![longer],
        }
    }
}

/// Requests.
impl Model {
    fn lets_calls_pass(&self) -> bool {
        matches!(self.stage, Stage::Closed { .. } | Stage::HalfOpen { .. } | Stage::Recovering { .. })
    }

    pub(super) fn trip(&self, now: Moment) -> Vec<Course> {
        if self.lets_calls_pass() {
            changed(self.tripped(Cause::TripRequested, now))
        } else {
            vec![self.unchanged()]
        }
    }

    pub(super) fn trip_for(&self, ms: u64, now: Moment) -> Vec<Course> {
        let ms = i128::from(ms).clamp(1, self.settings.max_open_ms);
        if self.lets_calls_pass() {
            let time = |_: &Self| (OpenBy::Request, ms..=ms);
            changed(self.opened(Cause::TripRequested, now, time))
        } else {
            self.postponed(OpenBy::Request, ms, now)
        }
    }

    pub(super) fn advise(&self, ms: u64, now: Moment) -> Vec<Course> {
        let ms = i128::from(ms).clamp(1, self.settings.advised_ms());
        match self.stage {
            // Neither latch nor streak have a part in hearsay.
            Stage::Closed { .. } | Stage::Recovering { .. } => {
                let open = self.opens(self, Cause::Advised, OpenBy::Advice, ms..=ms, now);
                changed(vec![open])
            }
            _ => self.postponed(OpenBy::Advice, ms, now),
        }
    }

    /// An open breaker stays open for that long from now, if that is later.
    fn postponed(&self, by: OpenBy, ms: i128, now: Moment) -> Vec<Course> {
        let Stage::Open { .. } = self.stage else {
            return vec![self.unchanged()];
        };
        let mut courses = Vec::new();
        for left in self.times_left(now).into_iter().flatten() {
            if *left.start() < ms {
                let later = self.at(self.open_for(by, ms..=ms, now));
                courses.push(later.answers(Allowed::Changed(true), vec![]));
            }
            if *left.end() >= ms {
                courses.push(self.unchanged());
            }
        }
        courses
    }

    /// An open time that is not over ends now.
    pub(super) fn recover(&self, now: Moment) -> Vec<Course> {
        let Stage::Open { .. } = self.stage else {
            return vec![self.unchanged()];
        };
        let mut courses = Vec::new();
        for left in self.times_left(now).into_iter().flatten() {
            if *left.start() == 0 {
                courses.push(self.unchanged());
            }
            if *left.end() > 0 {
                let over = self.at(Stage::Open {
                    ends: now - self.span_of(OpenBy::Request).late..=now,
                    by: OpenBy::Request,
                    again: false,
                });
                courses.push(over.answers(Allowed::Changed(true), vec![]));
            }
        }
        courses
    }

    pub(super) fn hold(&self, stage: Stage, cause: Cause) -> Vec<Course> {
        let next = self.in_next_generation(stage);
        if self.phase() == next.phase() {
            return vec![self.unchanged()];
        }
        let told = self.told(&next, cause, 0..=0);
        vec![next.answers(Allowed::Changed(true), vec![told])]
    }
}

fn changed(ways: Vec<(Model, Told)>) -> Vec<Course> {
    let ways = ways.into_iter();
    ways.map(|(next, told)| next.answers(Allowed::Changed(true), vec![told])).collect()
}

/// Lives that go on under other circumstances.
impl Model {
    /// What a reset of the chip does to a breaker that is saved before and restored after it.
    pub(super) fn restart(&self, slept_ms: u64, now: Moment) -> Vec<Course> {
        let restored = |next: Self, open_for_ms| {
            let told = self.told(&next, Cause::Restored, open_for_ms);
            next.answers(Allowed::Done, vec![told])
        };
        let stages = match self.stage {
            Stage::Closed { .. } | Stage::Recovering { .. } => {
                let late = Span::open(self.settings.relapse_ms).late;
                let since = (self.streak > 0).then_some(now - late..=now);
                vec![Stage::Closed { since }]
            }
            Stage::Open { .. } | Stage::HalfOpen { .. } => {
                let slept_ms = i128::from(slept_ms);
                let longest = self.settings.max_open_ms;
                let lefts = match self.stage {
                    Stage::Open { .. } => self.times_left(now),
                    // A probe that was out is lost, and asked for again.
                    _ => vec![Some(0..=0)],
                };
                let opened = lefts.into_iter().flatten().map(|left| {
                    let ms = |left: &i128| (left - slept_ms).clamp(0, longest);
                    let left = ms(left.start())..=ms(left.end());
                    let stage = self.open_for(OpenBy::Request, left.clone(), now);
                    let late = self.span_of(OpenBy::Request).late;
                    let next = self.in_next_generation(stage);
                    restored(next, *left.start()..=left.end() + late)
                });
                return opened.collect();
            }
            Stage::Isolated => vec![Stage::Isolated],
            Stage::Disabled => vec![Stage::Disabled],
        };
        let stages = stages.into_iter();
        stages.map(|stage| restored(self.in_next_generation(stage), 0..=0)).collect()
    }

    /// Other settings take effect at once. The window starts empty, and a round anew.
    pub(super) fn adjust(&self, settings: Settings, now: Moment) -> Vec<Course> {
        let settings = Numbers::from(settings);
        if settings == self.settings {
            return vec![self.clone().answers(Allowed::Done, vec![])];
        }
        let stages = self.stages_by(&settings, now).into_iter();
        let adjusted = stages.map(|stage| {
            let mut next = self.clone();
            next.settings = settings;
            next.in_next_generation(stage).answers(Allowed::Done, vec![])
        });
        adjusted.collect()
    }

    /// This stage under other settings: with the time that is left of it, or that it lasts already.
    fn stages_by(&self, settings: &Numbers, now: Moment) -> Vec<Stage> {
        let mut other = self.clone();
        other.settings = *settings;
        let lasting = |old: Span, since, longest: i128, new: Span| {
            let elapsed = old.elapsed(since, now).into_iter();
            elapsed.map(move |elapsed| {
                let (least, most) = match elapsed {
                    Elapsed::Within(range) => (*range.start(), *range.end()),
                    // Longer than its length is not known.
                    Elapsed::Over => (old.whole, old.whole),
                };
                now - most.min(longest) - new.late..=now - least.min(longest)
            })
        };
        match &self.stage {
            Stage::Open { by, again, .. } => {
                let span = other.span_of(*by);
                let lefts = self.lefts(now).into_iter();
                let stages = lefts.map(|left| {
                    let ends = match left {
                        Left::Due => now - span.late..=now,
                        Left::Pending(range) => {
                            let ms = |left: &i128| *left.min(&span.ms);
                            now + ms(range.start())..=now + ms(range.end()) + span.late
                        }
                        Left::Beyond => span.ends(now, span.ms),
                    };
                    Stage::Open { ends, by: *by, again: *again }
                });
                stages.collect()
            }
            Stage::HalfOpen { .. } => vec![Stage::HalfOpen {
                in_flight: 0,
                succeeded: 0,
                failed: 0,
                given_up: 0,
                lease_ends: now..=now,
            }],
            Stage::Recovering { since, .. } => {
                let (old, new) = (self.settings.ramp_ms, settings.ramp_ms);
                let since = lasting(Span::open(old), since, new, Span::open(new));
                let row = Row::default();
                since.map(|since| Stage::Recovering { since, row }).collect()
            }
            Stage::Closed { since: Some(since) } => {
                let (old, new) = (self.settings.relapse_ms, settings.relapse_ms);
                let since = lasting(Span::relapse(old), since, new + 1, Span::relapse(new));
                let closed = |since| Stage::Closed { since: Some(since) };
                since.map(closed).collect()
            }
            Stage::Closed { .. } | Stage::Isolated | Stage::Disabled => vec![self.stage.clone()],
        }
    }
}
