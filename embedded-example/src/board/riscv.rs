//! A RISC-V core under QEMU's `virt`: its machine timer for time, semihosting for words and the exit
//! status.
//!
//! The machine timer counts at 10 MHz. Its lower half is a 32-bit counter, shifted so that it starts
//! 20 s before it wraps: every run goes over the wrap.

use core::cell::Cell;
use core::fmt;
use core::hint::black_box;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use critical_section::Mutex;
use riscv::register::{mie, mstatus};

pub use riscv_rt::entry;

/// Timer ticks in a millisecond.
pub const TICKS_PER_MS: u32 = 10_000;

const START_TICKS: u32 = 0u32.wrapping_sub(20_000 * TICKS_PER_MS);

/// The timer's registers, and the one that says when it interrupts next.
const MTIME: *const u32 = 0x0200_BFF8 as *const u32;
const MTIMECMP: *mut u32 = 0x0200_4000 as *mut u32;

/// The timer's lower half at the start.
static STARTED_AT: AtomicU32 = AtomicU32::new(0);
/// Ticks between interrupts.
static PERIOD: AtomicU32 = AtomicU32::new(TICKS_PER_MS);
static IN_INTERRUPT: AtomicBool = AtomicBool::new(false);
static ON_TICK: Mutex<Cell<fn()>> = Mutex::new(Cell::new(nothing));

fn nothing() {}

fn timer() -> u64 {
    loop {
        // SAFETY: both halves are readable at any time.
        let (high, low, still_high) = unsafe {
            (ptr::read_volatile(MTIME.add(1)), ptr::read_volatile(MTIME), ptr::read_volatile(MTIME.add(1)))
        };
        if high == still_high {
            return u64::from(high) << 32 | u64::from(low);
        }
    }
}

fn interrupt_at(time: u64) {
    // SAFETY: only the timer's interrupt is set by this. The lower half is first put out of reach,
    // so that no half-written time is ever due.
    unsafe {
        ptr::write_volatile(MTIMECMP, u32::MAX);
        ptr::write_volatile(MTIMECMP.add(1), (time >> 32) as u32);
        ptr::write_volatile(MTIMECMP, time as u32);
    }
}

/// Starts the timer; `on_tick` runs in its interrupt each millisecond.
pub fn start(on_tick: fn()) {
    critical_section::with(|cs| ON_TICK.borrow(cs).set(on_tick));
    PERIOD.store(TICKS_PER_MS, Ordering::Relaxed);
    let now = timer();
    STARTED_AT.store(now as u32, Ordering::Relaxed);
    interrupt_at(now + u64::from(TICKS_PER_MS));
    set_timer_enabled(true);
    // SAFETY: no critical section is open here.
    unsafe { mstatus::set_mie() };
}

fn set_timer_enabled(enabled: bool) {
    // SAFETY: masks the timer's own interrupt, outside of critical sections.
    unsafe {
        if enabled {
            mie::set_mtimer();
        } else {
            mie::clear_mtimer();
        }
    }
}

#[riscv_rt::core_interrupt(riscv::interrupt::Interrupt::MachineTimer)]
fn on_timer() {
    IN_INTERRUPT.store(true, Ordering::Relaxed);
    critical_section::with(|cs| ON_TICK.borrow(cs).get())();
    interrupt_at(timer() + u64::from(PERIOD.load(Ordering::Relaxed)));
    IN_INTERRUPT.store(false, Ordering::Relaxed);
}

fn ticks_since_start() -> u32 {
    (timer() as u32).wrapping_sub(STARTED_AT.load(Ordering::Relaxed))
}

/// A 32-bit counter of the timer's ticks, wrapping.
pub fn ticks() -> u32 {
    START_TICKS.wrapping_add(ticks_since_start())
}

/// Microseconds since [`start`]; good for 7 minutes.
pub fn uptime_us() -> u32 {
    ticks_since_start() / (TICKS_PER_MS / 1_000)
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
            riscv::asm::wfi();
        }
    }
}

/// Whether an interrupt is running.
pub fn in_interrupt() -> bool {
    IN_INTERRUPT.load(Ordering::Relaxed)
}

/// Prints a line on the debugger's console.
pub fn print_line(words: fmt::Arguments<'_>) {
    semihosting::println!("{words}");
}

/// Ends the run; the status tells whether all held.
pub fn exit(held: bool) -> ! {
    semihosting::process::exit(i32::from(!held))
}

/// What one instruction takes under QEMU's `-icount shift=6`.
const NS_PER_INSTRUCTION: u32 = 64;
const NS_PER_TICK: u32 = 1_000_000 / TICKS_PER_MS;

/// Runs `work` while `interrupt` runs from the timer, as often as it asks with
/// [`next_interrupt_after`].
pub fn hammer_with(interrupt: fn(), work: impl FnOnce()) {
    start(interrupt);
    next_interrupt_after(1_000);
    work();
    set_timer_enabled(false);
}

/// Lets the timer's next interrupts come each so many instructions.
pub fn next_interrupt_after(instructions: u32) {
    PERIOD.store(instructions * NS_PER_INSTRUCTION / NS_PER_TICK, Ordering::Relaxed);
}

/// Counts the instructions of `work` under `-icount shift=6`, exactly but for two.
pub fn instructions_of(work: impl FnOnce()) -> u32 {
    let before = timer();
    work();
    let ticks = (timer() - before) as u32;
    // Divided here, not wherever the compiler likes, such as amid the next measurement.
    black_box((u64::from(ticks) * u64::from(NS_PER_TICK) / u64::from(NS_PER_INSTRUCTION)) as u32)
}
