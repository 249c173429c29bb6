//! The concurrent promises of `nanobreaker-embedded` as models that loom explores: the breaker of one word,
//! and the clock of a tick counter.
//!
//! Compiled three times, as the core's models are: as shipped, with a read-modify-write as the first read of
//! each exchange loop, and with exchanges that fail twice.

#[cfg(nanobreaker_first_read_writes)]
extern crate nanobreaker_embedded_rmw as nanobreaker_embedded;
#[cfg(nanobreaker_weak_fails)]
extern crate nanobreaker_embedded_weak as nanobreaker_embedded;

#[path = "../models/apart.rs"]
mod apart;
#[allow(dead_code, reason = "the core's models use more of it")]
#[path = "../models/explore.rs"]
mod explore;

mod one_word;
mod ticks;
