//! Instructions that each operation takes, counted by the timer under `-icount shift=6`.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(not(target_os = "none"))]
fn main() {
    println!("firmware only: see size.sh");
}

#[cfg(target_os = "none")]
mod firmware {
    use core::arch::asm;
    use core::hint::black_box;
    use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use embedded_example::{board, say};
    use nanobreaker_core::window::{Calls, Consecutive, Failures, Time, Window, calls_words};
    use nanobreaker_core::{Breaker, Clock, Config, Outcome, checked};

    const REPEATS: u32 = 500;

    /// Milliseconds since the start, as a timer's interrupt would count them.
    struct Uptime;

    static MILLISECONDS: AtomicU32 = AtomicU32::new(1_000);

    impl Clock for Uptime {
        #[inline]
        fn now_ms(&self) -> u64 {
            u64::from(MILLISECONDS.load(Relaxed))
        }
    }

    type Measured<W> = Breaker<W, Uptime>;

    const CONFIG: Config = checked!(Config::builder().open_for_ms(5_000).build());

    static FAILURES: Measured<Failures<5>> =
        Breaker::new(checked!(Failures::new(5, 10_000)), CONFIG, Uptime);
    static CONSECUTIVE: Measured<Consecutive> =
        Breaker::new(checked!(Consecutive::new(5)), CONFIG, Uptime);
    static CALLS: Measured<Calls<1>> =
        Breaker::new(checked!(Calls::new(16, 50, 8)), CONFIG, Uptime);
    static MANY_CALLS: Measured<Calls<{ calls_words(100) }>> =
        Breaker::new(checked!(Calls::new(100, 50, 20)), CONFIG, Uptime);
    static TIME: Measured<Time<8>> =
        Breaker::new(checked!(Time::new(10_000, 8, 50, 10)), CONFIG, Uptime);

    /// Instructions of one `operation`, without the loop around it.
    fn instructions_of_one(mut operation: impl FnMut()) -> u32 {
        let all = board::instructions_of(|| {
            for turn in 0..REPEATS {
                black_box(turn);
                operation();
            }
        });
        let loop_alone = board::instructions_of(|| {
            for turn in 0..REPEATS {
                black_box(turn);
            }
        });
        (all - loop_alone + REPEATS / 2) / REPEATS
    }

    #[inline(always)]
    fn call<W: Window>(breaker: &'static Measured<W>, outcome: Outcome) {
        match black_box(breaker).allow() {
            Ok(permit) => {
                permit.record(outcome);
            }
            Err(rejected) => {
                black_box(rejected.retry_after_ms());
            }
        }
    }

    fn measure<W: Window>(name: &str, breaker: &'static Measured<W>) {
        for _ in 0..200 {
            call(breaker, Outcome::Success); // a window full of successes: the usual state
        }
        let allow = instructions_of_one(|| {
            black_box(black_box(breaker).allow_token().is_ok());
        });
        let success = instructions_of_one(|| call(breaker, Outcome::Success));

        // Each failure meets an empty window, so that none trips.
        let reset = instructions_of_one(|| black_box(breaker).reset());
        let reset_and_failure = instructions_of_one(|| {
            black_box(breaker).reset();
            call(breaker, Outcome::Failure);
        });
        breaker.trip();
        let rejection = instructions_of_one(|| call(breaker, Outcome::Success));
        say!(
            "cost {name} {allow} {success} {} {rejection}",
            reset_and_failure - reset
        );
    }

    /// The yardstick: two operations that are known to be sixteen instructions apart.
    fn counts_right() -> bool {
        let once = instructions_of_one(sixteen_instructions);
        let twice = instructions_of_one(|| {
            sixteen_instructions();
            sixteen_instructions();
        });
        say!("yardstick {}", twice - once);
        // The loops around the two may compile to a few instructions more or less.
        (twice - once).abs_diff(16) <= 3
    }

    #[inline(always)]
    fn sixteen_instructions() {
        // SAFETY: does nothing, sixteen times.
        unsafe {
            asm!(
                "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop",
                "nop", "nop", "nop", "nop",
            );
        }
    }

    fn run() -> bool {
        measure("failures", &FAILURES);
        measure("consecutive", &CONSECUTIVE);
        measure("calls", &CALLS);
        measure("many-calls", &MANY_CALLS);
        measure("time", &TIME);
        counts_right()
    }

    embedded_example::entry!(run);
}
