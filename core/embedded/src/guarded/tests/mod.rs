//! One test double per trait: it answers from a script and counts how often it was asked.

extern crate std;

#[cfg(all(feature = "embedded-hal-async", feature = "embedded-io-async"))]
mod asynchronous;
#[cfg(feature = "embedded-hal")]
mod i2c;
#[cfg(feature = "embedded-io")]
mod io;
#[cfg(feature = "embedded-hal")]
mod spi_and_pins;

use nanobreaker_core::window::Failures;
use nanobreaker_core::{Breaker, Config, ManualClock, Phase};

type TestBreaker = Breaker<Failures<2>, ManualClock>;

/// Two failures open it, for a second.
fn breaker() -> TestBreaker {
    Breaker::new(
        Failures::within_ms(10_000).unwrap(),
        Config::builder().open_for_ms(1_000).build().unwrap(),
        ManualClock::new(0),
    )
}

fn phase(breaker: &TestBreaker) -> Phase {
    breaker.snapshot().phase
}
