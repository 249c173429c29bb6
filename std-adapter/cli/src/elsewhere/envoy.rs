//! Envoy: `outlier_detection` of a cluster. It ejects one host, and the others go on.

use std::fmt::Write;

use super::{Judges, Rule};
use crate::explaining::Full;

pub(super) fn settings(full: &Full, rule: &Rule, notes: &mut Vec<String>) -> String {
    let mut text = String::from("outlier_detection:\n");
    let mut put = |name: &str, value: String| {
        let _ = writeln!(text, "  {name}: {value}");
    };
    let seconds = |time: std::time::Duration| format!("{}s", time.as_secs_f64());
    match full.failed {
        Judges::Consecutive { threshold } => {
            put("consecutive_5xx", threshold.to_string());
            put("enforcing_consecutive_5xx", "100".into());
            put("enforcing_success_rate", "0".into());
        }
        _ => {
            put("failure_percentage_threshold", rule.whole_percent(notes).to_string());
            put("failure_percentage_request_volume", rule.min_calls.to_string());
            put("failure_percentage_minimum_hosts", "1".into());
            put("enforcing_failure_percentage", "100".into());
            put("enforcing_consecutive_5xx", "0".into());
            put("enforcing_success_rate", "0".into());
            notes.push(
                "a window that slides: Envoy looks at the calls of one interval after the other".to_owned(),
            );
        }
    }
    put("interval", "1s".into());
    put("base_ejection_time", seconds(full.open_for()));
    put("max_ejection_time", seconds(full.max_open()));
    put("max_ejection_percent", "100".into());
    notes.push(
        "probes: a host comes back with all its calls, and backoff grows by steps, not by two".to_owned(),
    );
    text
}
