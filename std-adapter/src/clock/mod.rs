//! Clocks of servers.

mod coarse;
mod timer;
#[cfg(feature = "tokio")]
mod tokio;

pub use coarse::CoarseClock;
pub use timer::TimerClock;
#[cfg(feature = "tokio")]
pub use tokio::TokioClock;
