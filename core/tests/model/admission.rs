//! Admission.

use std::ops::RangeInclusive;

use nanobreaker_core::Cause;

use super::time::{About, Elapsed, Left, Moment, Span};
use super::{Allowed, Course, Kind, Model, Name, OpenBy, Pass, Row, Stage};

impl Model {
    pub(super) fn allow(&self, name: Name, now: Moment) -> Vec<Course> {
        match &self.stage {
            Stage::Closed { .. } => vec![self.passes(name, Kind::Counted)],
            Stage::Disabled => vec![self.passes(name, Kind::Uncounted)],
            Stage::Isolated => vec![self.rejects(name, None)],
            Stage::Open { .. } => self.allow_while_open(name, now),
            Stage::HalfOpen { in_flight, .. } => self.allow_while_half_open(name, *in_flight, now),
            Stage::Recovering { since, row } => self.allow_while_recovering(name, since, *row, now),
        }
    }

    fn passes(&self, name: Name, kind: Kind) -> Course {
        let mut next = self.clone();
        let pass = Pass { generation: self.generation, kind };
        next.passes.insert(name, pass);
        let answer = Allowed::Granted { generation: self.number(), probe: kind == Kind::Probe };
        next.answers(answer, vec![])
    }

    fn rejects(&self, name: Name, retry_after_ms: Option<RangeInclusive<i128>>) -> Course {
        if self.in_shadow {
            return self.passes(name, Kind::Uncounted);
        }
        let answer = Allowed::Rejected { phase: self.phase(), generation: self.number(), retry_after_ms };
        self.clone().answers(answer, vec![])
    }

    fn allow_while_open(&self, name: Name, now: Moment) -> Vec<Course> {
        let lefts = self.lefts(now).into_iter();
        let courses = lefts.map(|left| match left {
            Left::Due => {
                let half_open = self.at(Stage::HalfOpen {
                    in_flight: 1,
                    succeeded: 0,
                    failed: 0,
                    given_up: 0,
                    lease_ends: self.lease().ends(now, self.settings.lease_ms),
                });
                let told = self.told(&half_open, Cause::OpenTimeOver, 0..=0);
                let mut course = half_open.passes(name, Kind::Probe);
                course.told.push(told);
                course
            }
            Left::Pending(ms) => self.rejects(name, Some(ms)),
            // It begins anew, once.
            Left::Beyond => {
                let span = self.span_of(OpenBy::Streak);
                let anew =
                    self.at(Stage::Open { ends: span.ends(now, span.ms), by: OpenBy::Streak, again: true });
                anew.rejects(name, Some(span.ends(0, span.ms)))
            }
        });
        courses.collect()
    }

    fn allow_while_half_open(&self, name: Name, in_flight: u32, now: Moment) -> Vec<Course> {
        let lease = self.lease();
        if in_flight == 0 {
            return vec![self.one_more_probe(name, Some(lease.ends(now, lease.ms)))];
        }
        let mut courses = Vec::new();
        for left in self.lefts(now) {
            match left {
                // Nothing came back for a whole lease.
                Left::Due | Left::Beyond => {
                    for (open, told) in self.tripped(Cause::ProbesLost, now) {
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
            }
        }
        courses
    }

    fn one_more_probe(&self, name: Name, lease: Option<About>) -> Course {
        let mut next = self.clone();
        if let Stage::HalfOpen { in_flight, lease_ends, .. } = &mut next.stage {
            *in_flight += 1;
            *lease_ends = lease.unwrap_or(lease_ends.clone());
        }
        next.passes(name, Kind::Probe)
    }

    fn allow_while_recovering(&self, name: Name, since: &About, row: Row, now: Moment) -> Vec<Course> {
        let ramp = self.settings.ramp_ms;
        let over = || {
            let late = Span::open(self.settings.relapse_ms).late;
            let since = Some(now - late..=now);
            let closed = self.at(Stage::Closed { since });
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
            if *ms.start() < ramp {
                let elapsed = *ms.start()..=(*ms.end()).min(ramp - 1);
                courses.extend(self.share(name, since, row, elapsed));
            }
        }
        courses
    }

    /// The part of the ramp that is over is the share of calls that pass, give or take three of any
    /// hundred calls in a row, thirty of any million.
    fn share(&self, name: Name, since: &About, row: Row, elapsed: RangeInclusive<i128>) -> Vec<Course> {
        let ramp = self.settings.ramp_ms;
        let recovering = |row| {
            let since = since.clone();
            self.at(Stage::Recovering { since, row })
        };
        if self.in_shadow {
            // Passes in any case; which way can't be seen.
            let kind = if *elapsed.end() == 0 { Kind::Uncounted } else { Kind::CountedOrNot };
            return vec![recovering(Row::default()).passes(name, kind)];
        }
        let exact = elapsed.start() == elapsed.end();
        let before = if exact && row.elapsed_ms == *elapsed.start() { row } else { Row::default() };
        let counted = |passed: i128| Row {
            elapsed_ms: *elapsed.start(),
            calls: before.calls + 1,
            passed: before.passed + passed,
        };
        let is_fair = |row: Row| {
            let low = row.calls * elapsed.start();
            let high = row.calls * elapsed.end();
            let off = if row.calls <= 100 { 3 } else { 30 };
            (row.passed - off) * ramp <= high && low <= (row.passed + off) * ramp
        };
        let left = ramp - elapsed.end()..=ramp - elapsed.start();
        let mut courses = Vec::new();
        if *elapsed.end() > 0 && is_fair(counted(1)) {
            courses.push(recovering(counted(1)).passes(name, Kind::Counted));
        }
        if is_fair(counted(0)) {
            courses.push(recovering(counted(0)).rejects(name, Some(left)));
        }
        courses
    }
}
