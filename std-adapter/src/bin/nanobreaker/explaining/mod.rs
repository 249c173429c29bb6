//! A configuration in plain words, and the traps in it.

mod full;
mod traps;
mod words;

pub(crate) use words::window_in_brief;

use std::time::Duration;

use nanobreaker::{Settings, SettingsError};

use full::Full;
use traps::traps;
use words::sentences;

/// What is known about the dependency and its callers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Surroundings {
    pub(crate) calls_per_second: Option<f64>,
    pub(crate) timeout: Option<Duration>,
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
}

/// Puts settings into words.
///
/// # Errors
///
/// What is wrong with them.
pub(crate) fn explain(
    settings: &Settings,
    surroundings: &Surroundings,
) -> Result<Explained, SettingsError> {
    let full = Full::of(settings)?;
    Ok(Explained {
        sentences: sentences(&full),
        traps: traps(&full, surroundings),
    })
}

#[cfg(test)]
mod tests;
