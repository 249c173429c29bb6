//! Settings that are replaced, and what jitter leaves open.

use nanobreaker_core::{Cause, Phase, Snapshot};

use super::settings::Settings;
use super::time::{Moment, Span};
use super::{Allowed, Course, Model, Row, Stage};

impl Model {
    /// Other settings take effect at once: on the state that stands, and on the calls in the window.
    pub(super) fn adjust(&self, settings: &Settings, now: Moment) -> Vec<Course> {
        let stages = self.stages_by(settings, now).into_iter();
        let courses = stages.flat_map(|stage| {
            let mut next = self.at(stage);
            next.settings = *settings;
            let verdicts = next.windows.adjust(settings.window, settings.slow, now);
            let judged = matches!(next.stage, Stage::Closed { .. } | Stage::Recovering { .. });
            let mut courses = Vec::new();
            if judged && verdicts.may_trip {
                for (open, told) in next.opened(Cause::ThresholdReached, None, now) {
                    courses.push(open.answers(Allowed::Changed(true), vec![told]));
                }
            }
            if !judged || verdicts.may_hold {
                courses.push(next.answers(Allowed::Changed(true), vec![]));
            }
            courses
        });
        courses.collect()
    }

    /// The first step of an adjusting: all but the rule is replaced. The state is fitted to it, unless
    /// another move came first.
    pub fn configured(&self, settings: &Settings, now: Moment) -> Vec<Self> {
        let mut stages = self.stages_by(settings, now);
        if !stages.contains(&self.stage) {
            stages.push(self.stage.clone());
        }
        let configured = stages.into_iter().map(|stage| {
            let mut next = self.at(stage);
            next.settings = Settings {
                window: self.settings.window,
                slow: self.settings.slow,
                ..*settings
            };
            next
        });
        configured.collect()
    }

    /// The same state with another number of probes.
    pub fn with_probes(&self, probes: u32) -> Self {
        let mut next = self.clone();
        next.settings.probes = probes;
        next
    }

    /// The second step: the rule is replaced. Returns whether the calls that are there may hold by it,
    /// and in which generation they may trip.
    pub fn ruled(&self, settings: &Settings, now: Moment) -> (Self, bool, Option<u64>) {
        let mut next = self.clone();
        next.settings.window = settings.window;
        next.settings.slow = settings.slow;
        let verdicts = next.windows.adjust(settings.window, settings.slow, now);
        let judged = matches!(next.stage, Stage::Closed { .. } | Stage::Recovering { .. });
        let trips = (judged && verdicts.may_trip).then_some(next.generation);
        (next, !judged || verdicts.may_hold, trips)
    }

    fn stages_by(&self, settings: &Settings, now: Moment) -> Vec<Stage> {
        match self.stage {
            Stage::Open { asked, .. } => {
                let longest = if asked {
                    settings.max_open_ms.into()
                } else {
                    settings.backoff_ms(self.streak)
                };
                let lefts = self.times_left(now).into_iter().flatten();
                let stages = lefts.map(|left| {
                    let (earliest, latest) =
                        (*left.start().min(&longest), *left.end().min(&longest));
                    Stage::Open {
                        retry_at: now + latest,
                        jitter: latest - earliest,
                        asked,
                    }
                });
                stages.collect()
            }
            Stage::HalfOpen { .. } => {
                vec![self.with_lease(now + i128::from(settings.lease_ms)).stage]
            }
            // Another ramp is another share.
            Stage::Recovering { since, .. } => vec![Stage::Recovering {
                since,
                row: Row::default(),
            }],
            Stage::Closed { .. } | Stage::Isolated | Stage::Disabled => vec![self.stage.clone()],
        }
    }

    /// The most that jitter cuts off an open time, which stays 1 ms or longer.
    pub(super) fn jitter(&self, open_ms: i128) -> i128 {
        let cut = open_ms * i128::from(self.settings.jitter_permille) / 1_000;
        cut.min(open_ms - 1)
    }

    /// What a snapshot shows of an open time settles what jitter left open.
    pub fn settled(mut self, snapshot: &Snapshot, now: Moment) -> Self {
        match (&mut self.stage, snapshot.phase, snapshot.time_left_ms) {
            (
                Stage::Open {
                    retry_at, jitter, ..
                },
                Phase::Open,
                Some(ms),
            ) if *jitter > 0 => {
                *retry_at = now + i128::from(ms);
                *jitter = 0;
            }
            _ => {}
        }
        self
    }

    /// How the end of the open time may look: no later than `retry_at`, and earlier by at most
    /// `jitter`.
    pub(super) fn open_time_left(
        &self,
        retry_at: Moment,
        jitter: i128,
        asked: bool,
        now: Moment,
    ) -> Vec<super::Left> {
        Span::open(self.open_ms(asked)).left_between(retry_at - jitter, retry_at, now)
    }
}
