//! What can't be: which field, and why.

use alloc::format;
use alloc::string::String;
use core::fmt;

use serde::Serialize;

/// Something that was asked for and can't be. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The field that is wrong: a number of the scene, a key of the settings, `a` or `b` for a whole text.
    pub field: String,
    /// What it was and what is allowed.
    pub why: String,
}

impl Refusal {
    pub(crate) fn new(field: impl Into<String>, why: impl Into<String>) -> Self {
        Self { field: field.into(), why: why.into() }
    }

    /// `name` is none of `known`.
    pub(crate) fn unknown(field: &str, name: &str, known: &[&str]) -> Self {
        Self::new(field, format!("{name:?} is none of {}", known.join(", ")))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.why)
    }
}

impl core::error::Error for Refusal {}
