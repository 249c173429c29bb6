//! Opens the logs that the arguments name, with a progress bar on a terminal.

use std::collections::HashSet;

use indicatif::{ProgressBar, ProgressStyle};
use nanobreaker::Statuses;

use crate::arguments::Logs;
use crate::failure::Failure;
use crate::reading::{Keys, Notes, Ordered, Place, total_bytes};
use crate::report;

/// Where the logs are.
pub(crate) fn places(logs: &Logs) -> Result<Vec<Place>, Failure> {
    refuse_what_makes_no_sense(logs)?;
    Ok(logs.paths.iter().map(|path| Place::new(path)).collect())
}

/// The same, where they are read more than once.
pub(crate) fn kept(logs: &Logs) -> Result<Vec<Place>, Failure> {
    refuse_what_makes_no_sense(logs)?;
    let keep = |path: &String| Place::kept(path).map_err(|error| Failure::File { path: path.clone(), error });
    logs.paths.iter().map(keep).collect()
}

fn refuse_what_makes_no_sense(logs: &Logs) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    if let Some(path) = logs.paths.iter().find(|path| !seen.insert(*path)) {
        let problem = format!("{path} is named twice, and its calls would count twice: name it once");
        return Err(Failure::Arguments(problem));
    }
    if logs.between().is_empty() {
        return Err(Failure::Arguments("--from must be before --to".to_owned()));
    }
    Ok(())
}

/// Opens the logs; no more than `most_keys` keys get a breaker, whatever the arguments say. `declared` is what
/// the breakers' settings say of statuses.
pub(crate) fn open(
    logs: &Logs,
    places: &[Place],
    most_keys: usize,
    declared: Statuses,
) -> Result<(Ordered, ProgressBar), Failure> {
    let progress = progress(logs, places);
    let keys = Keys::new(most_keys.min(logs.max_keys as usize));
    let ordered = Ordered::open(
        places,
        logs.sort as usize,
        &logs.reading(declared),
        logs.between(),
        Notes::new(keys, logs.max_malformed),
        &progress,
    )?;
    Ok((ordered, progress))
}

/// Drawn to standard error, and only where that is a terminal.
fn progress(logs: &Logs, places: &[Place]) -> ProgressBar {
    if logs.quiet {
        return ProgressBar::hidden();
    }
    let template = "{wide_bar} {bytes} of {total_bytes}, {eta} left";
    match (total_bytes(places), ProgressStyle::with_template(template)) {
        (Some(bytes), Ok(style)) => ProgressBar::new(bytes).with_style(style),
        _ => ProgressBar::new_spinner(),
    }
}

/// Refuses what was read where there are no calls, too much of it is malformed, or the field is missing that
/// was to tell the breakers apart: nobody wants what one breaker for all calls would do without having asked
/// for it.
pub(crate) fn check(logs: &Logs, notes: &Notes) -> Result<(), Failure> {
    if notes.logs.iter().all(|log| log.calls == 0) {
        return Err(no_calls(notes));
    }
    notes.check_shares()?;
    match &logs.key_field {
        Some(name) if notes.keys.len() > 0 && notes.keys.all_missing() => Err(Failure::NoKey(name.clone())),
        _ => Ok(()),
    }
}

/// Says what became of the lines, if there were any.
pub(crate) fn no_calls(notes: &Notes) -> Failure {
    Failure::NoCalls(report::skipped_lines(notes))
}
