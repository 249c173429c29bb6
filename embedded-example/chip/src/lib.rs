//! What firmware has of breakers, in functions that are not generic: they are compiled down to the
//! machine code of the chip.

#![no_std]

use embedded_hal::i2c::{ErrorKind, ErrorType, I2c, Operation};
use nanobreaker_core::window::{Consecutive, Failures};
use nanobreaker_core::{Breaker, Config, RestoreError, checked};
use nanobreaker_embedded::clock::{ClockFn, TickClock};
use nanobreaker_embedded::guarded::{Guarded, GuardedError};
use nanobreaker_embedded::{OneWordBreaker, Queue};
use portable_atomic::{AtomicU32, Ordering};

static MILLISECONDS: AtomicU32 = AtomicU32::new(0);
static TRANSITIONS: Queue<8> = Queue::new();
static RTC: TickClock<1_000> = TickClock::new(milliseconds);

static SENSOR: Breaker<Failures<3>, ClockFn, &Queue<8>> = Breaker::with_observer(
    checked!(Failures::within_ms(10_000)),
    checked!(Config::builder().open_for_ms(5_000).max_open_ms(60_000).build()),
    ClockFn::new(|| milliseconds() as u64),
    &TRANSITIONS,
);

static RADIO: Breaker<Consecutive, &TickClock<1_000>> =
    Breaker::new(checked!(Consecutive::new(2)), Config::DEFAULT, &RTC);
static DISPLAY: OneWordBreaker<2, 5_000, &TickClock<1_000>> = OneWordBreaker::new(&RTC);

fn milliseconds() -> u32 {
    // Relaxed: a recent reading will do.
    MILLISECONDS.load(Ordering::Relaxed)
}

/// A bus whose controller is not there.
#[derive(Debug)]
pub struct Bus;

impl ErrorType for Bus {
    type Error = ErrorKind;
}

impl I2c for Bus {
    fn transaction(&mut self, _: u8, _: &mut [Operation<'_>]) -> Result<(), ErrorKind> {
        Err(ErrorKind::Bus)
    }
}

/// Reads a sensor on a guarded bus.
///
/// # Errors
///
/// When the sensor does not answer, or is not asked.
pub fn read(bus: &mut Bus) -> Result<[u8; 2], GuardedError<ErrorKind>> {
    let mut reading = [0; 2];
    Guarded::new(bus, &SENSOR).write_read(0x44, &[0xFD], &mut reading).map(|()| reading)
}

/// Writes to a display on a guarded bus.
///
/// # Errors
///
/// When the display does not answer, or is not asked.
pub fn show(bus: &mut Bus) -> Result<(), GuardedError<ErrorKind>> {
    Guarded::new(bus, &DISPLAY).write(0x3C, &[0xAF])
}

/// Sends over a radio that acknowledges or not; when to ask again.
pub fn send(acknowledged: bool) -> u32 {
    match RADIO.allow() {
        Ok(permit) if acknowledged => permit.success(),
        Ok(permit) => permit.failure(),
        Err(rejected) => return rejected.retry_after_ms().unwrap_or(u32::MAX),
    }
    0
}

/// The radio's breaker over a reset.
///
/// # Errors
///
/// When `kept` was not saved by a breaker.
pub fn over_a_reset(kept: u64) -> Result<u64, RestoreError> {
    RADIO.restore(kept, 0)?;
    Ok(RADIO.save())
}

/// Each millisecond.
pub fn on_tick() {
    // Relaxed: nothing else is passed along. Only this interrupt writes.
    let now = MILLISECONDS.load(Ordering::Relaxed).wrapping_add(1);
    MILLISECONDS.store(now, Ordering::Relaxed);
    RTC.poll();
}
