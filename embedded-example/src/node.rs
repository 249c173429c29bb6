//! The node's loop, and the breakers in it.

use embedded_hal::delay::DelayNs;
use embedded_io::Write;
use nanobreaker_core::window::Failures;
use nanobreaker_core::{Breaker, Clock, Config, ConfigError, Outcome};
use nanobreaker_embedded::Queue;
use nanobreaker_embedded::guarded::Guarded;
use shtcx::PowerMode;

use crate::modem::EmulatedModem;
use crate::sensor::EmulatedBus;
use crate::{board, faults};

/// The loop's period, and so the deadline of each turn.
pub const PERIOD_US: u32 = 100_000;
/// What the node does besides talking to its buses.
const CONTROL_WORK_US: u32 = 74_000;
/// A beacon goes out each so many milliseconds, from the timer interrupt.
const BEACON_EVERY_MS: u32 = 50;

/// Transitions a queue holds until the main loop prints them, once a period.
pub const QUEUED_TRANSITIONS: usize = 16;

/// A breaker of the node: three failures within ten seconds open it.
pub type NodeBreaker<C> = Breaker<Failures<3>, C, &'static Queue<QUEUED_TRANSITIONS>>;

/// What both breakers remember.
pub const fn window() -> Result<Failures<3>, ConfigError> {
    Failures::within_ms(10_000)
}

/// What both breakers do: a second open, then twice as long each time, up to four.
pub const fn config() -> Result<Config, ConfigError> {
    Config::builder().open_for_ms(1_000).max_open_ms(4_000).build()
}

/// What a run added up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Turns of the loop.
    pub turns: u32,
    /// Turns that took longer than the period.
    pub deadlines_missed: u32,
    /// The longest turn.
    pub longest_turn_us: u32,
    /// Readings of the sensor that were right.
    pub readings: u32,
    /// Readings after the last fault of the sensor was over.
    pub readings_at_the_end: u32,
    /// Packets delivered.
    pub delivered: u32,
    /// For how long the buses were driven: what stands for energy here.
    pub bus_busy_us: u32,
}

/// Runs the script without breakers: a careful node, which frees the bus after each error.
pub fn run_unguarded() -> Totals {
    let (mut bus, mut modem) = (EmulatedBus::default(), EmulatedModem::default());
    let totals = run(
        || {
            let reading = shtcx::shtc3(&mut bus).measure(PowerMode::LowPower, &mut Delay);
            if reading.is_err() {
                bus.nine_clocks_and_stop();
            }
            reading.ok()
        },
        |packet| {
            let _ = modem.write_all(packet).and_then(|()| modem.flush());
        },
        || {},
    );
    finished(totals, &bus, &modem)
}

/// Runs the script with breakers; `each_turn` runs in the time that a turn leaves.
pub fn run_guarded<C: Clock>(
    sensor: &'static NodeBreaker<C>,
    radio: &'static NodeBreaker<C>,
    each_turn: impl FnMut(),
) -> Totals {
    let (mut bus, mut modem) = (EmulatedBus::default(), EmulatedModem::default());
    let guarded = Guarded::new(&mut bus, sensor).recover_first(|bus: &mut &mut EmulatedBus| {
        bus.nine_clocks_and_stop();
        Ok(())
    });
    let mut driver = shtcx::shtc3(guarded);
    let mut line = Guarded::new(&mut modem, radio);
    let totals = run(
        || driver.measure(PowerMode::LowPower, &mut Delay).ok(),
        |packet| {
            let _ = line.write_all(packet).and_then(|()| line.flush());
        },
        each_turn,
    );
    finished(totals, &bus, &modem)
}

fn finished(totals: Totals, bus: &EmulatedBus, modem: &EmulatedModem) -> Totals {
    Totals { delivered: modem.delivered, bus_busy_us: bus.busy_us + modem.busy_us, ..totals }
}

fn run(
    mut measure: impl FnMut() -> Option<shtcx::Measurement>,
    mut send: impl FnMut(&[u8]),
    mut each_turn: impl FnMut(),
) -> Totals {
    let mut totals = Totals::default();
    while faults::elapsed_ms() < faults::RUN_MS {
        let begun = board::uptime_us();
        let reading = measure();
        if is_right(&reading) {
            totals.readings += 1;
            totals.readings_at_the_end += u32::from(faults::elapsed_ms() >= faults::RADIO_DOWN_MS.end);
        }
        send(&packet(totals.turns, reading));
        board::wait_us(CONTROL_WORK_US);

        let took = board::uptime_us().wrapping_sub(begun);
        totals.turns += 1;
        totals.longest_turn_us = totals.longest_turn_us.max(took);
        totals.deadlines_missed += u32::from(took > PERIOD_US);
        each_turn();
        board::wait_us(PERIOD_US.saturating_sub(board::uptime_us().wrapping_sub(begun)));
    }
    totals
}

/// Whether the driver has read what the emulated sensor measured.
fn is_right(reading: &Option<shtcx::Measurement>) -> bool {
    reading.is_some_and(|reading| {
        reading.temperature.as_millidegrees_celsius() == 23_730
            && reading.humidity.as_millipercent() == 62_968
    })
}

fn packet(turn: u32, reading: Option<shtcx::Measurement>) -> [u8; 12] {
    let (temperature, humidity) = reading.map_or((i32::MIN, i32::MIN), |reading| {
        (reading.temperature.as_millidegrees_celsius(), reading.humidity.as_millipercent())
    });
    let mut packet = [0; 12];
    let words = [turn.to_be_bytes(), temperature.to_be_bytes(), humidity.to_be_bytes()];
    for (to, from) in packet.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&from);
    }
    packet
}

/// The timer interrupt's part, each millisecond: a beacon over the same radio, asked and judged
/// with tokens, for an interrupt has no scope to hold a guard in. Returns whether the interrupt
/// itself made a transition.
pub fn beacon<C: Clock>(radio: &'static NodeBreaker<C>) -> bool {
    if !faults::elapsed_ms().is_multiple_of(BEACON_EVERY_MS) {
        return false;
    }
    let before = radio.snapshot();
    if let Ok(token) = radio.allow_token() {
        let outcome = if faults::radio_is_down() { Outcome::Failure } else { Outcome::Success };
        radio.record(token, outcome);
    }
    let after = radio.snapshot();
    (before.phase, before.generation) != (after.phase, after.generation)
}

/// The board's timer as the drivers' delay.
#[derive(Debug)]
pub struct Delay;

impl DelayNs for Delay {
    fn delay_ns(&mut self, ns: u32) {
        board::wait_us(ns.div_ceil(1_000));
    }

    fn delay_us(&mut self, us: u32) {
        board::wait_us(us);
    }
}
