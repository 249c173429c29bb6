//! Draws both runs: calls that reach the dependency, and breakers that are open.

use std::path::Path;

use plotters::prelude::*;

use crate::Failure;
use crate::run::Course;
use crate::scenario::{ALL, Scenario};

const STEP_MS: u64 = 250;
const ITSELF: RGBColor = RGBColor(0xD5, 0x5E, 0x00);
const FLEET: RGBColor = RGBColor(0x00, 0x72, 0xB2);
const DOWN: RGBColor = RGBColor(0xF0, 0xE4, 0xC8);

type Line = Vec<(f64, f64)>;

pub(crate) fn draw(file: &Path, scenario: &Scenario, itself: &Course, fleet: &Course) -> Result<(), Failure> {
    let root = SVGBackend::new(file, (900, 620)).into_drawing_area();
    root.fill(&WHITE)?;
    let seconds = (scenario.before() + scenario.outage() + scenario.after()).as_secs_f64();
    let steps = (seconds * 1_000.0) as u64 / STEP_MS;
    let from = scenario.before().as_secs_f64();
    let down = from..from + scenario.outage().as_secs_f64();
    let (upper, lower) = root.split_vertically(310);
    let titles = ["calls per second that reach the dependency", "breakers that are open, of 50"];
    let arrivals = [itself, fleet].map(|course| arrivals(course, steps));
    let open = [itself, fleet].map(|course| open(course, steps));
    for (area, title, lines) in [(upper, titles[0], arrivals), (lower, titles[1], open)] {
        let most = lines.iter().flatten().map(|(_, y)| *y).fold(1.0, f64::max) * 1.1;
        let mut chart = ChartBuilder::on(&area)
            .caption(title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(34)
            .y_label_area_size(54)
            .build_cartesian_2d(0.0..seconds, 0.0..most)?;
        chart.draw_series([Rectangle::new([(down.start, 0.0), (down.end, most)], DOWN.filled())])?;
        chart.configure_mesh().disable_x_mesh().x_desc("seconds (shaded: the dependency is down)").draw()?;
        for ((name, color), line) in [("each for itself", ITSELF), ("fleet", FLEET)].into_iter().zip(lines) {
            chart
                .draw_series(LineSeries::new(line, color.stroke_width(2)))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()?;
    }
    root.present()?;
    Ok(())
}

fn at(step: u64) -> f64 {
    (step * STEP_MS) as f64 / 1_000.0
}

fn arrivals(course: &Course, steps: u64) -> Line {
    let mut counts = vec![0.0; steps as usize];
    for arrival in &course.arrivals {
        let step = arrival.at_ms.saturating_sub(course.began_ms) / STEP_MS;
        if let Some(count) = counts.get_mut(step as usize) {
            *count += 1_000.0 / STEP_MS as f64;
        }
    }
    counts.into_iter().enumerate().map(|(step, count)| (at(step as u64), count)).collect()
}

fn open(course: &Course, steps: u64) -> Line {
    let is_open_at = |at_ms: u64| {
        let last = |transitions: &[(u64, String, String)]| {
            transitions
                .iter()
                .take_while(|(when_ms, ..)| *when_ms <= at_ms)
                .last()
                .is_some_and(|(_, to, _)| to != "closed")
        };
        course.records.iter().filter(|record| last(&record.transitions)).count().min(ALL)
    };
    (0..steps).map(|step| (at(step), is_open_at(course.began_ms + step * STEP_MS) as f64)).collect()
}
