//! The figures of the page "Which window?", measured with the real windows. `BLESS=1` writes them anew.
//!
//! Traffic is made up from a fixed seed, so every run comes to the same figures.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, thread};

use nanobreaker_core::window::AnyWindow;
use nanobreaker_core::{
    Breaker, Clock, Config, CusumSettings, ManualClock, Phase, Rate, WindowSettings, window::calls_words,
};

/// Shares of failing calls that a table shows, per million.
const TABLED: [u32; 5] = [1_000_000, 500_000, 200_000, 50_000, 10_000];
/// Those that the picture shows.
const DRAWN: [u32; 9] = [10_000, 20_000, 50_000, 100_000, 200_000, 350_000, 500_000, 700_000, 1_000_000];
/// After so many calls, and so long, every window is full.
const FULL_CALLS: u64 = 100;
const FULL_US: u64 = 10_000_000;
/// In how many calls it must open for "never" not to be said.
const LONGEST: u64 = 20_000;
/// How often each figure is measured.
const ROUNDS: u64 = 40;
/// What ten buckets of time take: the turn, and two words for each.
const TIME_WORDS: usize = 1 + 2 * 10;
/// What the largest of the windows takes.
const WORDS: usize = if calls_words(100) > TIME_WORDS { calls_words(100) } else { TIME_WORDS };

/// A window under test, at a traffic of so many microseconds between two calls.
#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    traffic: &'static str,
    every_us: u64,
    window: WindowSettings,
}

impl Row {
    /// The picture shows it.
    fn is_drawn(&self) -> bool {
        self.every_us == 1_000
    }

    fn shares(&self) -> &'static [u32] {
        // All of the table's are among those of the picture.
        if self.is_drawn() { &DRAWN } else { &TABLED }
    }

    fn measured(self) -> Curve {
        let calls = |share_ppm: &u32| (*share_ppm, calls_until_open(&self, *share_ppm));
        Curve { row: self, calls: self.shares().iter().map(calls).collect() }
    }
}

/// In how many calls a row's window opens, by the share of calls that fail.
struct Curve {
    row: Row,
    calls: Vec<(u32, Option<f64>)>,
}

impl Curve {
    fn at(&self, share_ppm: u32) -> Option<f64> {
        let measured = self.calls.iter().find(|(share, _)| *share == share_ppm);
        measured.expect("each share was measured").1
    }
}

fn rows() -> Vec<Row> {
    let half = Rate::percent(50).min_calls(20);
    let cusum = CusumSettings {
        normal_ppm: 20_000,
        broken_ppm: 500_000,
        calls_per_false_trip: 500_000_000,
        sustained_for_ms: 20,
    };
    let windows = [
        ("`consecutive`, 5", WindowSettings::Consecutive { threshold: 5 }),
        ("`failures`, 5 in 10 s", WindowSettings::Failures { threshold: 5, within_ms: 10_000 }),
        ("`calls`, 50 % of 100, from 20", WindowSettings::Calls { size: 100, rate: half }),
        ("`time`, 50 % of 10 s, from 20", WindowSettings::Time { span_ms: 10_000, buckets: 10, rate: half }),
        ("`cusum`, 2 % / 50 %", WindowSettings::Cusum(cusum)),
    ];
    let traffics = [("10/s", 100_000), ("1,000/s", 1_000)];
    let with_traffic =
        |(name, window)| traffics.map(|(traffic, every_us)| Row { name, traffic, every_us, window });
    windows.into_iter().flat_map(with_traffic).collect()
}

/// All of them, each on a thread of its own.
fn curves() -> Vec<Curve> {
    thread::scope(|scope| {
        let measured: Vec<_> = rows().into_iter().map(|row| scope.spawn(move || row.measured())).collect();
        measured.into_iter().map(|curve| curve.join().expect("it was measured")).collect()
    })
}

/// SplitMix64, of Steele, Lea and Flood (2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Whether a call fails, if so many of a million do.
    fn fails(&mut self, share_ppm: u32) -> bool {
        self.next() % 1_000_000 < u64::from(share_ppm)
    }
}

/// How many calls are made until the breaker opens, on average; `None` if it mostly does not.
///
/// Before that the dependency was well for so long that every window is full.
fn calls_until_open(row: &Row, share_ppm: u32) -> Option<f64> {
    let mut stayed_closed = 0;
    let mut calls = 0;
    for round in 0..ROUNDS {
        let clock = ManualClock::new(0);
        let window = AnyWindow::<WORDS>::new(row.window).unwrap();
        let breaker = Breaker::new(window, Config::DEFAULT, &clock);
        let mut random = Random(round);
        let mut time_us = 0;
        let mut call = |fails: bool| {
            time_us += row.every_us;
            clock.advance(time_us / 1_000 - clock.now_ms());
            let permit = breaker.allow().unwrap();
            if fails {
                permit.failure()
            } else {
                permit.success()
            };
            breaker.phase() == Phase::Open
        };
        for _ in 0..FULL_CALLS.max(FULL_US / row.every_us) {
            call(false);
        }
        let until = (1..=LONGEST).find(|_| call(random.fails(share_ppm)));
        calls += until.unwrap_or(LONGEST);
        stayed_closed += u64::from(until.is_none());
        if stayed_closed * 2 >= ROUNDS {
            return None;
        }
    }
    // Calls without an opening count as well: the mean of a geometric waiting time.
    Some(calls as f64 / (ROUNDS - stayed_closed) as f64)
}

