//! Clocks of servers.

mod coarse;
#[cfg(feature = "tokio")]
mod tokio;

pub use coarse::CoarseClock;
#[cfg(feature = "tokio")]
pub use tokio::TokioClock;
