//! The picture: the three runs one above the other, on the same time axis.
//!
//! Each panel shows every request as a dot at the moment it was due and as high as it took (logarithmic), the
//! breaker's phases as a ribbon, and the busy workers below. `svg` draws, `takeaway` finds the words, and this file
//! lays out the page; `panel` fills a panel, between the `axes`, in a common `style`.

mod axes;
mod panel;
mod style;
mod svg;
mod takeaway;

use crate::guard::State;
use crate::run::Run;
use crate::scenario::{Scenario, seconds};
use axes::{Axes, Scales};
use panel::Panel;
use style::{FAILED, LEFT, LEGEND, MARGIN, MARK, OTHERS, PAID, PLAIN, REJECTED, TITLE, WIDTH};
use svg::{Anchor, Svg};

const HEADER: f64 = 112.0;
const FOOTER: f64 = 52.0;

pub(crate) fn of_runs(runs: &[Run], scenario: &Scenario) -> String {
    let mut svg = Svg::new(WIDTH, HEADER + runs.len() as f64 * Panel::HEIGHT + FOOTER);
    let title = format!(
        "The payment provider hangs for {}. What happens to everyone else?",
        seconds(scenario.outage)
    );
    svg.text(MARGIN, 38.0, Anchor::Start, TITLE, &title);
    let subtitle = format!(
        "{} payments/s and {} healthy requests/s (search, products) share {} workers. Calls to the provider time out after {}. \
         Measured, all waiting times 1/{} of the article's.",
        scenario.payments_per_second,
        2 * scenario.others_per_second,
        scenario.workers,
        seconds(scenario.http_timeout),
        scenario.scale,
    );
    svg.text(MARGIN, 62.0, Anchor::Start, PLAIN, &subtitle);
    legend(&mut svg, 92.0);

    let scales = Scales::covering(runs, scenario);
    for (index, run) in runs.iter().enumerate() {
        let top = HEADER + index as f64 * Panel::HEIGHT;
        Panel { run, axes: Axes { scenario, scales, top } }.draw(&mut svg, index + 1);
    }
    phases_explained(&mut svg, HEADER + runs.len() as f64 * Panel::HEIGHT + 26.0);
    svg.finish(&title)
}

fn legend(svg: &mut Svg, y: f64) {
    let mut x = MARGIN;
    svg.text(x, y, Anchor::Start, MARK, "Each request is a dot:");
    x += MARK.width_of("Each request is a dot:") + 14.0;
    let entries = [
        (OTHERS, "search or products, answered"),
        (PAID, "payment, answered"),
        (REJECTED, "payment, rejected"),
        (FAILED, "any, failed or given up"),
    ];
    for (colour, label) in entries {
        svg.dots(&[(x as i32 + 4, y as i32 - 4)], 9.0, colour, 1.0);
        svg.text(x + 13.0, y, Anchor::Start, LEGEND, label);
        x += 13.0 + LEGEND.width_of(label) + 16.0;
    }
    svg.path(&[(x, y - 4.0), (x + 24.0, y - 4.0)], &panel::mean_style());
    svg.text(x + 30.0, y, Anchor::Start, LEGEND, "mean of search and products");
}

/// What the colours of the ribbon mean.
fn phases_explained(svg: &mut Svg, y: f64) {
    let mut x = LEFT;
    svg.text(x, y, Anchor::Start, MARK, "The breaker is");
    x += MARK.width_of("The breaker is") + 14.0;
    let entries = [
        (State::Closed, "closed: payments pass"),
        (State::Open, "open: payments are rejected"),
        (State::HalfOpen, "half-open: one probe decides, the rest are rejected"),
    ];
    for (state, label) in entries {
        svg.rect(x, y - 11.0, 18.0, 13.0, &format!(r#"fill="{}""#, panel::look(state).fill));
        svg.text(x + 25.0, y, Anchor::Start, LEGEND, label);
        x += 25.0 + LEGEND.width_of(label) + 20.0;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use nanobreaker::Cause;

    use super::*;
    use crate::load::{Answer, Endpoint, Sample};
    use crate::run::Change;
    use crate::scenario::{Kind, Knobs};

    #[test]
    fn the_picture_is_well_formed_whatever_the_runs_saw() {
        let scenario = Scenario::new(&Knobs { scale: 10, threshold: 5, open_for: 10, hung_after: 250 });
        let sample = |n: u64| Sample {
            endpoint: if n.is_multiple_of(3) { Endpoint::Search } else { Endpoint::Payments },
            due: Duration::from_millis(n),
            latency: Duration::from_micros(n * n),
            answer: [Answer::Ok, Answer::Rejected, Answer::Failed][n as usize % 3],
        };
        let run = |kind, count, transitions| Run {
            kind,
            samples: (0..count).map(sample).collect(),
            busy: (0..count).map(|n| (Duration::from_millis(n), n as usize % 200)).collect(),
            most_busy: 199,
            full_at: None,
            outage_from: Duration::from_secs(2),
            outage_to: Duration::from_secs(8),
            transitions,
            rejections: vec![],
        };
        let change = |at, to, cause| Change { at: Duration::from_secs(at), to, cause };
        let opened = vec![
            change(5, State::Open, Cause::ThresholdReached),
            change(6, State::HalfOpen, Cause::OpenTimeOver),
            change(7, State::Closed, Cause::ProbesSucceeded),
        ];
        let runs =
            [run(Kind::None, 0, vec![]), run(Kind::Article, 12_000, opened), run(Kind::HungAfter, 1, vec![])];
        let text = of_runs(&runs, &scenario);
        let document = roxmltree::Document::parse(&text).expect("well-formed");
        assert_eq!(document.root_element().tag_name().name(), "svg");
        let words = document.descendants().filter_map(|node| node.text()).collect::<String>();
        assert!(!words.contains("NaN") && !text.contains("NaN") && !text.contains("inf"));
        for kind in Kind::ALL {
            assert!(words.contains(kind.title()), "{} is missing", kind.title());
        }
    }
}
