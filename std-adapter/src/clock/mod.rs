//! Clocks of servers.

mod coarse;
mod timer;
#[cfg(feature = "tokio")]
mod tokio;
mod wall;

pub use coarse::CoarseClock;
pub use timer::TimerClock;
#[cfg(feature = "tokio")]
pub use tokio::TokioClock;
pub use wall::WallClock;
