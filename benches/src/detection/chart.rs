//! Charts as SVG, with logarithmic axes. They read well on white and on black.

use std::fmt::Write;

/// A line, or points where `is_line` is false.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Where it goes.
    pub points: Vec<(f64, f64)>,
    /// Dashed and without points.
    pub is_limit: bool,
}

/// An axis and what it shows.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// What it says.
    pub title: &'static str,
    /// Its ends.
    pub range: (f64, f64),
}

/// A group of bars.
#[derive(Clone, Debug)]
pub struct Group {
    /// What stands below it.
    pub name: String,
    /// One value a bar.
    pub values: Vec<f64>,
}

const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const GREY: &str = "#888888";
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 520.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 230.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 70.0;

impl Axis {
    /// The place of a value, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let (from, to) = self.range;
        ((value / from).log10() / (to / from).log10()).clamp(0.0, 1.0)
    }

    fn powers_of_ten(&self) -> impl Iterator<Item = (f64, String)> {
        let (from, to) = self.range;
        let exponents = from.log10().ceil() as i32..=to.log10().floor() as i32;
        exponents.map(|exponent| (10_f64.powi(exponent), power(exponent)))
    }
}

fn power(exponent: i32) -> String {
    match exponent {
        0..=3 => format!("{}", 10_i32.pow(exponent as u32)),
        _ => format!("10<tspan dy=\"-5\" font-size=\"9\">{exponent}</tspan>"),
    }
}

fn x_of(place: f64) -> f64 {
    LEFT + place * (WIDTH - LEFT - RIGHT)
}

fn y_of(place: f64) -> f64 {
    HEIGHT - BOTTOM - place * (HEIGHT - TOP - BOTTOM)
}

/// A drawing that is being made.
struct Drawing(String);

impl Drawing {
    fn new(title: &str) -> Self {
        let mut drawing = Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\" fill=\"{GREY}\">\n"
        ));
        drawing.text(WIDTH / 2.0, 24.0, "middle", title);
        drawing
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        let _ = writeln!(self.0, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let _ = writeln!(
            self.0,
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{GREY}\" stroke-opacity=\"0.35\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    fn vertical_axis(&mut self, axis: &Axis) {
        for (value, label) in axis.powers_of_ten() {
            let y = y_of(axis.place(value));
            self.line((x_of(0.0), y), (x_of(1.0), y));
            self.text(LEFT - 8.0, y + 4.0, "end", &label);
        }
        let middle = y_of(0.5);
        let _ = writeln!(
            self.0,
            "<text transform=\"translate(20 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            axis.title
        );
    }

    fn horizontal_axis(&mut self, axis: &Axis) {
        for (value, label) in axis.powers_of_ten() {
            let x = x_of(axis.place(value));
            self.line((x, y_of(0.0)), (x, y_of(1.0)));
            self.text(x, y_of(0.0) + 20.0, "middle", &label);
        }
        self.text(x_of(0.5), HEIGHT - 15.0, "middle", axis.title);
    }

    fn legend(&mut self, row: usize, colour: &str, name: &str) {
        let y = TOP + 20.0 * row as f64 + 10.0;
        let x = WIDTH - RIGHT + 20.0;
        let _ = writeln!(
            self.0,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\" fill=\"{colour}\"/>",
            y - 10.0
        );
        self.text(x + 18.0, y, "start", name);
    }

    fn end(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

/// Lines over two logarithmic axes.
pub fn lines(title: &str, across: Axis, up: Axis, all: &[Series]) -> String {
    let mut drawing = Drawing::new(title);
    drawing.horizontal_axis(&across);
    drawing.vertical_axis(&up);
    let mut colours = COLOURS.iter().cycle();
    for (row, series) in all.iter().enumerate() {
        let colour = if series.is_limit { GREY } else { colours.next().unwrap_or(&GREY) };
        let places: Vec<_> =
            series.points.iter().map(|&(x, y)| (x_of(across.place(x)), y_of(up.place(y)))).collect();
        let path: Vec<_> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let dashes = if series.is_limit { " stroke-dasharray=\"6 4\"" } else { "" };
        let _ = writeln!(
            drawing.0,
            "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>",
            path.join("L")
        );
        for (x, y) in places.iter().filter(|_| !series.is_limit) {
            let _ = writeln!(drawing.0, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>");
        }
        drawing.legend(row, colour, &series.name);
    }
    drawing.end()
}

/// Groups of bars over a logarithmic axis; each bar has its own colour in all groups.
pub fn bars(title: &str, up: Axis, names: &[String], groups: &[Group]) -> String {
    let mut drawing = Drawing::new(title);
    drawing.vertical_axis(&up);
    let share = 1.0 / groups.len() as f64;
    for (place, group) in groups.iter().enumerate() {
        let from = x_of(place as f64 * share);
        let room = x_of(share) - x_of(0.0);
        let width = room * 0.8 / group.values.len() as f64;
        for (bar, (&value, colour)) in group.values.iter().zip(COLOURS.iter().cycle()).enumerate() {
            let top = y_of(up.place(value));
            let _ = writeln!(
                drawing.0,
                "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>",
                from + room * 0.1 + width * bar as f64,
                y_of(0.0) - top
            );
        }
        for (line, word) in group.name.split(' ').enumerate() {
            let y = y_of(0.0) + 18.0 + 14.0 * line as f64;
            drawing.text(from + room / 2.0, y, "middle", word);
        }
    }
    for (row, (name, colour)) in names.iter().zip(COLOURS.iter().cycle()).enumerate() {
        drawing.legend(row, colour, name);
    }
    drawing.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXIS: Axis = Axis { title: "calls", range: (1.0, 100.0) };

    #[test]
    fn a_logarithmic_axis_has_its_geometric_mean_in_the_middle() {
        assert_eq!(AXIS.place(10.0), 0.5);
        assert_eq!((AXIS.place(0.1), AXIS.place(1_000.0)), (0.0, 1.0));
        let labels: Vec<_> = AXIS.powers_of_ten().map(|(_, label)| label).collect();
        assert_eq!(labels, ["1", "10", "100"]);
    }

    #[test]
    fn each_series_is_one_path_and_one_legend() {
        let series = |name: &str, is_limit| Series {
            name: name.into(),
            points: vec![(1.0, 1.0), (10.0, 10.0)],
            is_limit,
        };
        let svg = lines("title", AXIS, AXIS, &[series("one", false), series("two", true)]);
        assert_eq!(svg.matches("fill=\"none\"").count(), 2);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains(">one<") && svg.contains(">two<"));
    }
}
