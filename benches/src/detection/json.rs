//! The results for programs.

use serde_json::{Value, json};

use crate::detection::cost::CostRow;
use crate::detection::delay::DelayRow;

/// All tables in one document; rates are fractions, calls are numbers of calls.
pub fn document(rows: &[DelayRow], cost: &[CostRow], held_out: &[CostRow]) -> String {
    let document = json!({
        "rows": rows.iter().map(delay).collect::<Vec<_>>(),
        "cost": cost.iter().map(ratios).collect::<Vec<_>>(),
        "cost_held_out": held_out.iter().map(ratios).collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

fn delay(row: &DelayRow) -> Value {
    json!({
        "rule": row.rule,
        "calls_per_s": row.calls_per_s,
        "background": row.background,
        "outage": row.outage,
        "false_trips_per_day": row.false_trips_per_day,
        "doomed_mean": row.doomed.map(|doomed| doomed.mean),
        "doomed_p99": row.doomed.map(|doomed| doomed.p99),
        "bound": row.bound,
    })
}

fn ratios(row: &CostRow) -> Value {
    json!({
        "rule": row.rule,
        "a": row.a,
        "a_worst": row.a_worst,
        "b": row.b,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_null() {
        let row = DelayRow {
            rule: "some",
            calls_per_s: 10.0,
            background: 0.0,
            outage: 0.5,
            false_trips_per_day: 0.0,
            doomed: None,
            bound: None,
        };
        let document: Value = serde_json::from_str(&document(&[row], &[], &[])).unwrap();
        let row = &document["rows"][0];
        assert!(row["bound"].is_null() && row["doomed_mean"].is_null());
        assert_eq!(row["outage"], 0.5);
    }
}
