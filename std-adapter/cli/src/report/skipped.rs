//! What of the logs was not played, and why.

use serde_json::{Value, json};

use crate::reading::{Notes, Skipped};
use crate::report::humane::{count, counted};

/// A line for each reason; nothing where all was played.
pub(crate) fn lines(notes: &Notes) -> Vec<String> {
    let skipped = &notes.skipped;
    let mut lines = Vec::new();
    if skipped.malformed > 0 {
        lines.push(format!("{} skipped:", counted(skipped.malformed, "malformed line")));
        lines.extend(skipped.shown.iter().map(|line| format!("  {line}")));
        let more = skipped.malformed - skipped.shown.len() as u64;
        if more > 0 {
            lines.push(format!("  and {} more", count(more)));
        }
    }
    if skipped.out_of_order > 0 {
        lines.push(format!(
            "{} left out: too far out of order (sorted within --sort lines)",
            counted(skipped.out_of_order, "call")
        ));
    }
    if skipped.beyond_keys > 0 {
        lines.push(format!(
            "{} left out: of keys beyond the first {} (as many as --max-keys and the memory \
             for `tune` allow)",
            counted(skipped.beyond_keys, "call"),
            count(notes.keys.len() as u64)
        ));
    }
    if skipped.outside > 0 {
        lines.push(format!("{} left out: outside --from and --to", counted(skipped.outside, "call")));
    }
    if skipped.other_spans > 0 {
        lines.push(format!(
            "{} left out: of other kinds than --span-kind",
            counted(skipped.other_spans, "span")
        ));
    }
    lines
}

/// The same for machines.
pub(crate) fn json(skipped: &Skipped) -> Value {
    json!({
        "malformed": skipped.malformed,
        "malformed_lines": skipped.shown,
        "out_of_order": skipped.out_of_order,
        "beyond_max_keys": skipped.beyond_keys,
        "outside_from_to": skipped.outside,
        "other_spans": skipped.other_spans,
    })
}
