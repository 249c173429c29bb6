//! The guide's simulator: made-up traffic and an outage against the real breaker, for a page in a browser.
//!
//! Every rule is here: how calls are made up, how they fail, what the breaker says, what is counted. The page
//! only draws and passes on what is typed, through [`Desk`].
//!
//! * [`Scene`]: everything that a link keeps, and the link.
//! * [`Traffic`]: the scene's calls, the same for both breakers, whatever these say.
//! * [`Lane`]: one breaker, and what becomes of the calls before it.
//! * [`Simulation`]: both, side by side.
//! * [`Desk`]: orders in JSON, answers in JSON.
//!
//! The same scene gives the same figures on every machine: random numbers come from a generator with a seed,
//! logarithms from `libm` rather than the platform, and time from the traffic alone. [`Log`] writes the calls as
//! a log, which `nanobreaker replay` plays to the same trips.

#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod account;
#[cfg(target_arch = "wasm32")]
pub mod browser;
mod desk;
mod lane;
mod log;
mod outage;
mod presets;
mod refusal;
mod scene;
mod setup;
mod simulation;
mod sliders;
mod traffic;
mod view;
mod why;

pub use account::{Change, Tally, Trip};
pub use desk::Desk;
pub use lane::Lane;
pub use log::{EPOCH_MS, HEADER, Log};
pub use outage::{DRAWN_PARTS, Drawn, Fails, Outage, OutageKind};
pub use presets::{PRESETS, Preset};
pub use refusal::Refusal;
pub use scene::{Numbers, Range, Scene};
pub use setup::Setup;
pub use simulation::Simulation;
pub use traffic::{Call, Traffic};
pub use why::Evidence;

#[cfg(test)]
mod tests;
