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
    use nanobreaker_core::window::{
        Calls, Consecutive, Cusum, Failures, Fixed, Preset, Time, Window, calls_words,
    };
    use nanobreaker_core::{
        Breaker, Clock, Config, ConfigBuilder, CusumSettings, Outcome, Phase, Rate, Rejected, Settings,
        Token, WindowSettings, checked,
    };
    use nanobreaker_embedded::OneWordBreaker;
    use nanobreaker_embedded::clock::{TickClock, TickSource};

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

    /// The same as a timer of 16 MHz.
    struct Ticks;

    impl TickSource for Ticks {
        #[inline]
        fn ticks(&self) -> u32 {
            MILLISECONDS.load(Relaxed).wrapping_mul(16_000)
        }
    }

    type Measured<W> = Breaker<W, Uptime>;

    /// As in the firmware whose size is measured.
    const OPENING: ConfigBuilder = Config::builder().open_for_ms(5_000).max_open_ms(60_000);
    const CONFIG: Config = checked!(OPENING.build());

    struct Sensor;
    impl Preset for Sensor {
        const SETTINGS: Settings = Settings {
            window: WindowSettings::Failures { threshold: 5, within_ms: 10_000 },
            opening: OPENING,
            ..Settings::DEFAULT
        };
    }

    static FAILURES: Measured<Failures<5>> =
        Breaker::new(checked!(Failures::within_ms(10_000)), CONFIG, Uptime);
    static PRESET: Measured<Fixed<Sensor, 5>> = Breaker::new(Fixed::new(), (), Uptime);
    static TICKS: Breaker<Failures<5>, TickClock<16_000_000, Ticks>> =
        Breaker::new(checked!(Failures::within_ms(10_000)), CONFIG, TickClock::new(Ticks));
    static ONE_WORD: OneWordBreaker<5, 5_000, Uptime> = OneWordBreaker::new(Uptime);
    static CUSUM: Measured<Cusum> = Breaker::new(
        checked!(Cusum::new(CusumSettings {
            normal_ppm: 10_000,
            broken_ppm: 200_000,
            calls_per_false_trip: 1_000_000,
            sustained_for_ms: 0,
        })),
        CONFIG,
        Uptime,
    );
    static CONSECUTIVE: Measured<Consecutive> = Breaker::new(checked!(Consecutive::new(5)), CONFIG, Uptime);
    static CALLS: Measured<Calls<1>> =
        Breaker::new(checked!(Calls::new(16, Rate::percent(50).min_calls(8))), CONFIG, Uptime);
    static MANY_CALLS: Measured<Calls<{ calls_words(100) }>> =
        Breaker::new(checked!(Calls::new(100, Rate::percent(50).min_calls(20))), CONFIG, Uptime);
    static TIME: Measured<Time<8>> =
        Breaker::new(checked!(Time::new(10_000, 8, Rate::percent(50).min_calls(10))), CONFIG, Uptime);

    /// A breaker that is measured.
    trait Subject {
        fn allow_token(&self) -> Result<Token, Rejected>;
        fn record(&self, token: Token, outcome: Outcome);
        fn phase(&self) -> Phase;
        /// Closed, with an empty window.
        fn start_over(&self);
    }

    impl<W: Window, C: Clock> Subject for Breaker<W, C> {
        #[inline(always)]
        fn allow_token(&self) -> Result<Token, Rejected> {
            self.allow_token()
        }
        #[inline(always)]
        fn record(&self, token: Token, outcome: Outcome) {
            self.record(token, outcome);
        }
        fn phase(&self) -> Phase {
            self.phase()
        }
        fn start_over(&self) {
            self.reset();
        }
    }

    impl<const K: u32, const MS: u32, C: Clock> Subject for OneWordBreaker<K, MS, C> {
        #[inline(always)]
        fn allow_token(&self) -> Result<Token, Rejected> {
            self.allow_token()
        }
        #[inline(always)]
        fn record(&self, token: Token, outcome: Outcome) {
            self.record(token, outcome);
        }
        fn phase(&self) -> Phase {
            self.phase()
        }
        fn start_over(&self) {
            pass(2 * MS);
            call(self, Outcome::Success);
        }
    }

    fn pass(ms: u32) {
        MILLISECONDS.store(MILLISECONDS.load(Relaxed).wrapping_add(ms), Relaxed);
    }

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
    fn call(breaker: &impl Subject, outcome: Outcome) {
        match black_box(breaker).allow_token() {
            Ok(token) => breaker.record(token, outcome),
            Err(rejected) => {
                black_box(rejected.retry_after_ms());
            }
        }
    }

    fn measure(name: &str, breaker: &'static impl Subject) {
        for _ in 0..200 {
            call(breaker, Outcome::Success); // a window full of successes: the usual state
        }
        let allow = instructions_of_one(|| {
            black_box(black_box(breaker).allow_token().is_ok());
        });
        let success = instructions_of_one(|| call(breaker, Outcome::Success));
        let mut failures = Failing::default();
        failures.measure(breaker, 0);
        failures.measure(breaker, 3_000);
        while breaker.phase() != Phase::Open {
            call(breaker, Outcome::Failure);
        }
        let rejection = instructions_of_one(|| call(breaker, Outcome::Success));
        say!(
            "cost {name} {allow} {success} {}-{} {} {rejection}",
            failures.least,
            failures.most,
            failures.trip,
        );
    }

    /// What failures take: those that do not trip, and the one that does.
    struct Failing {
        least: u32,
        most: u32,
        trip: u32,
    }

    impl Default for Failing {
        fn default() -> Self {
            Self { least: u32::MAX, most: 0, trip: 0 }
        }
    }

    /// Failures in a row that are measured: more than any window here has room for.
    const IN_A_ROW: usize = 40;
    /// Each is measured so often, since a tick of the timer can be longer than an instruction.
    const ROWS: u32 = 50;

    impl Failing {
        /// Measures each failure of a row into an empty window, `apart_ms` apart, until it trips.
        fn measure(&mut self, breaker: &'static impl Subject, apart_ms: u32) {
            let mut instructions = [0; IN_A_ROW];
            let mut trips_at = IN_A_ROW;
            for _ in 0..ROWS {
                breaker.start_over();
                for (nth, sum) in instructions.iter_mut().enumerate() {
                    pass(apart_ms);
                    let around = board::instructions_of(|| {
                        black_box(nth);
                    });
                    let all = board::instructions_of(|| {
                        black_box(nth);
                        call(breaker, Outcome::Failure);
                    });
                    *sum += all.saturating_sub(around);
                    if breaker.phase() == Phase::Open {
                        trips_at = nth;
                        break;
                    }
                }
            }
            for (nth, sum) in instructions.iter().take(trips_at + 1).enumerate() {
                let mean = (sum + ROWS / 2) / ROWS;
                if nth == trips_at {
                    self.trip = self.trip.max(mean);
                } else {
                    self.least = self.least.min(mean);
                    self.most = self.most.max(mean);
                }
            }
        }
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
                "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop",
                "nop", "nop", "nop",
            );
        }
    }

    fn run() -> bool {
        measure("failures", &FAILURES);
        measure("failures-preset", &PRESET);
        measure("failures-ticks", &TICKS);
        measure("one-word", &ONE_WORD);
        measure("consecutive", &CONSECUTIVE);
        measure("cusum", &CUSUM);
        measure("calls", &CALLS);
        measure("many-calls", &MANY_CALLS);
        measure("time", &TIME);
        counts_right()
    }

    embedded_example::entry!(run);
}
