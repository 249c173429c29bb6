//! `tune`: many configurations against the logs.

use nanobreaker::{PartialSettings, Statuses};

use crate::arguments::{Logs, Tune};
use crate::commands::logs;
use crate::configuration::{Configuration, common_statuses};
use crate::failure::Failure;
use crate::reading::{Notes, Place};
use crate::replaying::Played;
use crate::report::{self, Choice, OfKey, Tuned};
use crate::tuning::{
    Parts, Score, Survey, Verdict, asked, best, best_in, candidates, gain, most_keys, openings, play_all,
};

/// A choice is another one only if it saves so many per cent of the bad calls more.
const LEAST_GAIN_PERCENT: u64 = 2;

/// Plays all candidates and reports the best.
pub(crate) fn tune(arguments: &Tune) -> Result<String, Failure> {
    let configuration = arguments.config.as_deref().map(Configuration::load).transpose()?.unwrap_or_default();
    // Of a catalogue, what all breakers have in common.
    let base = configuration.settings("");
    let statuses = common_statuses([&configuration])?;
    // The logs are read twice.
    let (logs, places) = (&arguments.logs, logs::kept(&arguments.logs)?);
    let survey = survey(logs, &places, statuses)?;
    let openings = if arguments.open_for.is_empty() {
        let usual = survey.usual_outage_us().map(std::time::Duration::from_micros);
        openings(usual)
    } else {
        asked(&arguments.open_for)
    };
    let mut tried = candidates(&base, &openings, survey.normal());
    if tried.is_empty() {
        let problem = "--open-for and --config leave nothing to try: is every open time from 1ms \
                       to 18h, and not above max_open?";
        return Err(Failure::Arguments(problem.to_owned()));
    }
    // The default is played along, to be compared with.
    tried.push(PartialSettings::default());
    let split_us = survey.split_us();
    let (mut ordered, progress) = logs::open(logs, &places, most_keys(tried.len()), statuses)?;
    let mut played = play_all(&mut ordered, &tried, split_us)?;
    progress.finish_and_clear();
    let notes = ordered.notes();
    logs::check(logs, notes)?;
    tried.pop();
    let of_default = played.pop();
    let span_us = of_default.as_ref().and_then(|one| one.span_us).ok_or_else(|| logs::no_calls(notes))?;
    let is_split = split_us.is_some();
    let parts: Vec<Parts> = played.iter().map(Parts::of).collect();
    let seconds = span_us.1.abs_diff(span_us.0) as f64 / 1e6;
    let tuned = Tuned {
        tried: tried.len(),
        span_us,
        split_us,
        verdict: Verdict::of(&parts, is_split, arguments.max_lost.into()),
        choices: choose(arguments, &tried, &parts),
        of_default: of_default.map(|played| played.tally),
        of_keys: if arguments.per_key {
            choose_by_key(arguments, &tried, &played, notes, is_split)
        } else {
            Vec::new()
        },
        calls_per_second: survey.calls as f64 / seconds.max(1e-3),
        outages: survey.outages.len(),
        normal: survey.normal(),
        library: arguments.r#as,
        notes,
    };
    if arguments.json { report::tune_json(&tuned) } else { report::tune_text(&tuned) }
}

fn survey(logs: &Logs, places: &[Place], statuses: Statuses) -> Result<Survey, Failure> {
    let (mut ordered, progress) = logs::open(logs, places, usize::MAX, statuses)?;
    let survey = Survey::of(&mut ordered)?;
    progress.finish_and_clear();
    Ok(survey)
}

fn score(parts: &Parts) -> Score {
    let tally = &parts.totals;
    Score {
        saved: tally.saved,
        lost: tally.lost,
        trips: tally.trips,
        longest_detection_delay_us: tally.longest_detection_delay_us,
    }
}

/// The best over all breakers, from the one that loses least on.
fn choose(arguments: &Tune, tried: &[PartialSettings], parts: &[Parts]) -> Vec<Choice> {
    let scores: Vec<Score> = parts.iter().map(score).collect();
    let all = parts.first().map(|one| one.totals).unwrap_or_default();
    let most_lost = percent_of(all.good(), arguments.max_lost.into());
    let least_gain = percent_of(all.bad(), LEAST_GAIN_PERCENT);
    let chosen = best(&scores, most_lost, least_gain, arguments.best as usize);
    let mut choices: Vec<Choice> = chosen
        .into_iter()
        .map(|index| Choice { settings: tried[index], parts: parts[index], is_recommended: false })
        .collect();
    let recommended = choices.iter_mut().rev().max_by_key(|choice| gain(&choice.parts.totals));
    if let Some(recommended) = recommended {
        recommended.is_recommended = true;
    }
    choices
}

/// The best of each breaker.
fn choose_by_key(
    arguments: &Tune,
    tried: &[PartialSettings],
    played: &[Played],
    notes: &Notes,
    is_split: bool,
) -> Vec<OfKey> {
    let most_lost = u64::from(arguments.max_lost);
    let of_key = |key: usize| {
        let parts: Vec<Parts> = played.iter().map(|one| Parts::of_key(one, key)).collect();
        let best = best_in(&parts, |parts| &parts.totals, most_lost);
        OfKey {
            key: notes.keys.name(key as u32).to_owned(),
            verdict: Verdict::of(&parts, is_split, most_lost),
            best: best.map(|index| (tried[index], parts[index].totals)),
        }
    };
    (0..notes.keys.len()).map(of_key).collect()
}

fn percent_of(calls: u64, percent: u64) -> u64 {
    (u128::from(calls) * u128::from(percent) / 100) as u64
}
