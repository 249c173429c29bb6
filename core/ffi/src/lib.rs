//! [`nanobreaker-core`](nanobreaker_core) for C: a static and a shared library, and
//! `include/nanobreaker.h`, which is made from this source.
//!
//! The README is for those who use it from C. This page is for those who change it.
//!
//! # What callers promise
//!
//! Every function is `unsafe` for the same reasons, so none repeats them:
//!
//! * A pointer that is neither null nor misaligned points to memory of its type, which nobody else
//!   writes during the call. A pointer to a breaker points to at least the bytes that were given as its
//!   size when it was initialised, and any number of threads may use it at once.
//! * A breaker's memory is written by these functions only, and stays where it is, until
//!   [`nanobreaker_end`] or until nobody uses it any more.
//! * The clock may be called by every thread and interrupt that uses the breaker, with its context. It
//!   returns; it does not unwind.
//!
//! Whatever else a caller does wrong is answered with a negative number.
//!
//! # The parts
//!
//! * `numbers` holds every number of the interface, `settings` the structures that go in.
//! * `memory` finds a breaker in the caller's memory. All that can go wrong with memory is there.
//! * `init`, `calls`, `operator` and `saving` hold the functions. Each finds the breaker, asks the core,
//!   and turns the answer into a number.

#![cfg_attr(target_os = "none", no_std)]
#![deny(unsafe_op_in_unsafe_fn)]
#![allow(clippy::missing_safety_doc, reason = "the same for every function: it stands above, once")]

mod calls;
mod init;
mod memory;
mod numbers;
mod operator;
mod saving;
mod settings;

pub use calls::*;
pub use init::*;
pub use memory::{Nanobreaker, nanobreaker_end};
pub use numbers::*;
pub use operator::*;
pub use saving::*;
pub use settings::{
    NanobreakerClock, NanobreakerCusum, NanobreakerFault, NanobreakerSettings, nanobreaker_defaults,
};

#[cfg(not(any(feature = "consecutive", feature = "cusum", feature = "failures")))]
compile_error!("choose a window: one of the features `failures`, `consecutive` and `cusum`");

/// Never runs: nothing here panics, and the core does not either. Rust asks for it nevertheless.
#[cfg(all(target_os = "none", feature = "panic-handler"))]
#[panic_handler]
fn stop(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
