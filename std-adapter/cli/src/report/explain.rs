//! An explanation, as text or as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::explaining::{Explained, Noise, Surroundings};
use crate::report::replay::shown_key;

/// The table that settings stand in, empty where the file is about one breaker, and what they mean.
pub(crate) type Part = (String, Explained);

/// For people.
pub(crate) fn text(parts: &[Part], surroundings: &Surroundings) -> String {
    let mut texts = Vec::new();
    for (table, explained) in parts {
        let mut text = String::new();
        if !table.is_empty() {
            let _ = writeln!(text, "[{}]", shown_key(table));
        }
        text.push_str(&words(explained));
        texts.push(text);
    }
    let mut text = texts.join("\n");
    let unknown = [
        ("--rate", surroundings.calls_per_second.is_none()),
        ("--normal", surroundings.normal.is_none()),
        ("--timeout", surroundings.timeout.is_none()),
    ];
    let unknown: Vec<_> = unknown.iter().filter(|(_, is_unknown)| *is_unknown).collect();
    if !unknown.is_empty() {
        let names: Vec<_> = unknown.iter().map(|(name, _)| *name).collect();
        let _ = writeln!(text, "\nMore traps can be told with {}.", listed(&names));
    }
    text
}

/// With commas, and an "and" before the last.
fn listed(names: &[&str]) -> String {
    match names {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        names => names.concat(),
    }
}

fn words(explained: &Explained) -> String {
    let mut text = String::new();
    for sentence in &explained.sentences {
        let _ = writeln!(text, "{sentence}");
    }
    text.push_str(if explained.traps.is_empty() { "\nNo traps found.\n" } else { "\nTraps:\n" });
    for trap in &explained.traps {
        let _ = writeln!(text, "  {}: {}.", trap.setting, trap.warning);
    }
    text
}

/// For machines: an object for the settings of one breaker, or one by table.
pub(crate) fn json(parts: &[Part]) -> String {
    let report = match parts {
        [(table, explained)] if table.is_empty() => object(explained),
        parts => parts.iter().map(|(table, explained)| (table.clone(), object(explained))).collect(),
    };
    format!("{report:#}\n")
}

fn object(explained: &Explained) -> Value {
    let traps: Vec<_> = explained
        .traps
        .iter()
        .map(|trap| json!({ "setting": trap.setting, "warning": trap.warning }))
        .collect();
    json!({
        "does": explained.sentences,
        "traps": traps,
        "noise": explained.noise.as_ref().map(noise_json),
    })
}

fn noise_json(noise: &Noise) -> Value {
    json!({
        "normal": noise.normal,
        "calls_per_second": noise.calls_per_second,
        "calls_between_trips": noise.calls_between,
        "false_trips_per_day": noise.per_day(),
        // No trip was seen: there are fewer than that, and more calls between them.
        "is_bound": noise.is_more,
        "how": if noise.is_exact { "formula" } else { "simulation" },
    })
}
