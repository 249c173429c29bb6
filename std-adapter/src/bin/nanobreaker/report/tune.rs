//! The best trade-offs, with the configurations to paste.

use std::fmt::Write;

use nanobreaker::Settings;
use serde_json::{Value, json};

use crate::explaining::window_in_brief;
use crate::failure::Failure;
use crate::reading::Notes;
use crate::replaying::Tally;
use crate::report::humane::{count, counted, duration, share, time};
use crate::report::replay::tally_json;
use crate::report::skipped;

/// One of the best.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) settings: Settings,
    pub(crate) tally: Tally,
}

/// What the search came to.
#[derive(Debug)]
pub(crate) struct Tuned<'a> {
    pub(crate) tried: usize,
    pub(crate) span_us: (i64, i64),
    /// From the one that loses least to the one that saves most.
    pub(crate) choices: Vec<Choice>,
    pub(crate) notes: &'a Notes,
}

/// For people.
pub(crate) fn text(tuned: &Tuned<'_>) -> Result<String, Failure> {
    let calls = tuned.choices.first().map_or(0, |choice| choice.tally.calls);
    let mut text = format!(
        "# {} against {} from {} to {}\n",
        counted(tuned.tried as u64, "configuration"),
        counted(calls, "call"),
        time(tuned.span_us.0),
        time(tuned.span_us.1),
    );
    for line in skipped::lines(tuned.notes) {
        let _ = writeln!(text, "# {line}");
    }
    if tuned.choices.iter().all(|choice| choice.tally.saved == 0) {
        text.push_str("# none of them would have saved a call\n");
    }
    text.push_str(
        "#\n#       saved            lost   time saved   trips   detected   opens for   when\n",
    );
    for (number, choice) in (1..).zip(&tuned.choices) {
        let tally = &choice.tally;
        let _ = writeln!(
            text,
            "# {number:>2} {:>8} {:>15}   {:>10}   {:>5}   {:>8}   {:>9}   {}",
            share(tally.saved, tally.failed),
            format!(
                "{} ({})",
                count(tally.lost),
                share(tally.lost, tally.succeeded)
            ),
            duration(tally.saved_us),
            count(tally.trips),
            duration(tally.longest_detection_delay_us),
            open_for(&choice.settings),
            window_in_brief(&choice.settings)?,
        );
    }
    for (number, choice) in (1..).zip(&tuned.choices) {
        let tally = &choice.tally;
        let _ = write!(
            text,
            "\n# {number}: saves {} of {} doomed calls, loses {} of {} good ones\n{}",
            count(tally.saved),
            count(tally.failed),
            count(tally.lost),
            count(tally.succeeded),
            toml(&choice.settings)?
        );
    }
    Ok(text)
}

fn open_for(settings: &Settings) -> String {
    settings.open_for.map_or(String::new(), |open_for| {
        humantime::format_duration(open_for).to_string()
    })
}

fn toml(settings: &Settings) -> Result<String, Failure> {
    toml::to_string(settings).map_err(|error| Failure::Arguments(error.to_string()))
}

/// For machines.
pub(crate) fn json(tuned: &Tuned<'_>) -> Result<String, Failure> {
    let choices: Vec<Value> = tuned
        .choices
        .iter()
        .map(|choice| {
            Ok(json!({
                "totals": tally_json(&choice.tally),
                "trips_when": window_in_brief(&choice.settings)?,
                "toml": toml(&choice.settings)?,
            }))
        })
        .collect::<Result<_, Failure>>()?;
    let report = json!({
        "tried": tuned.tried,
        "from": time(tuned.span_us.0),
        "to": time(tuned.span_us.1),
        "best": choices,
        "skipped": skipped::json(&tuned.notes.skipped),
    });
    Ok(format!("{report:#}\n"))
}