/// With three figures at most, and a comma between thousands.
fn shown(calls: Option<f64>) -> String {
    let Some(calls) = calls else { return "never".to_owned() };
    let magnitude = 10_f64.powf((calls.log10().floor() - 1.0).max(0.0));
    let digits = format!("{:.0}", (calls / magnitude).round() * magnitude);
    match digits.len() {
        0..=3 => digits,
        length => format!("{},{}", &digits[..length - 3], &digits[length - 3..]),
    }
}

fn table(curves: &[Curve]) -> String {
    let mut table = String::from(
        "| window | traffic | 100 % fail | 50 % | 20 % | 5 % | 1 %: false alarms |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for curve in curves {
        let cells: Vec<String> = TABLED.iter().map(|share| shown(curve.at(*share))).collect();
        let _ = writeln!(table, "| {} | {} | {} |", curve.row.name, curve.row.traffic, cells.join(" | "));
    }
    table
}

/// Calls until each window opens, over the share of failures, both on logarithmic axes.
fn picture(curves: &[Curve]) -> String {
    const COLORS: [&str; 5] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000"];
    let x = |share_ppm: f64| 70.0 + (share_ppm.log10() - 4.0) / 2.0 * 500.0;
    let y = |calls: f64| 330.0 - calls.log10() / 4.0 * 300.0;
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 380\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>Calls until each window opens, at 1,000 calls a second</title>\n\
         <rect width=\"860\" height=\"380\" fill=\"white\"/>\n",
    );
    for (percent, ppm) in [("1 %", 1e4), ("5 %", 5e4), ("20 %", 2e5), ("50 %", 5e5), ("100 %", 1e6)] {
        let x = x(ppm);
        let _ = writeln!(svg, "<line x1=\"{x:.1}\" y1=\"30\" x2=\"{x:.1}\" y2=\"330\" stroke=\"#ddd\"/>");
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"350\" text-anchor=\"middle\">{percent}</text>");
    }
    for (label, calls) in [("1", 1.0), ("10", 10.0), ("100", 100.0), ("1,000", 1e3), ("10,000", 1e4)] {
        let y = y(calls);
        let _ = writeln!(svg, "<line x1=\"70\" y1=\"{y:.1}\" x2=\"570\" y2=\"{y:.1}\" stroke=\"#ddd\"/>");
        let _ = writeln!(svg, "<text x=\"62\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", y + 4.0);
    }
    svg.push_str("<text x=\"320\" y=\"372\" text-anchor=\"middle\">share of calls that fail</text>\n");
    svg.push_str("<text x=\"70\" y=\"20\">calls until it opens, at 1,000 calls a second</text>\n");
    let drawn = curves.iter().filter(|curve| curve.row.is_drawn());
    for (number, (curve, color)) in drawn.zip(COLORS).enumerate() {
        let points: Vec<String> = DRAWN
            .into_iter()
            .filter_map(|share| curve.at(share).map(|calls| (share, calls)))
            .filter(|(_, calls)| *calls <= 1e4)
            .map(|(share, calls)| format!("{:.1},{:.1}", x(f64::from(share)), y(calls)))
            .collect();
        let points = points.join(" ");
        let _ = writeln!(
            svg,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2.5\"/>"
        );
        let y = 60 + 26 * number;
        let _ = writeln!(
            svg,
            "<line x1=\"590\" y1=\"{y}\" x2=\"615\" y2=\"{y}\" stroke=\"{color}\" stroke-width=\"2.5\"/>"
        );
        let _ = writeln!(svg, "<text x=\"622\" y=\"{}\">{}</text>", y + 4, curve.row.name.replace('`', ""));
    }
    svg.push_str("</svg>\n");
    svg
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(name)
}

/// The file holds `fresh` between its marks, or as a whole; with `BLESS` it does from now on.
fn compare(name: &str, fresh: &str) {
    let path = source(name);
    if env::var_os("BLESS").is_some() {
        fs::write(&path, fresh).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(there == fresh, "{name} differs: BLESS=1 cargo test -p nanobreaker-guide --test curves");
}

#[test]
fn the_table_and_the_picture_are_what_the_windows_do() {
    let curves = curves();
    let page = fs::read_to_string(source("window.md")).unwrap();
    let (before, rest) = page.split_once("<!-- curves -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of curves -->").unwrap();
    let table = table(&curves);
    compare("window.md", &format!("{before}<!-- curves -->\n\n{table}\n<!-- end of curves -->{after}"));
    compare("curves.svg", &picture(&curves));
}
