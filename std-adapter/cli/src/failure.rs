//! Why the command could not do what it was asked.

use std::io;

use nanobreaker::SettingsError;
use thiserror::Error;

use crate::reading::ReadError;

/// Why the command could not do what it was asked.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error("{path}: {error}")]
    File { path: String, error: io::Error },
    #[error("{path}: {problem}")]
    Syntax { path: String, problem: String },
    #[error("{path}: {error}")]
    Settings { path: String, error: SettingsError },
    #[error(transparent)]
    Setting(#[from] SettingsError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("{0}")]
    Arguments(String),
    #[error("no line has the field `{0}` of --key-field; --one-breaker does without")]
    NoKey(String),
    /// With what was left out of them.
    #[error("no calls in the logs{}", .0.iter().map(|line| format!("\n{line}")).collect::<String>())]
    NoCalls(Vec<String>),
    #[error("can't print: {0}")]
    Print(io::Error),
}
