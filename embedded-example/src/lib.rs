//! A sensor node whose buses fail on a script, run with and without breakers.
//!
//! ```text
//!                    ┌────────────────────── node ──────────────────────┐
//!  timer interrupt ──┤ beacon:  allow_token / record ──┐                │
//!                    │                               RADIO breaker      │
//!  main loop,        │ packet:  embedded-io ── Guarded ┘── EmulatedModem│
//!  100 ms budget  ───┤ reading: shtcx driver ─ Guarded ─── EmulatedBus  │
//!                    │                         SENSOR breaker           │
//!                    └──────────────────────────────────────────────────┘
//! ```
//!
//! Everything but [`board`] is the same on the host and on the chip.

#![no_std]

#[cfg(not(target_os = "none"))]
extern crate std;

#[cfg_attr(target_arch = "arm", path = "board/cortex_m.rs")]
#[cfg_attr(target_arch = "riscv32", path = "board/riscv.rs")]
#[cfg_attr(not(target_os = "none"), path = "board/host.rs")]
pub mod board;
pub mod clock;
pub mod faults;
pub mod hammer;
pub mod modem;
pub mod node;
mod program;
pub mod report;
pub mod sensor;
pub mod sleep;

/// The settings that the page names compile, and do what it says.
#[cfg(doctest)]
#[doc = include_str!("../NUMBERS.md")]
struct Numbers;

/// Prints a line through the board's debug channel.
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => { $crate::board::print_line(::core::format_args!($($words)*)) };
}
