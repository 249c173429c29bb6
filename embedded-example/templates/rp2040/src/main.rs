//! Reads a sensor on I²C once a second. Where it fails three times within ten seconds it is left alone for
//! five seconds, then asked once.

#![no_std]
#![no_main]

use embedded_hal::delay::DelayNs;
use embedded_hal::digital::OutputPin;
use embedded_hal::i2c::I2c;
use nanobreaker_core::{Breaker, Config, checked, window::Failures};
use nanobreaker_embedded::clock::TickClock;
use nanobreaker_embedded::guarded::Guarded;
use panic_halt as _;
use rp2040_hal::fugit::RateExtU32;
use rp2040_hal::gpio::Pins;
use rp2040_hal::{I2C, Sio, Timer, Watchdog, clocks::init_clocks_and_plls, pac};

/// The boot loader's second stage, which the chip runs first.
#[unsafe(link_section = ".boot2")]
#[used]
static BOOT2: [u8; 256] = rp2040_boot2::BOOT_LOADER_GENERIC_03H;

/// The timer's microseconds, which are the same for both cores (SysTick's are not).
static UPTIME: TickClock<1_000_000> = TickClock::new(|| {
    // SAFETY: reading this register has no side effects.
    unsafe { &*pac::TIMER::PTR }.timerawl().read().bits()
});

static SENSOR: Breaker<Failures<3>, &TickClock<1_000_000>> = Breaker::new(
    checked!(Failures::within_ms(10_000)),
    checked!(Config::builder().open_for_ms(5_000).max_open_ms(59_000).build()),
    &UPTIME,
);

const CRYSTAL_HZ: u32 = 12_000_000;

#[rp2040_hal::entry]
fn main() -> ! {
    let mut pac = pac::Peripherals::take().expect("taken once");
    let mut watchdog = Watchdog::new(pac.WATCHDOG);
    let clocks = init_clocks_and_plls(
        CRYSTAL_HZ,
        pac.XOSC,
        pac.CLOCKS,
        pac.PLL_SYS,
        pac.PLL_USB,
        &mut pac.RESETS,
        &mut watchdog,
    )
    .ok()
    .expect("the crystal oscillates");
    let mut timer = Timer::new(pac.TIMER, &mut pac.RESETS, &clocks);
    let sio = Sio::new(pac.SIO);
    let pins = Pins::new(pac.IO_BANK0, pac.PADS_BANK0, sio.gpio_bank0, &mut pac.RESETS);
    let mut led = pins.gpio25.into_push_pull_output();
    let i2c = I2C::i2c0(
        pac.I2C0,
        pins.gpio4.reconfigure(),
        pins.gpio5.reconfigure(),
        100.kHz(),
        &mut pac.RESETS,
        &clocks.system_clock,
    );

    let mut bus = Guarded::new(i2c, &SENSOR);
    loop {
        UPTIME.poll(); // at least every 35 minutes
        let _ = led.set_state(read(&mut bus).is_ok().into());
        timer.delay_ms(1_000);
    }
}

/// Asks the sensor, an SHT4x, for its serial number: any embedded-hal driver would do it so.
fn read(bus: &mut impl I2c) -> Result<[u8; 6], impl core::fmt::Debug> {
    let mut serial = [0; 6];
    bus.write_read(0x44, &[0x89], &mut serial).map(|()| serial)
}
