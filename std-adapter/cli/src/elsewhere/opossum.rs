//! opossum: the options of its constructor.

use std::fmt::Write;

use super::Rule;
use crate::explaining::Full;

pub(super) fn settings(full: &Full, rule: &Rule, notes: &mut Vec<String>) -> String {
    let (span, buckets) = rule.span(notes);
    let mut text = String::from("new CircuitBreaker(action, {\n");
    let mut put = |name: &str, value: String| {
        let _ = writeln!(text, "  {name}: {value},");
    };
    match full.hung_after.or(full.slow_after) {
        Some(limit) => put("timeout", limit.as_millis().to_string()),
        None => put("timeout", "false".into()),
    }
    put("errorThresholdPercentage", rule.percent.to_string());
    put("volumeThreshold", rule.min_calls.to_string());
    put("rollingCountTimeout", span.as_millis().to_string());
    put("rollingCountBuckets", buckets.to_string());
    put("resetTimeout", full.open_for().as_millis().to_string());
    text.push_str("});\n");
    if full.config.max_probes() > 1 || full.config.probe_successes() > 1 {
        notes.push("probes and successes: one call decides".to_owned());
    }
    text
}
