//! Resilience4j: Spring Boot's `application.yaml`.

use std::fmt::Write;

use super::{Judges, Over, Rule};
use crate::explaining::Full;

pub(super) fn settings(full: &Full, rule: &Rule, notes: &mut Vec<String>) -> String {
    let mut text = String::from("resilience4j.circuitbreaker:\n  instances:\n    dependency:\n");
    let mut put = |name: &str, value: String| {
        let _ = writeln!(text, "      {name}: {value}");
    };
    match rule.over {
        Over::Calls(size) => {
            put("slidingWindowType", "COUNT_BASED".into());
            put("slidingWindowSize", size.to_string());
        }
        Over::Time { span, .. } => {
            put("slidingWindowType", "TIME_BASED".into());
            let seconds = span.as_secs_f64().ceil();
            if seconds != span.as_secs_f64() {
                notes.push(format!("a span of {span:?}: whole seconds only"));
            }
            put("slidingWindowSize", seconds.to_string());
        }
    }
    put("minimumNumberOfCalls", rule.min_calls.to_string());
    put("failureRateThreshold", rule.percent.to_string());
    match (full.slow_after, full.slow) {
        (Some(limit), Some(Judges::Rate { percent, over, .. })) => {
            put("slowCallDurationThreshold", format!("{}ms", limit.as_millis()));
            put("slowCallRateThreshold", percent.to_string());
            if over != rule.over {
                notes.push(
                    "a window of their own for slow calls: both rates are over the same calls".to_owned(),
                );
            }
        }
        (Some(_), Some(_)) => notes.push("slow_window: slow calls trip by their rate only".to_owned()),
        (Some(_), None) => {
            notes.push("slow_after without a rate: slow calls don't count as failures".to_owned());
        }
        (None, _) => {}
    }
    put("waitDurationInOpenState", format!("{}ms", full.open_for().as_millis()));
    if full.max_open() > full.open_for() {
        put("enableExponentialBackoff", "true".into());
        put("exponentialBackoffMultiplier", "2".into());
        put("exponentialMaxWaitDurationInOpenState", format!("{}ms", full.max_open().as_millis()));
    }
    if full.jitter_permille > 0 {
        put("enableRandomizedWait", "true".into());
        put("randomizedWaitFactor", format!("{:.3}", f64::from(full.jitter_permille) / 1e3));
    }
    let probes = full.config.max_probes().max(full.config.probe_successes());
    put("permittedNumberOfCallsInHalfOpenState", probes.to_string());
    put("automaticTransitionFromOpenToHalfOpenEnabled", "false".into());
    text
}
