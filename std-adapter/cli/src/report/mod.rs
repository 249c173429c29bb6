//! What is printed and drawn.

mod explain;
mod humane;
mod read;
mod replay;
mod skipped;
mod timeline;
mod tune;

pub(crate) use explain::{json as explain_json, text as explain_text};
pub(crate) use humane::count;
pub(crate) use replay::{Replayed, json as replay_json, table as replay_table};
pub(crate) use skipped::lines as skipped_lines;
pub(crate) use timeline::{page, svg as timeline};
pub(crate) use tune::{Choice, OfKey, Tuned, json as tune_json, text as tune_text};
