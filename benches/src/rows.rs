//! Rows of the comparison: what was measured, its ratios, the table and the JSON.

use std::fmt::Write as _;

use crate::statistics::Summary;

/// Who made the thing in the row, which decides what it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// This crate.
    Ours,
    /// Another breaker: the best of these is what ours is held against.
    Peer,
    /// Something else of the same sort, shown and not counted.
    Neighbour,
    /// The machine itself.
    Yardstick,
}

/// One measured row.
#[derive(Clone, Debug)]
pub struct Row {
    /// The crate's name, or `yardstick`.
    pub who: String,
    /// Whose it is.
    pub kind: Kind,
    /// The operation, with the window or the form after a slash where there are several.
    pub op: String,
    /// How many threads shared the one breaker.
    pub threads: usize,
    /// Nanoseconds per call and thread.
    pub time: Summary,
    /// Allocations per call.
    pub allocations: f64,
    /// Bytes of one breaker with what it keeps on the heap.
    pub bytes: usize,
}

/// All rows of one run.
pub struct Rows(pub Vec<Row>);

/// The yardstick that all ratios refer to.
pub const TWO_LOADS: &str = "two_loads";

impl Rows {
    /// Into reading order: by operation and threads, the quickest first.
    pub fn sort(&mut self) {
        self.0.sort_by(|a, b| {
            let place = |row: &Row| (row.kind == Kind::Yardstick, group_place(row.group()), row.threads);
            place(a).cmp(&place(b)).then(a.time.median.total_cmp(&b.time.median))
        });
    }

    /// The row's time as a multiple of two loads with as many threads.
    pub fn to_two_loads(&self, row: &Row) -> f64 {
        let two_loads = self.0.iter().find(|other| {
            other.kind == Kind::Yardstick && other.op == TWO_LOADS && other.threads == row.threads
        });
        two_loads.map_or(f64::NAN, |two_loads| row.time.median / two_loads.time.median)
    }

    /// The row's time as a multiple of the best peer's in the same operation with as many threads.
    pub fn to_best_peer(&self, row: &Row) -> Option<f64> {
        let peers = self.0.iter().filter(|other| {
            other.kind == Kind::Peer && other.group() == row.group() && other.threads == row.threads
        });
        let best = peers.map(|peer| peer.time.median).min_by(f64::total_cmp)?;
        Some(row.time.median / best)
    }

    /// The table, as Markdown.
    pub fn table(&self) -> String {
        let mut out = String::from(
            "| who | op | threads | ns | spread | × two loads | × best peer | allocations | bytes |\n\
             | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        );
        for row in &self.0 {
            let best = self.to_best_peer(row).map_or_else(|| "–".into(), |ratio| format!("{ratio:.2}"));
            let who = if row.kind == Kind::Ours { format!("**{}**", row.who) } else { row.who.clone() };
            writeln!(
                out,
                "| {who} | {} | {} | {:.2} | ±{:.0}% | {:.2} | {best} | {} | {} |",
                row.op,
                row.threads,
                row.time.median,
                row.time.spread * 100.0,
                self.to_two_loads(row),
                row.allocations,
                row.bytes,
            )
            .expect("a string takes everything");
        }
        out
    }

    /// The JSON, one row a line.
    pub fn json(&self) -> String {
        let rows = self.0.iter().map(|row| {
            format!(
                r#"{{"who": "{}", "op": "{}", "threads": {}, "ns": {:.3}, "ratio_to_two_loads": {:.3}, "allocations": {}, "bytes": {}}}"#,
                row.who,
                row.op,
                row.threads,
                row.time.median,
                self.to_two_loads(row),
                row.allocations,
                row.bytes,
            )
        });
        format!("{{\"rows\": [\n{}\n]}}\n", rows.collect::<Vec<_>>().join(",\n"))
    }
}

impl Row {
    /// The operation without the window or form.
    pub fn group(&self) -> &str {
        self.op.split('/').next().unwrap_or(&self.op)
    }
}

fn group_place(group: &str) -> usize {
    let names = crate::subject::Op::ALL.map(crate::subject::Op::name);
    names.iter().position(|name| *name == group).unwrap_or(names.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(who: &str, kind: Kind, op: &str, threads: usize, median: f64) -> Row {
        let time = Summary { median, spread: 0.1 };
        Row { who: who.into(), kind, op: op.into(), threads, time, allocations: 0.0, bytes: 8 }
    }

    fn rows() -> Rows {
        let mut rows = Rows(vec![
            row("yardstick", Kind::Yardstick, "two_loads", 1, 1.0),
            row("yardstick", Kind::Yardstick, "two_loads", 2, 2.0),
            row("slow", Kind::Peer, "healthy", 1, 30.0),
            row("quick", Kind::Peer, "healthy", 1, 4.0),
            row("quick", Kind::Peer, "healthy", 2, 40.0),
            row("limiter", Kind::Neighbour, "healthy", 1, 2.0),
            row("ours", Kind::Ours, "healthy/time", 1, 3.0),
        ]);
        rows.sort();
        rows
    }

    fn find<'a>(rows: &'a Rows, who: &str, threads: usize) -> &'a Row {
        rows.0.iter().find(|row| row.who == who && row.threads == threads).unwrap()
    }

    #[test]
    fn a_window_of_ours_is_held_against_the_best_peer_and_not_against_the_neighbour() {
        let rows = rows();
        assert_eq!(rows.to_best_peer(find(&rows, "ours", 1)), Some(0.75));
        assert_eq!(rows.to_best_peer(find(&rows, "slow", 1)), Some(7.5));
        assert_eq!(rows.to_best_peer(find(&rows, "yardstick", 1)), None);
    }

    #[test]
    fn two_loads_are_taken_with_as_many_threads() {
        let rows = rows();
        assert_eq!(rows.to_two_loads(find(&rows, "quick", 1)), 4.0);
        assert_eq!(rows.to_two_loads(find(&rows, "quick", 2)), 20.0);
    }

    #[test]
    fn the_quickest_come_first_and_yardsticks_last() {
        let rows = rows();
        let order: Vec<_> = rows.0.iter().map(|row| (row.who.as_str(), row.threads)).collect();
        let expected = [
            ("limiter", 1),
            ("ours", 1),
            ("quick", 1),
            ("slow", 1),
            ("quick", 2),
            ("yardstick", 1),
            ("yardstick", 2),
        ];
        assert_eq!(order, expected);
    }

    #[test]
    fn the_json_has_the_agreed_form() {
        let rows = Rows(vec![row("yardstick", Kind::Yardstick, "two_loads", 1, 1.25)]);
        let expected = concat!(
            "{\"rows\": [\n",
            r#"{"who": "yardstick", "op": "two_loads", "threads": 1, "ns": 1.250, "#,
            r#""ratio_to_two_loads": 1.000, "allocations": 0, "bytes": 8}"#,
            "\n]}\n"
        );
        assert_eq!(rows.json(), expected);
    }
}
