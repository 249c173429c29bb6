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
    // To a millionth, as it is written.
    put("FailureRatio", format!("{}", (rule.percent * 1e4).round() / 1e6));
    put("MinimumThroughput", rule.min_calls.max(LEAST_CALLS).to_string());
    put("SamplingDuration", timespan(allowed(span, notes)));
    let open_for = allowed(full.open_for(), notes);
    if full.max_open() > open_for {
        let (first, most) = (open_for, full.max_open());
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
        put("BreakDuration", timespan(open_for));
    }
    text.push_str("}\n");
    if full.config.max_probes() > 1 || full.config.probe_successes() > 1 {
        notes.push("probes and successes: one call decides".to_owned());
    }
    text
}

fn timespan(time: Duration) -> String {
    format!("TimeSpan.FromMilliseconds({})", time.as_millis())
}

/// The nearest that Polly allows.
fn allowed(time: Duration, notes: &mut Vec<String>) -> Duration {
    if time < LEAST {
        notes.push(format!("{time:?}: Polly allows no less than {LEAST:?}"));
    }
    time.max(LEAST)
}
