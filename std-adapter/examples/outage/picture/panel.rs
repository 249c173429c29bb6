//! One panel: a run's requests, its breaker's phases and its busy workers over time.

use std::collections::BTreeSet;
use std::time::Duration;

use super::axes::Axes;
use super::style::{
    BOTTOM, FAILED, HEADING, INK, LATENCY_TOP, LEFT, MARGIN, MARK, MARKS_TOP, MEAN, OTHERS, OUTAGE, PAID,
    PLAIN, PLOT_WIDTH, REJECTED, RIBBON_HEIGHT, RIBBON_TOP, SMALL, WIDTH, WORDS, WORKERS,
};
use super::svg::{Anchor, Font, Svg};
use super::takeaway;
use crate::guard::State;
use crate::load::{Answer, Sample};
use crate::run::Run;
use crate::scenario::{Kind, seconds};
use crate::statistics::{is_payment, milliseconds};

pub(super) fn mean_style() -> String {
    format!(r#"fill="none" stroke="{MEAN}" stroke-width="2" stroke-linejoin="round""#)
}

pub(super) struct Panel<'a> {
    pub(super) run: &'a Run,
    pub(super) axes: Axes<'a>,
}

impl Panel<'_> {
    pub(super) const HEIGHT: f64 = BOTTOM + 30.0;

    pub(super) fn draw(&self, svg: &mut Svg, number: usize) {
        svg.text(
            MARGIN,
            self.axes.top + WORDS,
            Anchor::Start,
            HEADING,
            &format!("{number}. {}", self.run.kind.title()),
        );
        let words = takeaway::of_run(self.run, self.axes.scenario);
        for (index, line) in PLAIN.wrap(&words, WIDTH - 2.0 * MARGIN).iter().enumerate() {
            svg.text(MARGIN, self.axes.top + WORDS + 21.0 + 18.0 * index as f64, Anchor::Start, PLAIN, line);
        }
        self.outage(svg);
        self.axes.draw(svg);
        self.requests(svg);
        self.workers(svg);
        self.ribbon(svg);
        self.marks(svg);
    }

    fn x(&self, at: Duration) -> f64 {
        self.axes.scales.x(at.as_secs_f64() - self.run.outage_from.as_secs_f64())
    }

    fn outage(&self, svg: &mut Svg) {
        let (from, to) = (self.x(self.run.outage_from), self.x(self.run.outage_to));
        let shade = format!(r#"fill="{OUTAGE}""#);
        svg.rect(from, self.axes.top + LATENCY_TOP, to - from, BOTTOM - LATENCY_TOP, &shade);
    }

    fn requests(&self, svg: &mut Svg) {
        self.dots(svg, PAID, |sample| is_payment(sample) && sample.answer == Answer::Ok);
        self.dots(svg, REJECTED, |sample| sample.answer == Answer::Rejected);
        self.dots(svg, OTHERS, |sample| !is_payment(sample) && sample.answer == Answer::Ok);
        self.mean(svg);
        // Last, so that the mean, which runs through them, does not hide them.
        self.dots(svg, FAILED, |sample| sample.answer == Answer::Failed);
    }

    /// Equal places are drawn once, so the file stays small however long the run.
    fn dots(&self, svg: &mut Svg, colour: &str, wanted: fn(&Sample) -> bool) {
        let samples = self.run.samples.iter().filter(|sample| wanted(sample));
        let place = |sample: &Sample| {
            let y = self.axes.latency_y(milliseconds(sample.latency));
            (self.x(sample.due).round() as i32, y.round() as i32)
        };
        let places: BTreeSet<_> = samples.map(place).collect();
        svg.dots(&places.into_iter().collect::<Vec<_>>(), 4.0, colour, 0.55);
    }

    /// Of the other endpoints, a hundred and twenty times over the run.
    fn mean(&self, svg: &mut Svg) {
        const STEPS: usize = 120;
        let mut steps = [(Duration::ZERO, 0); STEPS];
        let length = self.axes.scenario.length().as_secs_f64();
        for sample in self.run.samples.iter().filter(|sample| !is_payment(sample)) {
            let step = (sample.due.as_secs_f64() / length * STEPS as f64) as usize;
            let (sum, count) = &mut steps[step.min(STEPS - 1)];
            *sum += sample.latency;
            *count += 1;
        }
        let point = |(step, (sum, count)): (usize, (Duration, u32))| {
            let mean = milliseconds(sum.checked_div(count)?);
            let at = Duration::from_secs_f64(length * (step as f64 + 0.5) / STEPS as f64);
            Some((self.x(at), self.axes.latency_y(mean)))
        };
        let points: Vec<_> = steps.into_iter().enumerate().filter_map(point).collect();
        svg.path(&points, &mean_style());
    }

    fn workers(&self, svg: &mut Svg) {
        // The most of each pixel: a short peak must not be lost.
        let mut columns: Vec<(f64, usize)> = Vec::new();
        for (at, busy) in &self.run.busy {
            let x = self.x(*at).round();
            match columns.last_mut() {
                Some((last, most)) if *last == x => *most = (*most).max(*busy),
                _ => columns.push((x, *busy)),
            }
        }
        let (Some(first), Some(last)) = (columns.first(), columns.last()) else {
            return;
        };
        let ends = ((first.0, self.axes.workers_y(0)), (last.0, self.axes.workers_y(0)));
        let mut points = vec![ends.0];
        points.extend(columns.iter().map(|(x, busy)| (*x, self.axes.workers_y(*busy))));
        points.push(ends.1);
        svg.path(
            &points,
            &format!(r#"fill="{WORKERS}" fill-opacity="0.55" stroke="{WORKERS}" stroke-width="1""#),
        );
    }

    fn ribbon(&self, svg: &mut Svg) {
        let y = self.axes.top + RIBBON_TOP;
        svg.text(LEFT - 8.0, y + 13.0, Anchor::End, SMALL, "breaker");
        if self.run.kind == Kind::None {
            svg.rect(LEFT, y, PLOT_WIDTH, RIBBON_HEIGHT, r##"fill="#eeeeee""##);
            svg.text(LEFT + PLOT_WIDTH / 2.0, y + 13.0, Anchor::Middle, SMALL, "none");
            return;
        }
        let mut from = LEFT;
        let mut state = State::Closed;
        let end = (LEFT + PLOT_WIDTH, State::Closed);
        let changes = self.run.transitions.iter().map(|change| (self.x(change.at), change.to));
        for (to, next) in changes.chain([end]) {
            let Look { fill, colour, label } = look(state);
            svg.rect(from, y, to - from, RIBBON_HEIGHT, &format!(r#"fill="{fill}""#));
            let font = Font { colour, ..MARK };
            if font.width_of(label) + 6.0 < to - from {
                svg.text((from + to) / 2.0, y + 13.0, Anchor::Middle, font, label);
            }
            (from, state) = (to, next);
        }
    }

    /// The moments to notice: a thin line for every transition, words for the first and the last of them.
    fn marks(&self, svg: &mut Svg) {
        let bottom = self.axes.top + BOTTOM;
        // The provider's words in the row above the breaker's.
        let (provider, breaker) = (self.axes.top + MARKS_TOP + 12.0, self.axes.top + MARKS_TOP + 28.0);
        let mut mark = |at: Duration, y: f64, style: &str, font: Font, words: &str| {
            let x = self.x(at);
            svg.line((x, y - 10.0), (x, bottom), style);
            svg.text_over(x + 5.0, y, Anchor::Start, font, words);
        };
        let since = |at: Duration| seconds(at.saturating_sub(self.run.outage_from));
        let thin = format!(r#"stroke="{INK}" stroke-width="1" stroke-dasharray="3 3" stroke-opacity="0.6""#);
        let opened = self.run.opened_at();
        for (index, change) in self.run.transitions.iter().enumerate() {
            let is_last = index + 1 == self.run.transitions.len();
            let words = match change.to {
                State::Open if opened == Some(change.at) => {
                    format!("breaker opens at {}", since(change.at))
                }
                State::Closed if is_last => format!("closes at {}", since(change.at)),
                _ => String::new(),
            };
            mark(change.at, breaker, &thin, MARK, &words);
        }
        for (at, colour, words) in [
            (self.run.outage_from, FAILED, "provider hangs"),
            (self.run.outage_to, PAID, "provider answers again"),
        ] {
            let line = format!(r#"stroke="{colour}" stroke-width="1.5""#);
            mark(at, provider, &line, Font { colour, ..MARK }, words);
        }
        if let Some(at) = self.run.full_at {
            let (x, y) = (self.x(at), self.axes.workers_y(self.axes.scenario.workers));
            svg.dots(&[(x as i32, y as i32)], 8.0, FAILED, 1.0);
            svg.text_over(x + 8.0, y + 15.0, Anchor::Start, MARK, &format!("pool full at {}", since(at)));
        }
    }
}

/// A phase in the ribbon.
pub(super) struct Look {
    pub(super) fill: &'static str,
    colour: &'static str,
    label: &'static str,
}

pub(super) fn look(state: State) -> Look {
    let (fill, colour, label) = match state {
        State::Closed => ("#cdebe0", "#00513b", "closed"),
        State::Open => ("#a63a2b", "#ffffff", "open"),
        State::HalfOpen => ("#f2c84b", "#4a3800", "half-open"),
        State::Recovering => ("#dfe9a9", "#3d4a00", "recovering"),
        State::Isolated => ("#555555", "#ffffff", "isolated"),
        State::Disabled => ("#cccccc", "#222222", "disabled"),
    };
    Look { fill, colour, label }
}
