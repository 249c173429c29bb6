//! Searches for good configurations: `candidates` are played side by side against the same logs, and
//! of those on the `front` a few that differ are chosen.

mod candidates;
mod front;

pub(crate) use candidates::candidates;
pub(crate) use front::{Score, best};

use nanobreaker::{Settings, SettingsError};
use rayon::prelude::*;

use crate::configuration::Configuration;
use crate::failure::Failure;
use crate::reading::Ordered;
use crate::replaying::{Played, Player, feed};

/// What one breaker takes in memory, roughly.
const BREAKER_BYTES: usize = 1_400;
/// What the breakers of all candidates together may take.
const MOST_BYTES: usize = 1 << 30;

/// The keys that so many candidates can have breakers for.
pub(crate) fn most_keys(candidates: usize) -> usize {
    (MOST_BYTES / BREAKER_BYTES / candidates.max(1)).max(1)
}

/// Plays each candidate against the logs, in one pass over them and on all cores.
pub(crate) fn play_all(
    logs: &mut Ordered,
    candidates: &[Settings],
) -> Result<Vec<Played>, Failure> {
    let mut players: Vec<_> = candidates
        .iter()
        .map(|one| Player::new(Configuration::One(*one)))
        .collect();
    feed(logs, |events, keys| {
        players
            .par_iter_mut()
            .try_for_each(|player| player.play(events, keys))
            .map_err(|error: SettingsError| Failure::from(error))
    })?;
    Ok(players.into_iter().map(Player::finish).collect())
}
