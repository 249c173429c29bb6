//! Hystrix: properties of a command.

use std::fmt::Write;

use super::Rule;
use crate::explaining::Full;

pub(super) fn settings(full: &Full, rule: &Rule, notes: &mut Vec<String>) -> String {
    let (span, buckets) = rule.span(notes);
    // Its window is parted evenly.
    let span_ms = span.as_millis().next_multiple_of(u128::from(buckets.max(1)));
    let mut text = String::new();
    let mut put = |name: &str, value: String| {
        let _ = writeln!(text, "hystrix.command.dependency.{name}={value}");
    };
    put("circuitBreaker.requestVolumeThreshold", rule.min_calls.to_string());
    put("circuitBreaker.errorThresholdPercentage", rule.whole_percent(notes).to_string());
    put("circuitBreaker.sleepWindowInMilliseconds", full.open_for().as_millis().to_string());
    put("metrics.rollingStats.timeInMilliseconds", span_ms.to_string());
    put("metrics.rollingStats.numBuckets", buckets.to_string());
    match full.hung_after.or(full.slow_after) {
        Some(limit) => put("execution.isolation.thread.timeoutInMilliseconds", limit.as_millis().to_string()),
        None => put("execution.timeout.enabled", "false".into()),
    }
    if full.config.max_probes() > 1 || full.config.probe_successes() > 1 {
        notes.push("probes and successes: one call decides".to_owned());
    }
    text
}
