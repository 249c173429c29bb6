//! The axes: time along the bottom, latency (logarithmic) and busy workers up the side.

use super::style::{
    BOTTOM, FAINT, GRID, LATENCY_HEIGHT, LATENCY_TOP, LEFT, PLOT_WIDTH, SMALL, WORKERS_HEIGHT, WORKERS_TOP,
};
use super::svg::{Anchor, Svg};
use crate::run::Run;
use crate::scenario::Scenario;
use crate::statistics::milliseconds;

/// The bottom of the latency axis; what was faster, and nothing is, is drawn there.
const FASTEST_MS: f64 = 0.1;

/// The axes, the same for all panels, so that they can be compared.
#[derive(Clone, Copy)]
pub(super) struct Scales {
    /// Seconds from the start of the outage.
    from: f64,
    to: f64,
    slowest_ms: f64,
}

impl Scales {
    pub(super) fn covering(runs: &[Run], scenario: &Scenario) -> Self {
        let from = -scenario.before.as_secs_f64();
        let slowest = runs.iter().flat_map(|run| &run.samples).map(|sample| sample.latency).max();
        let slowest_ms = milliseconds(slowest.unwrap_or_default());
        Scales {
            from,
            to: from + scenario.length().as_secs_f64(),
            slowest_ms: (slowest_ms * 1.5).max(10_000.0),
        }
    }

    pub(super) fn x(&self, seconds: f64) -> f64 {
        let share = (seconds - self.from) / (self.to - self.from);
        LEFT + PLOT_WIDTH * share.clamp(0.0, 1.0)
    }

    /// From the top of the plot.
    pub(super) fn latency(&self, ms: f64) -> f64 {
        let share = (ms.max(FASTEST_MS) / FASTEST_MS).ln() / (self.slowest_ms / FASTEST_MS).ln();
        LATENCY_HEIGHT * (1.0 - share)
    }
}

/// The axes of one panel.
pub(super) struct Axes<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) scales: Scales,
    /// Where the panel begins.
    pub(super) top: f64,
}

impl Axes<'_> {
    pub(super) fn latency_y(&self, ms: f64) -> f64 {
        self.top + LATENCY_TOP + self.scales.latency(ms)
    }

    pub(super) fn workers_y(&self, busy: usize) -> f64 {
        let share = busy as f64 / self.scenario.workers as f64;
        self.top + WORKERS_TOP + WORKERS_HEIGHT * (1.0 - share)
    }

    pub(super) fn draw(&self, svg: &mut Svg) {
        let line = format!(r#"stroke="{GRID}" stroke-width="1""#);
        let level = |svg: &mut Svg, y: f64, label: &str| {
            svg.line((LEFT, y), (LEFT + PLOT_WIDTH, y), &line);
            svg.text(LEFT - 8.0, y + 4.0, Anchor::End, SMALL, label);
        };
        let labels = ["1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s"];
        for (power, label) in labels.into_iter().enumerate() {
            let ms = 10f64.powi(power as i32);
            if ms <= self.scales.slowest_ms {
                level(svg, self.latency_y(ms), label);
            }
        }
        let workers = self.scenario.workers;
        for busy in [0, workers / 2, workers] {
            level(svg, self.workers_y(busy), &busy.to_string());
        }
        let latency_middle = self.top + LATENCY_TOP + LATENCY_HEIGHT / 2.0;
        svg.upright(22.0, latency_middle, SMALL, "latency");
        let workers_middle = self.top + WORKERS_TOP + WORKERS_HEIGHT / 2.0;
        svg.upright(16.0, workers_middle, SMALL, "workers");
        svg.upright(30.0, workers_middle, SMALL, "busy");

        let bottom = self.top + BOTTOM;
        for (at, label) in ticks(&self.scales) {
            let x = self.scales.x(at);
            let faint = format!(r#"stroke="{FAINT}""#);
            svg.line((x, bottom), (x, bottom + 4.0), &faint);
            svg.text(x, bottom + 17.0, Anchor::Middle, SMALL, &label);
        }
    }
}

/// About a dozen ticks at round times, one of them where the outage begins.
fn ticks(scales: &Scales) -> Vec<(f64, String)> {
    let rough = (scales.to - scales.from) / 12.0;
    let steps = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];
    let step = steps.into_iter().find(|step| *step >= rough * 0.99).unwrap_or(20.0);
    // A hair beyond both ends, where rounding may have put a tick.
    let first = (scales.from / step - 1e-6).ceil() as i32;
    let last = (scales.to / step + 1e-6).floor() as i32;
    let tick = |number: i32| {
        let at = f64::from(number) * step;
        let label = if number == 0 {
            "outage begins".into()
        } else {
            // Tenths only where there are any.
            format!("{} s", (at * 10.0).round() / 10.0)
        };
        (at, label)
    };
    (first..=last).map(tick).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_one_is_where_the_outage_begins() {
        let scales = Scales { from: -2.0, to: 10.0, slowest_ms: 10_000.0 };
        let labels: Vec<_> = ticks(&scales).into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels.first().map(String::as_str), Some("-2 s"));
        assert_eq!(labels[2], "outage begins");
        assert_eq!(labels.last().map(String::as_str), Some("10 s"));

        let short = Scales { from: -0.5, to: 2.5, slowest_ms: 10_000.0 };
        assert_eq!(ticks(&short)[0].1, "-0.5 s");
    }
}
