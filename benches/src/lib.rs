//! nanobreaker measured side by side with every other breaker, in one run.
//!
//! `compare` interleaves all of them and prints one table; `instructions` counts what does not depend on
//! noise; `machine_code` proves that the healthy path writes nothing; `long_run` goes on for a billion calls;
//! `detection` asks when a breaker trips, and what that costs.
//! The criterion groups under `benches/`, a package of their own, ask one question each.

pub mod apart;
pub mod comparison;
pub mod counting;
pub mod detection;
pub mod doors;
pub mod in_fleet;
pub mod ours;
pub mod peers;
pub mod poll;
pub mod rows;
pub mod shared_lines;
pub mod slices;
pub mod statistics;
pub mod subject;
pub mod valgrind;
pub mod yardsticks;

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

/// And those of the Arabic one.
#[cfg(doctest)]
#[doc = include_str!("../../README.ar.md")]
pub struct ArabicReadme;
