//! No run-time path of the breaker allocates: counted by the allocator itself.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use nanobreaker_core::window::{
    Adjustable, AnyWindow, Calls, Consecutive, Cusum, Failures, StripedTime, Stripes, Time, Window, WithSlow,
};
use nanobreaker_core::{
    Breaker, Config, ConfigBuilder, CusumSettings, ManualClock, Outcome, Permit, Rate, Settings,
    WindowSettings,
};

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

const OPENING: ConfigBuilder =
    Config::builder().open_for_ms(10).max_open_ms(40).max_probes(2).ramp_ms(20).jitter_permille(500);

/// Drives a breaker through every phase and function.
fn live<W: Window<Settings = Config>>(window: W) {
    let config = OPENING.build().expect("a valid configuration");
    drive(&Breaker::new(window, config, ManualClock::new(0)), |_| {});
}

fn drive<W: Window>(breaker: &Breaker<W, ManualClock>, adjust: impl Fn(&Breaker<W, ManualClock>)) {
    let outcomes = [
        Outcome::Failure,
        Outcome::Success,
        Outcome::Slow,
        Outcome::Failure,
        Outcome::Ignored,
        Outcome::SlowFailure,
        Outcome::Cancelled,
        Outcome::Failure,
    ];
    for round in 0..200_u64 {
        for outcome in outcomes {
            if let Ok(permit) = breaker.allow() {
                permit.record(outcome);
            }
            drop(breaker.allow());
            let _leaked = breaker.allow().map(Permit::into_token);
            breaker.clock().advance(round % 7);
            black_box((breaker.snapshot(), breaker.phase(), breaker.config(), breaker.evidence()));
        }
        match round % 16 {
            3 => breaker.shadow(round % 32 == 3),
            5 => drop(breaker.trip_for_ms(round)),
            6 => drop(breaker.advise_ms(round)),
            7 => drop(breaker.trip()),
            8 => drop(breaker.recover()),
            9 => drop(breaker.isolate()),
            11 => drop(breaker.disable()),
            10 | 12 => breaker.reset(),
            13 => drop(breaker.restore(breaker.save(), round)),
            14 => breaker.seed(round as u32),
            15 => adjust(breaker),
            _ => {}
        }
    }
}

#[derive(Clone, Copy)]
struct One;

impl Stripes for One {
    fn stripe(&self) -> usize {
        1
    }
}

#[test]
fn no_run_time_path_allocates() {
    let rate = Rate::percent(50).min_calls(3);
    let cusum = CusumSettings {
        normal_ppm: 20_000,
        broken_ppm: 500_000,
        calls_per_false_trip: 1_000,
        sustained_for_ms: 0,
    };
    let before = allocations();
    live(Failures::<3>::within_ms(1_000).expect("valid"));
    live(Consecutive::new(3).expect("valid"));
    live(Calls::<1>::new(10, rate).expect("valid"));
    live(Calls::<8>::new(100, rate).expect("valid"));
    live(Time::<4>::new(100, 4, rate).expect("valid"));
    live(StripedTime::<_, 2, 4>::new(100, 4, rate, One).expect("valid"));
    live(Cusum::new(cusum).expect("valid"));
    live(AnyWindow::<8>::new(WindowSettings::Cusum(cusum)).expect("valid"));
    live(WithSlow::new(Consecutive::new(3).expect("valid"), Calls::<1>::new(10, rate).expect("valid")));
    let settings = |threshold| Settings {
        window: WindowSettings::Consecutive { threshold },
        slow_window: Some(WindowSettings::Cusum(cusum)),
        opening: OPENING,
        ..Settings::DEFAULT
    };
    let window = Adjustable::<8, 1>::new(&settings(2)).expect("valid");
    drive(&Breaker::new(window, (), ManualClock::new(0)), |breaker| {
        let threshold = 1 + u32::from(breaker.snapshot().generation % 5);
        black_box((breaker.adjust(&settings(threshold)), breaker.limits_ms())).0.expect("valid");
    });
    assert_eq!(allocations(), before);
}

#[test]
fn the_allocator_counts() {
    let before = allocations();
    drop(black_box(Box::new(1)));
    assert_eq!(allocations(), before + 1);
}
