//! A configuration in plain words, and the traps in it.

mod chain;
mod full;
mod noise;
mod traps;
mod words;

pub(crate) use full::{Full, Judges, Over};
pub(crate) use noise::Noise;
pub(crate) use words::window_in_brief;

use std::time::Duration;

use nanobreaker::{PartialSettings, SettingsError};

use traps::traps;
use words::sentences;

/// What is known about the dependency and its callers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Surroundings {
    pub(crate) calls_per_second: Option<f64>,
    /// The share of calls that fail on a good day.
    pub(crate) normal: Option<f64>,
    pub(crate) timeout: Option<Duration>,
    /// Whether that timeout is outside of the breaker.
    pub(crate) drops_calls: bool,
}

/// Something that is probably not meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trap {
    /// The setting to look at.
    pub(crate) setting: &'static str,
    pub(crate) warning: String,
}

/// A configuration in words.
#[derive(Debug)]
pub(crate) struct Explained {
    pub(crate) sentences: Vec<String>,
    pub(crate) traps: Vec<Trap>,
    /// Where it can be told.
    pub(crate) noise: Option<Noise>,
}

/// Puts settings into words.
///
/// # Errors
///
/// What is wrong with them.
pub(crate) fn explain(
    settings: &PartialSettings,
    surroundings: &Surroundings,
) -> Result<Explained, SettingsError> {
    let full = Full::of(settings)?;
    let noise = match surroundings.normal {
        Some(normal) => noise::noise(settings, &full, normal, surroundings.calls_per_second)?,
        None => None,
    };
    let mut explained = Explained { sentences: sentences(&full), traps: traps(&full, surroundings), noise };
    if let Some(noise) = &noise {
        explained.sentences.push(noise::in_words(noise));
        explained.traps.extend(traps::noise(&full, noise));
    }
    Ok(explained)
}

#[cfg(test)]
mod tests;
