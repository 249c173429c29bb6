//! A Cortex-M under QEMU: SysTick for time, semihosting for words and the exit status.
//!
//! SysTick interrupts each millisecond. Its 24-bit down-counter and the count of interrupts together
//! are a 32-bit counter of clock cycles, as a free-running 32-bit timer would be; it starts 20 s
//! before it wraps, so every run goes over the wrap.

use core::cell::Cell;
use core::fmt;
use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering};

use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::peripheral::{SCB, SYST};
use cortex_m_rt::exception;
use cortex_m_semihosting::{debug, hprintln};
use critical_section::Mutex;

pub use cortex_m_rt::entry;

/// Timer ticks in a millisecond.
pub const TICKS_PER_MS: u32 = clock_hz() / 1_000;

const START_TICKS: u32 = 0u32.wrapping_sub(20_000 * TICKS_PER_MS);

/// Milliseconds since [`start`]. Only the interrupt writes it, so a load and a store suffice, which
/// a Cortex-M0 has.
static MILLISECONDS: AtomicU32 = AtomicU32::new(0);

static ON_TICK: Mutex<Cell<fn()>> = Mutex::new(Cell::new(nothing));

fn nothing() {}

const fn clock_hz() -> u32 {
    match u32::from_str_radix(env!("BOARD_CLOCK_HZ"), 10) {
        Ok(hz) => hz,
        Err(_) => panic!("build.rs sets BOARD_CLOCK_HZ to a number"),
    }
}

/// Starts the timer; `on_tick` runs in its interrupt each millisecond.
pub fn start(on_tick: fn()) {
    critical_section::with(|cs| ON_TICK.borrow(cs).set(on_tick));
    MILLISECONDS.store(0, Ordering::Relaxed);
    if let Some(peripherals) = cortex_m::Peripherals::take() {
        let mut timer = peripherals.SYST;
        timer.set_clock_source(SystClkSource::Core);
        timer.set_reload(TICKS_PER_MS - 1);
        timer.clear_current();
        timer.enable_counter();
        timer.enable_interrupt();
    }
}

#[exception]
fn SysTick() {
    MILLISECONDS.store(MILLISECONDS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    critical_section::with(|cs| ON_TICK.borrow(cs).get())();
}

/// Milliseconds since the start, and ticks since the last of them.
fn now() -> (u32, u32) {
    loop {
        let before = MILLISECONDS.load(Ordering::Relaxed);
        let elapsed = TICKS_PER_MS - 1 - SYST::get_current();
        let interrupt_waits = SCB::is_pendst_pending();
        if MILLISECONDS.load(Ordering::Relaxed) == before {
            // The counter has wrapped, but its interrupt has not run yet (or is masked).
            let late = u32::from(interrupt_waits && elapsed < TICKS_PER_MS / 2);
            return (before.wrapping_add(late), elapsed);
        }
    }
}

/// A 32-bit counter of clock cycles, wrapping.
pub fn ticks() -> u32 {
    let (milliseconds, elapsed) = now();
    START_TICKS.wrapping_add(milliseconds.wrapping_mul(TICKS_PER_MS)).wrapping_add(elapsed)
}

/// Microseconds since [`start`]; good for 71 minutes.
pub fn uptime_us() -> u32 {
    let (milliseconds, elapsed) = now();
    milliseconds * 1_000 + elapsed * 1_000 / TICKS_PER_MS
}

/// Waits, asleep between interrupts.
pub fn wait_us(us: u32) {
    let start = uptime_us();
    loop {
        let waited = uptime_us().wrapping_sub(start);
        if waited >= us {
            return;
        }
        if us - waited >= 1_000 {
            cortex_m::asm::wfi();
        }
    }
}

/// Whether an interrupt is running.
pub fn in_interrupt() -> bool {
    SCB::vect_active() != cortex_m::peripheral::scb::VectActive::ThreadMode
}

/// Prints a line on the debugger's console.
pub fn print_line(words: fmt::Arguments<'_>) {
    hprintln!("{}", words);
}

/// Ends the run; the status tells whether all held.
pub fn exit(held: bool) -> ! {
    debug::exit(if held { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
    loop {
        cortex_m::asm::wfi();
    }
}

/// What one instruction takes under QEMU's `-icount shift=6`.
const NS_PER_INSTRUCTION: u32 = 64;

/// Runs `work` while `interrupt` runs from the timer, as often as it asks with
/// [`next_interrupt_after`].
pub fn hammer_with(interrupt: fn(), work: impl FnOnce()) {
    start(interrupt);
    next_interrupt_after(1_000);
    set_timer_enabled(true);
    work();
    set_timer_enabled(false);
}

fn set_timer_enabled(enabled: bool) {
    // SAFETY: a write of the control register; only thread mode changes it once the timer runs.
    unsafe { (*SYST::PTR).csr.write(if enabled { 0b111 } else { 0b100 }) };
}

/// Lets the timer's next interrupts come each so many instructions.
pub fn next_interrupt_after(instructions: u32) {
    let ticks = instructions * NS_PER_INSTRUCTION / 1_000 * TICKS_PER_MS / 1_000;
    // SAFETY: the reload register is written whole; clearing the counter loads it.
    unsafe {
        (*SYST::PTR).rvr.write(ticks);
        (*SYST::PTR).cvr.write(0);
    }
}

/// Counts the instructions of `work`, exactly under `-icount shift=6`. At most half a million.
pub fn instructions_of(work: impl FnOnce()) -> u32 {
    const LONGEST: u32 = 0x00FF_FFFF;
    // SAFETY: the timer makes no interrupts while it counts here.
    unsafe {
        (*SYST::PTR).rvr.write(LONGEST);
        (*SYST::PTR).cvr.write(0);
        (*SYST::PTR).csr.write(0b101);
    }
    // The counter is loaded with its first tick.
    while SYST::get_current() == 0 {}
    let before = SYST::get_current();
    work();
    let ticks = before - SYST::get_current();
    let ns = u64::from(ticks) * 1_000_000 / u64::from(TICKS_PER_MS);
    // Divided here, not wherever the compiler likes, such as amid the next measurement.
    black_box((ns / u64::from(NS_PER_INSTRUCTION)) as u32)
}
