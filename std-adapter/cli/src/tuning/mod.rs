//! Searches for good configurations: a `survey` of the logs tells their outages, `candidates` are played
//! side by side against the same logs, of those on the `front` a few that differ are chosen, and a
//! `verdict` on another part of the logs says whether they are worth it.

mod candidates;
mod front;
mod survey;
mod verdict;

pub(crate) use candidates::{asked, candidates, openings};
pub(crate) use front::{Score, best};
pub(crate) use survey::Survey;
pub(crate) use verdict::{Parts, Verdict, best_in, gain};

use nanobreaker::{PartialSettings, SettingsError};
use rayon::prelude::*;

use crate::configuration::Configuration;
use crate::failure::Failure;
use crate::reading::Ordered;
use crate::replaying::{Played, Player, feed};

/// What one breaker takes in memory, roughly.
const BREAKER_BYTES: usize = 1_700;
/// What the breakers of all candidates together may take.
const MOST_BYTES: usize = 1 << 30;

/// The keys that so many candidates can have breakers for.
pub(crate) fn most_keys(candidates: usize) -> usize {
    (MOST_BYTES / BREAKER_BYTES / candidates.max(1)).max(1)
}

/// Plays each candidate against the logs, in one pass over them and on all cores.
pub(crate) fn play_all(
    logs: &mut Ordered,
    candidates: &[PartialSettings],
    split_us: Option<i64>,
) -> Result<Vec<Played>, Failure> {
    let mut players: Vec<_> = candidates
        .iter()
        .map(|one| Player::new(Configuration::One(*one)).split_at(split_us.unwrap_or(i64::MAX)))
        .collect();
    feed(logs, |events, keys| {
        players
            .par_iter_mut()
            .try_for_each(|player| player.play(events, keys))
            .map_err(|error: SettingsError| Failure::from(error))
    })?;
    Ok(players.into_iter().map(Player::finish).collect())
}
