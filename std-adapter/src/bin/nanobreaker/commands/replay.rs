//! `replay`: one configuration against the logs.

use std::fs;
use std::path::Path;

use crate::arguments::Replay;
use crate::commands::logs;
use crate::configuration::Configuration;
use crate::failure::Failure;
use crate::replaying::{Player, feed};
use crate::report::{self, Replayed};

/// Plays the logs and reports.
pub(crate) fn replay(arguments: &Replay) -> Result<String, Failure> {
    let configuration = Configuration::load(&arguments.config)?;
    let (mut ordered, progress) = logs::open(&arguments.logs, usize::MAX)?;
    let mut player = Player::new(configuration);
    feed(&mut ordered, |events, keys| {
        player.play(events, keys).map_err(Failure::from)
    })?;
    progress.finish_and_clear();
    logs::check_keys(&arguments.logs, ordered.notes())?;
    let played = player.finish();
    let replayed = Replayed {
        config: arguments.config.display().to_string(),
        span_us: played
            .span_us
            .ok_or_else(|| logs::no_calls(ordered.notes()))?,
        played,
        notes: ordered.notes(),
    };
    if let Some(path) = &arguments.timeline {
        draw(path, &replayed)?;
    }
    Ok(if arguments.json {
        report::replay_json(&replayed)
    } else {
        report::replay_table(&replayed, arguments.trips)
    })
}

fn draw(path: &Path, replayed: &Replayed<'_>) -> Result<(), Failure> {
    let svg = report::timeline(replayed);
    let text = if path
        .extension()
        .is_some_and(|extension| extension == "html")
    {
        report::page(replayed, &svg)
    } else {
        svg
    };
    fs::write(path, text).map_err(|error| Failure::File {
        path: path.display().to_string(),
        error,
    })
}
