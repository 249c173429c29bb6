//! Polly 8: `CircuitBreakerStrategyOptions`.

use std::fmt::Write;
use std::time::Duration;

use super::Rule;
use crate::explaining::Full;

/// The least that Polly allows for its times and for its throughput.
const LEAST: Duration = Duration::from_millis(500);
const LEAST_CALLS: u32 = 2;

pub(super) fn settings(full: &Full, rule: &Rule, notes: &mut Vec<String>) -> String {
    let (span, _) = rule.span(notes);
    let mut text = String::from("new CircuitBreakerStrategyOptions\n{\n");
    let mut put = |name: &str, value: String| {
        let _ = writeln!(text, "    {name} = {value},");
    };
    let millis = |time: Duration| format!("TimeSpan.FromMilliseconds({})", time.max(LEAST).as_millis());
    put("FailureRatio", format!("{:.2}", f64::from(rule.percent) / 100.0));
    put("MinimumThroughput", rule.min_calls.max(LEAST_CALLS).to_string());
    put("SamplingDuration", millis(span));
    if full.max_open() > full.open_for() {
        let (first, most) = (full.open_for().max(LEAST), full.max_open());
        put(
            "BreakDurationGenerator",
            format!(
                "args => new ValueTask<TimeSpan>(TimeSpan.FromMilliseconds(Math.Min({}, {} * \
                 Math.Pow(2, args.FailureCount - 1))))",
                most.as_millis(),
                first.as_millis()
            ),
        );
        notes.push("max_open: the generator's FailureCount counts failures, not trips in a row".to_owned());
    } else {
        put("BreakDuration", millis(full.open_for()));
    }
    text.push_str("}\n");
    if full.config.max_probes() > 1 || full.config.probe_successes() > 1 {
        notes.push("probes and successes: one call decides".to_owned());
    }
    text
}
