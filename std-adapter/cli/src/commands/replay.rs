//! `replay`: configurations against the logs.

use std::fs;
use std::path::Path;

use rayon::prelude::*;

use nanobreaker::SettingsError;

use crate::arguments::Replay;
use crate::commands::logs;
use crate::configuration::{Configuration, common_statuses};
use crate::failure::Failure;
use crate::replaying::{Player, feed};
use crate::report::{self, Replayed};

/// Plays the logs and reports.
pub(crate) fn replay(arguments: &Replay) -> Result<String, Failure> {
    let mut configurations = Vec::new();
    if arguments.default {
        configurations.push(("the default".to_owned(), Configuration::default()));
    }
    for path in &arguments.config {
        configurations.push((path.display().to_string(), Configuration::load(path)?));
    }
    let statuses = common_statuses(configurations.iter().map(|(_, configuration)| configuration))?;
    let (mut ordered, progress) =
        logs::open(&arguments.logs, &logs::places(&arguments.logs)?, usize::MAX, statuses)?;
    let (names, mut players): (Vec<_>, Vec<_>) =
        configurations.into_iter().map(|(name, configuration)| (name, Player::new(configuration))).unzip();
    if arguments.timeline.is_some()
        && let Some(first) = players.first_mut()
    {
        first.draw();
    }
    feed(&mut ordered, |events, keys| match players.as_mut_slice() {
        [player] => player.play(events, keys).map_err(Failure::from),
        several => several
            .par_iter_mut()
            .try_for_each(|player| player.play(events, keys))
            .map_err(|error: SettingsError| Failure::from(error)),
    })?;
    progress.finish_and_clear();
    let notes = ordered.notes();
    logs::check(&arguments.logs, notes)?;
    let mut replayed = Vec::new();
    for (config, player) in names.into_iter().zip(players) {
        let played = player.finish();
        replayed.push(Replayed {
            config,
            span_us: played.span_us.ok_or_else(|| logs::no_calls(notes))?,
            played,
            notes,
        });
    }
    if let (Some(path), [first, ..]) = (&arguments.timeline, replayed.as_slice()) {
        draw(path, first)?;
    }
    Ok(if arguments.json {
        report::replay_json(&replayed)
    } else {
        report::replay_table(&replayed, arguments.trips)
    })
}

fn draw(path: &Path, replayed: &Replayed<'_>) -> Result<(), Failure> {
    let Some(histogram) = &replayed.played.histogram else {
        return Ok(());
    };
    let svg = report::timeline(replayed, histogram);
    let text = if path.extension().is_some_and(|extension| extension == "html") {
        report::page(replayed, &svg)
    } else {
        svg
    };
    fs::write(path, text).map_err(|error| Failure::File { path: path.display().to_string(), error })
}
