//! Every concurrent promise of the core as a model that loom explores.
//!
//! These files are compiled six times: with words of 64 and of 32 bits, and each of them as shipped (in
//! which loom finds weak orderings), with a read-modify-write as the first read of each exchange loop (in
//! which it finds interleavings that it prunes otherwise), and with weak exchanges that fail twice.

#[cfg(all(nanobreaker_narrow, not(any(nanobreaker_first_read_writes, nanobreaker_weak_fails))))]
extern crate nanobreaker_narrow as nanobreaker_core;
#[cfg(all(nanobreaker_narrow, nanobreaker_first_read_writes))]
extern crate nanobreaker_narrow_rmw as nanobreaker_core;
#[cfg(all(nanobreaker_narrow, nanobreaker_weak_fails))]
extern crate nanobreaker_narrow_weak as nanobreaker_core;
#[cfg(not(any(nanobreaker_narrow, nanobreaker_first_read_writes, nanobreaker_weak_fails)))]
extern crate nanobreaker_wide as nanobreaker_core;
#[cfg(all(not(nanobreaker_narrow), nanobreaker_first_read_writes))]
extern crate nanobreaker_wide_rmw as nanobreaker_core;
#[cfg(all(not(nanobreaker_narrow), nanobreaker_weak_fails))]
extern crate nanobreaker_wide_weak as nanobreaker_core;

mod apart;
mod clocks;
mod explore;
mod orders;
mod rig;
mod windows;

mod adjusting;
mod advice;
mod anchors;
mod cusum;
mod generations;
#[cfg(not(nanobreaker_first_read_writes))]
mod healthy;
mod probes;
mod sources;
mod stopping;
#[cfg(nanobreaker_narrow)]
mod sweeps;
mod tally;
mod time;
mod transitions;
mod trips;
// Where narrow words meet exchanges that fail, loom comes to no end in minutes: a turn takes many exchanges,
// and each of them goes round three times.
#[cfg(not(all(nanobreaker_narrow, nanobreaker_weak_fails)))]
mod turns;
