//! Outcomes.

use nanobreaker_core::{Cause, Outcome, Recorded};

use super::settings::{GENERATIONS, GIVEN_UP};
use super::time::{Moment, Span};
use super::{Allowed, Course, Kind, Model, Name, Row, Stage};

/// Between the two steps of a trip.
#[derive(Clone, Debug)]
pub struct AboutToTrip {
    pub generation: u64,
    pub cause: Cause,
    pub model: Model,
}

impl Model {
    pub(super) fn record(&self, name: Name, outcome: Outcome, now: Moment) -> Vec<Course> {
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
            (Stage::HalfOpen { in_flight, .. }, Kind::Probe) if *in_flight > 0 => self.answer(outcome, now),
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
            let ignored = Allowed::Recorded(Recorded::Ignored);
            return vec![self.clone().answers(ignored, vec![])];
        }
        let mut next = self.clone();
        let counted = || Allowed::Recorded(Recorded::Counted);
        let mut courses = Vec::new();
        for verdict in next.windows.take_in(outcome, self.number(), now) {
            let Some(cause) = verdict else {
                courses.push(next.clone().answers(counted(), vec![]));
                continue;
            };
            for (open, told) in next.tripped(cause, now) {
                courses.push(open.answers(counted(), vec![told]));
            }
        }
        courses
    }

    /// A probe's answer.
    fn answer(&self, outcome: Outcome, now: Moment) -> Vec<Course> {
        let lease = self.lease().ends(now, self.settings.lease_ms);
        let mut next = self.clone();
        let Stage::HalfOpen { in_flight, succeeded, failed, given_up, lease_ends } = &mut next.stage else {
            unreachable!("called while half-open");
        };
        let has_failed = matches!(outcome, Outcome::Slow | Outcome::Failure | Outcome::SlowFailure);
        *in_flight -= 1;
        if outcome == Outcome::Cancelled {
            *given_up += 1;
        } else {
            *given_up = 0;
            *lease_ends = lease;
        }
        *succeeded += u32::from(outcome == Outcome::Success);
        *failed += u32::from(has_failed);
        let recorded = match outcome {
            Outcome::Ignored | Outcome::Cancelled => Recorded::Ignored,
            _ => Recorded::Counted,
        };
        let answer = Allowed::Recorded(recorded);
        if *succeeded >= self.settings.successes {
            let since = |ms| now - Span::open(ms).late..=now;
            let well = if self.settings.ramp_ms > 0 {
                let since = since(self.settings.ramp_ms);
                let row = Row::default();
                self.at(Stage::Recovering { since, row })
            } else {
                let since = Some(since(self.settings.relapse_ms));
                self.at(Stage::Closed { since })
            };
            let told = self.told(&well, Cause::ProbesSucceeded, 0..=0);
            vec![well.answers(answer, vec![told])]
        } else if *failed >= self.settings.failures || *given_up >= GIVEN_UP {
            let ways = self.tripped(Cause::ProbesFailed, now).into_iter();
            ways.map(|(open, told)| open.answers(answer.clone(), vec![told])).collect()
        } else {
            vec![next.answers(answer, vec![])]
        }
    }
}

/// The two steps of a trip: others can come between.
impl Model {
    /// Where this outcome is enough to trip: the breaker before it trips. The outcome may be in its
    /// window or not: where it is enough, not every window keeps it.
    pub fn about_to_trip(&self, name: Name, outcome: Outcome, now: Moment) -> Vec<AboutToTrip> {
        let Some(pass) = self.passes.get(&name) else {
            return vec![];
        };
        let judged = matches!(self.stage, Stage::Closed { .. } | Stage::Recovering { .. })
            && pass.generation == self.generation
            && pass.kind != Kind::Uncounted
            && !matches!(outcome, Outcome::Ignored | Outcome::Cancelled);
        if !judged {
            return vec![];
        }
        let mut with_it = self.clone();
        let causes = with_it.windows.take_in(outcome, self.number(), now).into_iter().flatten();
        let about =
            |cause, model: &Self| AboutToTrip { generation: self.generation, cause, model: model.clone() };
        causes.flat_map(|cause| [about(cause, &with_it), about(cause, self)]).collect()
    }

    /// The second step of a trip, if the generation in which it was judged still stands.
    pub fn trips_now(&self, generation: u64, cause: Cause, now: Moment) -> Vec<Model> {
        let stands = self.generation == generation
            && matches!(self.stage, Stage::Closed { .. } | Stage::Recovering { .. });
        if !stands {
            return vec![self.clone()];
        }
        let ways = self.tripped(cause, now).into_iter();
        ways.map(|(open, _)| open).collect()
    }
}
