//! Calls from logs: files are opened, split into lines, parsed, judged by status, and put in the
//! order in which the calls began.
//!
//! `source` → `lines` → `formats` (a [`Record`](columns::Record)) → `log` (a [`Call`]) → `ordered`.

mod call;
mod columns;
mod error;
mod formats;
mod keys;
mod lines;
mod log;
mod malformed;
mod ordered;
mod rules;
mod source;
mod value;

pub(crate) use call::Call;
pub(crate) use columns::{Columns, TimeIs};
pub(crate) use error::ReadError;
pub(crate) use formats::{DurationWord, Format};
pub(crate) use keys::Keys;
pub(crate) use log::{Notes, Reading};
pub(crate) use malformed::Skipped;
pub(crate) use ordered::Ordered;
pub(crate) use rules::{Rules, Statuses};
pub(crate) use source::total_bytes;
pub(crate) use value::Unit;

#[cfg(test)]
mod tests;
