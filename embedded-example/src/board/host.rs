//! The host as a board: time moves only when the node waits, so a minute takes milliseconds and
//! every run is the same.

use core::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Timer ticks in a millisecond.
pub const TICKS_PER_MS: u32 = 16_000;

/// 20 s before the counter wraps.
const START_TICKS: u32 = 0u32.wrapping_sub(20_000 * TICKS_PER_MS);

static NOW_US: AtomicU32 = AtomicU32::new(0);
static IN_INTERRUPT: AtomicBool = AtomicBool::new(false);
static ON_TICK: Mutex<fn()> = Mutex::new(nothing);

fn nothing() {}

/// Starts the timer; `on_tick` runs each millisecond as if in an interrupt.
pub fn start(on_tick: fn()) {
    *ON_TICK.lock().unwrap_or_else(PoisonError::into_inner) = on_tick;
    NOW_US.store(0, Ordering::Relaxed);
}

/// A 32-bit counter of clock cycles, wrapping.
pub fn ticks() -> u32 {
    START_TICKS.wrapping_add(uptime_us().wrapping_mul(TICKS_PER_MS / 1_000))
}

/// Microseconds since [`start`]; good for 71 minutes.
pub fn uptime_us() -> u32 {
    NOW_US.load(Ordering::Relaxed)
}

/// Waits: moves the time, and runs the timer's interrupt at each full millisecond on the way.
pub fn wait_us(us: u32) {
    let on_tick = *ON_TICK.lock().unwrap_or_else(PoisonError::into_inner);
    let end = uptime_us() + us;
    loop {
        let next_tick = (uptime_us() / 1_000 + 1) * 1_000;
        if next_tick > end {
            break;
        }
        NOW_US.store(next_tick, Ordering::Relaxed);
        IN_INTERRUPT.store(true, Ordering::Relaxed);
        on_tick();
        IN_INTERRUPT.store(false, Ordering::Relaxed);
    }
    NOW_US.store(end, Ordering::Relaxed);
}

/// Whether an interrupt is running.
pub fn in_interrupt() -> bool {
    IN_INTERRUPT.load(Ordering::Relaxed)
}

/// Prints a line.
pub fn print_line(words: fmt::Arguments<'_>) {
    std::println!("{words}");
}

/// Ends the run; the status tells whether all held.
pub fn exit(held: bool) -> ! {
    std::process::exit(i32::from(!held))
}

/// Runs `work` while a thread runs `interrupt` over and over.
pub fn hammer_with(interrupt: fn(), work: impl FnOnce()) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                interrupt();
            }
        });
        work();
        done.store(true, Ordering::Relaxed);
    });
}

/// Interrupts come as fast as the thread runs.
pub fn next_interrupt_after(_: u32) {}
