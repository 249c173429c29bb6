//! Every concurrent promise of the core as a model that loom explores.
//!
//! These files are compiled four times: with words of 64 and of 32 bits, and each of them once as
//! shipped (in which loom finds weak orderings) and once with a read-modify-write as the first read
//! of each exchange loop (in which it finds interleavings that it prunes otherwise).

#[cfg(all(nanobreaker_narrow, not(loom_first_read_writes)))]
extern crate nanobreaker_narrow as nanobreaker_core;
#[cfg(all(nanobreaker_narrow, loom_first_read_writes))]
extern crate nanobreaker_narrow_rmw as nanobreaker_core;
#[cfg(not(any(nanobreaker_narrow, loom_first_read_writes)))]
extern crate nanobreaker_wide as nanobreaker_core;
#[cfg(all(not(nanobreaker_narrow), loom_first_read_writes))]
extern crate nanobreaker_wide_rmw as nanobreaker_core;

mod explore;
mod rig;
mod windows;

mod adjusting;
mod configuring;
mod generations;
#[cfg(not(loom_first_read_writes))]
mod healthy;
mod probes;
mod replacing;
mod sources;
#[cfg(nanobreaker_narrow)]
mod sweeps;
mod tally;
mod ticks;
mod time;
mod transitions;
mod trips;
