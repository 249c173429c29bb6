//! An explanation, as text or as JSON.

use std::fmt::Write;

use serde_json::json;

use crate::explaining::{Explained, Surroundings};

/// For people.
pub(crate) fn text(explained: &Explained, surroundings: &Surroundings) -> String {
    let mut text = String::new();
    for sentence in &explained.sentences {
        let _ = writeln!(text, "{sentence}");
    }
    if !explained.traps.is_empty() {
        text.push_str("\nTraps:\n");
    }
    for trap in &explained.traps {
        let _ = writeln!(text, "  {}: {}.", trap.setting, trap.warning);
    }
    let unknown = [
        (
            "--calls-per-second",
            surroundings.calls_per_second.is_none(),
        ),
        ("--timeout", surroundings.timeout.is_none()),
    ];
    let unknown: Vec<_> = unknown
        .iter()
        .filter(|(_, is_unknown)| *is_unknown)
        .collect();
    if !unknown.is_empty() {
        let names: Vec<_> = unknown.iter().map(|(name, _)| *name).collect();
        let _ = writeln!(
            text,
            "\nMore traps can be told with {}.",
            names.join(" and ")
        );
    }
    text
}

/// For machines.
pub(crate) fn json(explained: &Explained) -> String {
    let traps: Vec<_> = explained
        .traps
        .iter()
        .map(|trap| json!({ "setting": trap.setting, "warning": trap.warning }))
        .collect();
    let report = json!({ "does": explained.sentences, "traps": traps });
    format!("{report:#}\n")
}
