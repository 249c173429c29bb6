//! A picture of a replay: calls over time, and below them when each breaker was not closed.

use std::fmt::Write;

use crate::replaying::{Bin, Histogram, Trip};
use crate::report::humane::{count, duration, time};
use crate::report::replay::{Replayed, shown_key, table};

const WIDTH: f64 = 1_000.0;
const LEFT: f64 = 10.0;
const TOP: f64 = 50.0;
const BARS: f64 = 200.0;
const BAND: f64 = 14.0;
/// Breakers that get a band of their own: those that tripped first.
const MOST_BANDS: usize = 20;
/// Trips that are drawn; there are no more pixels than that anyway.
const MOST_TRIPS: usize = 2_000;

/// Calls that came to the same.
struct Series {
    name: &'static str,
    colour: &'static str,
    of: fn(&Bin) -> u64,
}

/// From the bottom of a bar to its top. The colours can be told apart by brightness too.
const SERIES: [Series; 4] = [
    Series { name: "passed", colour: "#9cc3a5", of: |bin| bin.good },
    Series { name: "failed", colour: "#b3261e", of: |bin| bin.failed },
    Series { name: "doomed, saved", colour: "#31629b", of: |bin| bin.saved },
    Series { name: "good, lost", colour: "#f0b429", of: |bin| bin.lost },
];

/// The picture, as a whole SVG file.
pub(crate) fn svg(replayed: &Replayed<'_>, histogram: &Histogram) -> String {
    let bands = bands(&replayed.played.trips);
    let height = TOP + BARS + 40.0 + BAND * bands.len() as f64 * 1.5 + 20.0;
    let width = WIDTH + 2.0 * LEFT;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\" role=\"img\">\n\
         <title>{}</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n",
        escaped(&format!("{}: calls over time", replayed.config)),
    );
    legend(&mut svg, histogram);
    bars(&mut svg, histogram);
    axis(&mut svg, histogram);
    for (row, key) in bands.iter().enumerate() {
        let y = TOP + BARS + 40.0 + BAND * 1.5 * row as f64;
        band(&mut svg, replayed, histogram, *key, y);
    }
    svg.push_str("</svg>\n");
    svg
}

/// The width of the picture in microseconds.
fn length_us(histogram: &Histogram) -> f64 {
    (histogram.bins().len().max(1) as f64) * histogram.width_us() as f64
}

/// Where a time is, within the picture.
fn x(histogram: &Histogram, at_us: i64) -> f64 {
    let start_us = histogram.start_us().unwrap_or(0);
    let since = at_us.saturating_sub(start_us).max(0) as f64;
    LEFT + (since / length_us(histogram)).min(1.0) * WIDTH
}

fn bands(trips: &[Trip]) -> Vec<u32> {
    let mut keys = Vec::new();
    for trip in trips {
        if keys.len() < MOST_BANDS && !keys.contains(&trip.key) {
            keys.push(trip.key);
        }
    }
    keys
}

fn legend(svg: &mut String, histogram: &Histogram) {
    for (index, Series { name, colour, .. }) in SERIES.iter().enumerate() {
        let x = LEFT + 150.0 * index as f64;
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"12\" width=\"12\" height=\"12\" fill=\"{colour}\"/>\
             <text x=\"{}\" y=\"22\">{name}</text>",
            x + 18.0
        );
    }
    let most = histogram.bins().iter().map(Bin::total).max().unwrap_or(0);
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"22\" text-anchor=\"end\">highest: {} calls in {}</text>",
        LEFT + WIDTH,
        count(most),
        duration(histogram.width_us()),
    );
}

fn bars(svg: &mut String, histogram: &Histogram) {
    let bins = histogram.bins();
    let most = bins.iter().map(Bin::total).max().unwrap_or(0).max(1) as f64;
    let width = WIDTH / bins.len().max(1) as f64;
    for (index, bin) in bins.iter().enumerate() {
        let x = LEFT + width * index as f64;
        let mut y = TOP + BARS;
        for Series { colour, of, .. } in &SERIES {
            let calls = of(bin);
            if calls == 0 {
                continue;
            }
            let height = calls as f64 / most * BARS;
            y -= height;
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" \
                 fill=\"{colour}\"/>"
            );
        }
    }
}

fn axis(svg: &mut String, histogram: &Histogram) {
    let start_us = histogram.start_us().unwrap_or(0);
    let y = TOP + BARS;
    let _ = writeln!(svg, "<path d=\"M{LEFT} {y}H{}\" stroke=\"#444\"/>", LEFT + WIDTH);
    let ends = [
        (LEFT, "start", start_us),
        (LEFT + WIDTH, "end", start_us.saturating_add(length_us(histogram) as i64)),
    ];
    for (x, anchor, at_us) in ends {
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            y + 16.0,
            time(at_us)
        );
    }
}

fn band(svg: &mut String, replayed: &Replayed<'_>, histogram: &Histogram, key: u32, y: f64) {
    let _ =
        writeln!(svg, "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{BAND}\" fill=\"#e8efe9\"/>");
    let trips = replayed.played.trips.iter().filter(|trip| trip.key == key);
    for trip in trips.take(MOST_TRIPS) {
        let from = x(histogram, trip.at_us);
        let to = x(histogram, trip.recovered_at_us.unwrap_or(i64::MAX));
        let _ = writeln!(
            svg,
            "<rect x=\"{from:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"{BAND}\" fill=\"#31629b\">\
             <title>{}</title></rect>",
            (to - from).max(1.0),
            escaped(&told(trip)),
        );
    }
    let name = match replayed.notes.keys.name(key) {
        "" => "not closed".to_owned(),
        name => shown_key(name),
    };
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" font-size=\"11\" paint-order=\"stroke\" stroke=\"#fff\" \
         stroke-width=\"3\">{}</text>",
        LEFT + 4.0,
        y + BAND - 3.0,
        escaped(&name)
    );
}

fn told(trip: &Trip) -> String {
    let detected =
        trip.detection_delay_us.map_or(String::new(), |us| format!(", detected after {}", duration(us)));
    let recovered = trip
        .recovered_at_us
        .map_or("not recovered in the log".to_owned(), |us| format!("recovered {}", time(us)));
    format!(
        "tripped {}{detected}, {recovered}, {} saved, {} lost",
        time(trip.at_us),
        count(trip.saved),
        count(trip.lost)
    )
}

/// A page with the picture and the table.
pub(crate) fn page(replayed: &Replayed<'_>, svg: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>body {{ font-family: system-ui, sans-serif; margin: 2rem auto; max-width: 72rem }} \
         svg {{ width: 100%; height: auto }} pre {{ overflow-x: auto }}</style>\n</head>\n<body>\n\
         <h1>{title}</h1>\n{svg}<pre>{table}</pre>\n</body>\n</html>\n",
        title = escaped(&format!("{}: what it would have done", replayed.config)),
        table = escaped(&table(std::slice::from_ref(replayed), 1_000)),
    )
}

/// Text for XML and HTML. Characters that XML does not allow at all are replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' => escaped.push('\n'),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_log_says_can_not_become_markup() {
        assert_eq!(escaped("<script>\"&'\u{0}"), "&lt;script&gt;&quot;&amp;&#39;\u{fffd}");
    }
}
