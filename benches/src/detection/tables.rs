//! The results for people.

use std::fmt::Write;

use crate::detection::cost::CostRow;
use crate::detection::delay::{DelayRow, OUTAGES};

/// One line for each rule and traffic, with all outages side by side.
pub fn delays(rows: &[DelayRow]) -> String {
    let mut table = String::from(
        "Calls an outage takes in until the trip: mean (99th percentile), and the least mean that is\n\
         possible with as few false trips. A dash: not within ten minutes, or no bound.\n\n",
    );
    let _ = write!(table, "{:<20} {:>7} {:>6} {:>12}", "rule", "calls/s", "fails", "false/day");
    for outage in OUTAGES {
        let _ = write!(table, "  {:>29}", format!("outage of {}", percent(outage)));
    }
    table.push('\n');
    for group in rows.chunk_by(|a, b| traffic(a) == traffic(b)) {
        let Some(first) = group.first() else { continue };
        let _ = write!(
            table,
            "{:<20} {:>7} {:>6} {:>12}",
            first.rule,
            first.calls_per_s,
            percent(first.background),
            short(first.false_trips_per_day)
        );
        for outage in OUTAGES {
            let row = group.iter().find(|row| row.outage == outage);
            let _ = write!(table, "  {:>29}", row.map_or_else(String::new, delay));
        }
        table.push('\n');
    }
    table
}

fn traffic(row: &DelayRow) -> (&str, f64, f64) {
    (row.rule, row.calls_per_s, row.background)
}

fn delay(row: &DelayRow) -> String {
    let bound = row.bound.map_or_else(|| "–".into(), short);
    match row.doomed {
        Some(doomed) => format!("{} ({}), {bound}", short(doomed.mean), short(doomed.p99)),
        None => format!("–, {bound}"),
    }
}

/// Ratios to the best rule of each cell.
pub fn costs(title: &str, rows: &[CostRow]) -> String {
    let mut table = format!("{title}\n\n");
    let _ = write!(table, "{:<20} {:>8} {:>10} {:>8}", "rule", "A", "A worst", "B");
    let rates = rows.first().map_or(&[][..], |row| &row.a_by_rate);
    for (rate, _) in rates {
        let _ = write!(table, " {:>12}", format!("A at {rate}/s"));
    }
    table.push('\n');
    for row in rows {
        let ratios = [short(row.a), short(row.a_worst), short(row.b)];
        let [a, worst, b] = ratios;
        let _ = write!(table, "{:<20} {a:>8} {worst:>10} {b:>8}", row.rule);
        for (_, ratio) in &row.a_by_rate {
            let _ = write!(table, " {:>12}", short(*ratio));
        }
        table.push('\n');
    }
    table
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 10_000.0).round() / 100.0)
}

/// Three digits, and all in front of the point.
pub fn short(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        value if value < 0.1 => format!("{value:.3}"),
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let shown = [0.0, 0.012_34, 1.234, 12.34, 123.4, 12_345.6].map(short);
        assert_eq!(shown, ["0", "0.012", "1.23", "12.3", "123", "12346"]);
        assert_eq!(percent(0.001), "0.1 %");
    }
}
