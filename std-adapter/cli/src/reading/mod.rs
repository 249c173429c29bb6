//! Calls from logs: what a log is in is found out from its first lines, then its lines are parsed, judged by
//! status, and put in the order in which the calls began.
//!
//! `source` → `blocks` → (`understanding`) → `envelope` → `layouts` (a [`Record`](record::Record)) → `log` (a
//! [`Call`]) → `spread` and `ordered`.

mod blocks;
mod call;
mod dates;
mod durations;
mod envelope;
mod error;
mod keys;
mod layouts;
mod length;
mod log;
mod malformed;
mod named;
mod notes;
mod number;
mod ordered;
mod record;
mod rules;
mod sorting;
mod source;
mod spread;
mod understanding;
mod value;

pub(crate) use call::Call;
pub(crate) use error::ReadError;
pub(crate) use keys::Keys;
pub(crate) use layouts::spans::SpanKind;
pub(crate) use malformed::{MaxMalformed, Skipped};
pub(crate) use notes::{LogNotes, Notes};
pub(crate) use ordered::{Between, Ordered};
pub(crate) use record::TimeIs;
pub(crate) use rules::{Rules, Statuses};
pub(crate) use sorting::sort_by_time;
pub(crate) use source::{Place, total_bytes};
pub(crate) use understanding::{Format, Reading};
pub(crate) use value::Unit;

#[cfg(test)]
mod tests;
