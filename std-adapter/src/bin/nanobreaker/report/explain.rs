//! An explanation, as text or as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::explaining::{Explained, Surroundings};
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

fn words(explained: &Explained) -> String {
    let mut text = String::new();
    for sentence in &explained.sentences {
        let _ = writeln!(text, "{sentence}");
    }
    text.push_str(if explained.traps.is_empty() {
        "\nNo traps found.\n"
    } else {
        "\nTraps:\n"
    });
    for trap in &explained.traps {
        let _ = writeln!(text, "  {}: {}.", trap.setting, trap.warning);
    }
    text
}

/// For machines: an object for the settings of one breaker, or one by table.
pub(crate) fn json(parts: &[Part]) -> String {
    let report = match parts {
        [(table, explained)] if table.is_empty() => object(explained),
        parts => parts
            .iter()
            .map(|(table, explained)| (table.clone(), object(explained)))
            .collect(),
    };
    format!("{report:#}\n")
}

fn object(explained: &Explained) -> Value {
    let traps: Vec<_> = explained
        .traps
        .iter()
        .map(|trap| json!({ "setting": trap.setting, "warning": trap.warning }))
        .collect();
    json!({ "does": explained.sentences, "traps": traps })
}
