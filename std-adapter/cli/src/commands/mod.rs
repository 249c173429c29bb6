//! What each command does, from its arguments to the text that it prints.

mod explain;
mod help;
mod logs;
mod replay;
mod tune;

pub(crate) use explain::explain;
pub(crate) use help::{completions, manual};
pub(crate) use replay::replay;
pub(crate) use tune::tune;
