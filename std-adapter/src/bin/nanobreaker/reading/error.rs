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
    Read {
        path: String,
        line: u64,
        error: io::Error,
    },
    #[error("{path}: the first line does not tell the format; choose one with --format")]
    UnknownFormat { path: String },
    #[error("{path}:1: {why}")]
    Header { path: String, why: Malformed },
    #[error(
        "{path}:{line}: {why}\nmore than {limit} malformed lines: is it the right format and are \
         the columns' names right? --max-malformed allows more"
    )]
    TooManyMalformed {
        path: String,
        line: u64,
        why: Malformed,
        limit: u64,
    },
}
