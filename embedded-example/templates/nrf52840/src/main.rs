//! Reads a sensor on I²C once a second. Where it fails three times within ten seconds it is left alone for
//! five seconds, then asked once.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use embedded_hal::delay::DelayNs;
use embedded_hal::digital::OutputPin;
use embedded_hal::i2c::I2c;
use nanobreaker_core::{Breaker, Config, checked, window::Failures};
use nanobreaker_embedded::clock::TickClock;
use nanobreaker_embedded::guarded::Guarded;
use nrf52840_hal::gpio::{Level, p0};
use nrf52840_hal::twim::{Frequency, Pins, Twim};
use nrf52840_hal::{Clocks, Delay, Rtc, pac};
use panic_halt as _;

/// The real-time counter has 24 bits at 32,768 Hz. In the upper bits of a word it is a counter of 32 bits that
/// is 256 times as fast.
const HZ: u32 = 32_768 << 8;

/// It goes on while the chip sleeps.
static UPTIME: TickClock<HZ> = TickClock::new(|| {
    // SAFETY: reading this register has no side effects.
    unsafe { &*pac::RTC0::PTR }.counter.read().bits() << 8
});

static SENSOR: Breaker<Failures<3>, &TickClock<HZ>> = Breaker::new(
    checked!(Failures::within_ms(10_000)),
    checked!(Config::builder().open_for_ms(5_000).max_open_ms(59_000).build()),
    &UPTIME,
);

#[entry]
fn main() -> ! {
    let pac = pac::Peripherals::take().expect("taken once");
    let core = pac::CorePeripherals::take().expect("taken once");
    let _clocks = Clocks::new(pac.CLOCK).start_lfclk();
    let rtc = Rtc::new(pac.RTC0, 0).expect("an undivided counter");
    rtc.enable_counter();
    let mut delay = Delay::new(core.SYST);
    let port = p0::Parts::new(pac.P0);
    let mut led = port.p0_13.into_push_pull_output(Level::High);
    let pins = Pins {
        sda: port.p0_26.into_floating_input().degrade(),
        scl: port.p0_27.into_floating_input().degrade(),
    };
    let i2c = Twim::new(pac.TWIM0, pins, Frequency::K100);

    let mut bus = Guarded::new(i2c, &SENSOR);
    loop {
        UPTIME.poll(); // at least every 4 minutes
        let _ = led.set_state(read(&mut bus).is_err().into()); // it shines when the pin is low
        delay.delay_ms(1_000);
    }
}

/// Asks the sensor, an SHT4x, for its serial number: any embedded-hal driver would do it so.
fn read(bus: &mut impl I2c) -> Result<[u8; 6], impl core::fmt::Debug> {
    let mut serial = [0; 6];
    bus.write_read(0x44, &[0x89], &mut serial).map(|()| serial)
}
