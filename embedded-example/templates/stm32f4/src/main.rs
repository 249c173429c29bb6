//! Reads a sensor on I²C once a second. Where it fails three times within ten seconds it is left alone for
//! five seconds, then asked once.

#![no_std]
#![no_main]

use cortex_m::peripheral::DWT;
use cortex_m_rt::entry;
use embedded_hal::delay::DelayNs;
use embedded_hal::digital::OutputPin;
use embedded_hal::i2c::I2c;
use nanobreaker_core::{Breaker, Config, checked, window::Failures};
use nanobreaker_embedded::clock::TickClock;
use nanobreaker_embedded::guarded::Guarded;
use panic_halt as _;
use stm32f4xx_hal::{pac, prelude::*, rcc};

const HZ: u32 = 84_000_000;

/// Cycles of the processor. They stop in STOP mode: take the RTC where the chip sleeps.
static UPTIME: TickClock<HZ> = TickClock::new(DWT::cycle_count);

static SENSOR: Breaker<Failures<3>, &TickClock<HZ>> = Breaker::new(
    checked!(Failures::within_ms(10_000)),
    checked!(Config::builder().open_for_ms(5_000).max_open_ms(59_000).build()),
    &UPTIME,
);

#[entry]
fn main() -> ! {
    let pac = pac::Peripherals::take().expect("taken once");
    let mut core = cortex_m::Peripherals::take().expect("taken once");
    core.DCB.enable_trace();
    core.DWT.enable_cycle_counter();
    let mut rcc = pac.RCC.freeze(rcc::Config::hse(25.MHz()).sysclk(HZ.Hz()));
    let mut delay = core.SYST.delay(&rcc.clocks);
    let port_b = pac.GPIOB.split(&mut rcc);
    let port_c = pac.GPIOC.split(&mut rcc);
    let mut led = port_c.pc13.into_push_pull_output();
    let i2c = pac.I2C1.i2c((port_b.pb8, port_b.pb9), 100.kHz(), &mut rcc);

    let mut bus = Guarded::new(i2c, &SENSOR);
    loop {
        UPTIME.poll(); // at least every 25 seconds
        let _ = OutputPin::set_state(&mut led, read(&mut bus).is_err().into()); // it shines when the pin is low
        DelayNs::delay_ms(&mut delay, 1_000);
    }
}

/// Asks the sensor, an SHT4x, for its serial number: any embedded-hal driver would do it so.
fn read(bus: &mut impl I2c) -> Result<[u8; 6], impl core::fmt::Debug> {
    let mut serial = [0; 6];
    bus.write_read(0x44, &[0x89], &mut serial).map(|()| serial)
}
