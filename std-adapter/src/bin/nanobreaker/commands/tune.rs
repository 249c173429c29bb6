//! `tune`: many configurations against the logs.

use nanobreaker::Settings;

use crate::arguments::Tune;
use crate::commands::logs;
use crate::configuration::Configuration;
use crate::failure::Failure;
use crate::replaying::Played;
use crate::report::{self, Choice, Tuned};
use crate::tuning::{Score, best, candidates, most_keys, play_all};

/// Plays all candidates and reports the best.
pub(crate) fn tune(arguments: &Tune) -> Result<String, Failure> {
    let base = match &arguments.config {
        // Of a catalogue, what all breakers have in common.
        Some(path) => Configuration::load(path)?.settings(""),
        None => Settings::default(),
    };
    let candidates = candidates(&base, &arguments.open_for);
    if candidates.is_empty() {
        let problem = "--open-for and --config leave nothing to try: is every open time from 1ms \
                       to 18h, and not above max_open?";
        return Err(Failure::Arguments(problem.to_owned()));
    }
    let (mut ordered, progress) = logs::open(&arguments.logs, most_keys(candidates.len()))?;
    let mut played = play_all(&mut ordered, &candidates)?;
    progress.finish_and_clear();
    logs::check_keys(&arguments.logs, ordered.notes())?;
    let score = |played: &Played| Score {
        saved: played.tally.saved,
        lost: played.tally.lost,
        trips: played.tally.trips,
        longest_detection_delay_us: played.tally.longest_detection_delay_us,
    };
    let scores: Vec<Score> = played.iter().map(score).collect();
    let most_lost = most_lost(&played, arguments.max_lost);
    let choices = best(&scores, most_lost, arguments.best as usize)
        .into_iter()
        .map(|index| Choice {
            settings: candidates[index],
            tally: played[index].tally,
        })
        .collect();
    let tuned = Tuned {
        tried: candidates.len(),
        span_us: played
            .pop()
            .and_then(|one| one.span_us)
            .ok_or_else(|| logs::no_calls(ordered.notes()))?,
        choices,
        notes: ordered.notes(),
    };
    if arguments.json {
        report::tune_json(&tuned)
    } else {
        report::tune_text(&tuned)
    }
}

/// So many calls may be lost: a share of those that succeeded in the log.
fn most_lost(played: &[Played], percent: u8) -> u64 {
    let succeeded = played.first().map_or(0, |one| one.tally.succeeded);
    (u128::from(succeeded) * u128::from(percent) / 100) as u64
}
