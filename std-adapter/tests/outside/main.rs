//! The adapter as its users see it. One program: those of its tests that wait do so beside those that work.

mod bounded;
mod checks;
mod classify;
mod defaults;
mod public_types;
mod rates;
mod restarts;
#[cfg(feature = "metrics")]
mod scrape;
