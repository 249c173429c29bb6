//! No run-time path of the breaker allocates: counted by the allocator itself.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use nanobreaker_core::window::{AnyWindow, Calls, Consecutive, Failures, Time, Window, WithSlow};
use nanobreaker_core::{Breaker, Config, ManualClock, Outcome, Token};

thread_local! {
    /// This thread's allocations: the test harness has threads of its own.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Not while the thread ends, when its locals are gone.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; `alloc` handed out the system's memory.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// Drives a breaker through every phase and function.
fn live<W: Window>(window: W) {
    let config = Config::builder()
        .open_for_ms(10)
        .max_open_ms(40)
        .probes(2)
        .ramp_ms(20)
        .jitter_permille(500)
        .build()
        .expect("a valid configuration");
    let breaker = Breaker::new(window, config, ManualClock::new(0));
    let outcomes = [
        Outcome::Failure,
        Outcome::Success,
        Outcome::Slow,
        Outcome::Failure,
        Outcome::Ignored,
        Outcome::Failure,
        Outcome::Cancelled,
        Outcome::Failure,
    ];
    for round in 0..200_u64 {
        for outcome in outcomes {
            if let Ok(permit) = breaker.allow() {
                permit.record(outcome);
            }
            drop(breaker.allow());
            let _leaked = breaker.allow().map(Token::from);
            breaker.clock().advance(round % 7);
            black_box(breaker.snapshot());
        }
        match round % 16 {
            3 => breaker.observe(round % 32 == 3),
            5 => drop(breaker.trip_for_ms(round)),
            7 => drop(breaker.trip()),
            9 => drop(breaker.isolate()),
            11 => drop(breaker.disable()),
            10 | 12 => breaker.reset(),
            13 => drop(breaker.restore(breaker.save())),
            14 => breaker.seed(round as u32),
            _ => {}
        }
    }
}

#[test]
fn no_run_time_path_allocates() {
    let before = allocations();
    live(Failures::<3>::new(3, 1_000).expect("valid"));
    live(Consecutive::new(3).expect("valid"));
    live(Calls::<1>::new(10, 50, 3).expect("valid"));
    live(Calls::<8>::new(100, 50, 3).expect("valid"));
    live(Time::<4>::new(100, 4, 50, 3).expect("valid"));
    live(AnyWindow::<8>::time(100, 4, 50, 3).expect("valid"));
    live(WithSlow::new(
        Consecutive::new(3).expect("valid"),
        Calls::<1>::new(10, 50, 3).expect("valid"),
    ));
    assert_eq!(allocations(), before);
}

#[test]
fn the_allocator_counts() {
    let before = allocations();
    drop(black_box(Box::new(1)));
    assert_eq!(allocations(), before + 1);
}
