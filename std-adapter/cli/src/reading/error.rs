//! Why a log can't be read on.

use std::io;

use thiserror::Error;

use crate::reading::malformed::Malformed;

/// Why a log can't be read on.
#[derive(Debug, Error)]
pub(crate) enum ReadError {
    #[error("{path}: {error}")]
    Open { path: String, error: io::Error },
    #[error("{path}:{line}: {error}")]
    Read { path: String, line: u64, error: io::Error },
    #[error("{path}:{line}: {question}")]
    Unclear { path: String, line: u64, question: String },
    #[error("{path}: {question}")]
    UnknownFormat { path: String, question: String },
    #[error("{path}:1: {why}{advice}")]
    Header { path: String, why: Malformed, advice: String },
    #[error(
        "{path}:{line}: {why}\nmore than {limit} malformed lines: is it the right format and are \
         the columns' names right? --max-malformed allows more"
    )]
    TooManyMalformed { path: String, line: u64, why: Malformed, limit: u64 },
    #[error(
        "{path}: {malformed} of {lines} lines are malformed, more than {limit}: is it the right \
         format and are the columns' names right? --max-malformed allows more{shown}"
    )]
    TooLargeShare {
        path: String,
        malformed: u64,
        lines: u64,
        limit: String,
        /// The first of them, each after a line break.
        shown: String,
    },
}
