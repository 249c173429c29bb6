//! The clocks of the embedded ecosystem as a breaker's [`Clock`](nanobreaker_core::Clock).
//!
//! | time comes from | clock |
//! | --------------- | ----- |
//! | milliseconds, or an instant of 64 bits (Embassy, RTIC, `fugit`, an RTOS's uptime) | [`ClockFn`] |
//! | a wrapping 32-bit counter or instant of a frequency that is known when compiling | [`TickClock`] |
//! | an `embedded_time::Clock` | `EmbeddedTimeClock` (feature `embedded-time`) |

#[cfg(feature = "embedded-time")]
mod embedded_time;
mod function;
mod ticks;

#[cfg(feature = "embedded-time")]
pub use self::embedded_time::EmbeddedTimeClock;
pub use self::function::ClockFn;
pub use self::ticks::{TickClock, TickSource};
