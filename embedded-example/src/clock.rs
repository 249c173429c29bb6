//! The board's 32-bit wrapping counter as a breaker's clock, in two ways.

use embedded_time::clock::Error;
use embedded_time::fraction::Fraction;
use embedded_time::{Clock, Instant};
use nanobreaker_embedded::clock::TickSource;

use crate::board;

/// The board's counter of clock cycles, for [`TickClock`](nanobreaker_embedded::clock::TickClock).
#[derive(Debug)]
pub struct Cycles;

impl Cycles {
    /// How many of them make a second.
    pub const HZ: u32 = board::TICKS_PER_MS * 1_000;
}

impl TickSource for Cycles {
    fn ticks(&self) -> u32 {
        board::ticks()
    }
}

/// The same counter as an `embedded-time` clock.
#[derive(Debug)]
pub struct EmbeddedTimeCycles;

impl Clock for EmbeddedTimeCycles {
    type T = u32;

    const SCALING_FACTOR: Fraction = Fraction::new(1, Cycles::HZ);

    fn try_now(&self) -> Result<Instant<Self>, Error> {
        Ok(Instant::new(board::ticks()))
    }
}
