//! The smallest firmware with one breaker, and the same without: `size.sh` compares them.
//!
//! The environment's `SIZED` says at build time which window it has. Two things keep the comparison
//! honest:
//!
//! * Every input is hidden from the compiler, so it can't find out that the device never fails and
//!   drop what is for failures.
//! * The firmware plays a script of failures and looks whether the breaker walked its window,
//!   tripped, rejected, probed and closed. `size.sh` runs it: a path that is not in the firmware
//!   can't have been taken.
//!
//! A panic does not link: its handler calls a function that nobody defines, so nothing here, and
//! nothing in the core that is used here, can panic.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(not(target_os = "none"))]
fn main() {
    println!("firmware only: see size.sh");
}

#[cfg(target_os = "none")]
mod firmware {
    use core::hint::black_box;
    use core::panic::PanicInfo;
    use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[allow(unused_imports, reason = "each build names some of them")]
    use nanobreaker_core::{
        Breaker, Clock, Config, ConfigBuilder, Outcome, Rate, Settings, WindowSettings, checked, window,
    };
    #[allow(unused_imports, reason = "each build names some of them")]
    use nanobreaker_embedded::{
        OneWordBreaker,
        clock::{TickClock, TickSource},
    };

    #[cfg(target_arch = "arm")]
    use cortex_m_rt::entry;
    #[cfg(target_arch = "riscv32")]
    use riscv_rt::entry;
    // The binary chooses how compare-and-swap is made up for; the empty one has it linked too.
    #[cfg(target_arch = "arm")]
    use cortex_m as _;
    #[cfg(target_arch = "riscv32")]
    use riscv as _;

    static MILLISECONDS: AtomicU32 = AtomicU32::new(1_000);

    #[cfg(not(any(sized = "nothing", sized = "failures-ticks")))]
    struct Uptime;
    #[cfg(not(any(sized = "nothing", sized = "failures-ticks")))]
    const UPTIME: Uptime = Uptime;
    #[cfg(not(any(sized = "nothing", sized = "failures-ticks")))]
    impl Clock for Uptime {
        fn now_ms(&self) -> u64 {
            u64::from(black_box(MILLISECONDS.load(Relaxed)))
        }
    }

    /// A timer of 16 MHz, whose 32 bits wrap.
    #[cfg(sized = "failures-ticks")]
    struct Ticks;
    #[cfg(sized = "failures-ticks")]
    impl TickSource for Ticks {
        fn ticks(&self) -> u32 {
            black_box(MILLISECONDS.load(Relaxed)).wrapping_mul(16_000)
        }
    }
    #[cfg(sized = "failures-ticks")]
    type Uptime = TickClock<16_000_000, Ticks>;
    #[cfg(sized = "failures-ticks")]
    const UPTIME: Uptime = TickClock::new(Ticks);

    #[cfg(any(sized = "failures", sized = "failures-ticks"))]
    type Window = window::Failures<5>;
    #[cfg(any(sized = "failures", sized = "failures-ticks"))]
    const WINDOW: Window = checked!(Window::within_ms(10_000));

    #[cfg(sized = "consecutive")]
    type Window = window::Consecutive;
    #[cfg(sized = "consecutive")]
    const WINDOW: Window = checked!(Window::new(5));

    #[cfg(sized = "calls")]
    type Window = window::Calls<1>;
    #[cfg(sized = "calls")]
    const WINDOW: Window = checked!(Window::new(16, Rate::percent(50).min_calls(8)));

    #[cfg(sized = "many-calls")]
    type Window = window::Calls<{ window::calls_words(100) }>;
    #[cfg(sized = "many-calls")]
    const WINDOW: Window = checked!(Window::new(100, Rate::percent(50).min_calls(20)));

    #[cfg(sized = "time")]
    type Window = window::Time<8>;
    #[cfg(sized = "time")]
    const WINDOW: Window = checked!(Window::new(10_000, 8, Rate::percent(50).min_calls(10)));

    #[cfg(sized = "cusum")]
    type Window = window::Cusum;
    #[cfg(sized = "cusum")]
    const WINDOW: Window = checked!(Window::new(nanobreaker_core::CusumSettings {
        normal_ppm: 10_000,
        broken_ppm: 200_000,
        calls_per_false_trip: 1_000_000,
        sustained_for_ms: 0,
    }));

    #[cfg(sized = "failures-preset")]
    struct Sensor;
    #[cfg(sized = "failures-preset")]
    impl window::Preset for Sensor {
        const SETTINGS: Settings = Settings {
            window: WindowSettings::Failures { threshold: 5, within_ms: 10_000 },
            opening: OPENING,
            ..Settings::DEFAULT
        };
    }
    #[cfg(sized = "failures-preset")]
    type Window = window::Fixed<Sensor, 5>;
    #[cfg(sized = "failures-preset")]
    const WINDOW: Window = window::Fixed::new();

    #[cfg(not(any(sized = "nothing", sized = "one-word")))]
    const OPENING: ConfigBuilder = Config::builder().open_for_ms(5_000).max_open_ms(60_000);
    #[cfg(not(any(sized = "nothing", sized = "one-word", sized = "failures-preset")))]
    const CONFIG: Config = checked!(OPENING.build());
    #[cfg(sized = "failures-preset")]
    const CONFIG: () = ();

    /// Whether failures three seconds apart are forgotten before they are enough.
    const FORGETS: bool =
        cfg!(any(sized = "failures", sized = "failures-ticks", sized = "failures-preset", sized = "time"));

    /// The open time after a probe that failed: twice as long, or the same.
    const SECOND_MS: u32 = if cfg!(sized = "one-word") { 5_000 } else { 10_000 };
    /// How late an open time may end.
    const LATE_MS: u32 = if cfg!(sized = "one-word") { 256 } else { 0 };

    #[cfg(not(any(sized = "nothing", sized = "one-word")))]
    static BREAKER: Breaker<Window, Uptime> = Breaker::new(WINDOW, CONFIG, UPTIME);
    #[cfg(sized = "one-word")]
    static BREAKER: OneWordBreaker<5, 5_000, Uptime> = OneWordBreaker::new(UPTIME);

    /// A call of a device that answers or fails: 0 when it was made, else when to ask again.
    #[inline(never)]
    fn call(device_answers: bool) -> u32 {
        #[cfg(not(sized = "nothing"))]
        match BREAKER.allow_token() {
            Ok(token) => {
                let outcome = if black_box(device_answers) { Outcome::Success } else { Outcome::Failure };
                BREAKER.record(token, outcome);
            }
            Err(rejected) => return rejected.retry_after_ms().unwrap_or(u32::MAX),
        }
        u32::from(black_box(device_answers)) & 0
    }

    /// Part of the script: after a pause, so many calls so far apart of a device in one state.
    struct Act {
        pause_ms: u32,
        calls: u32,
        apart_ms: u32,
        answers: bool,
        /// How many calls are made at least and at most; the others are rejected.
        made: (u32, u32),
        /// Where calls are rejected: what the last is told, at most.
        retry_after_ms: u32,
    }

    static SCRIPT: [Act; 7] = [
        // Healthy.
        act(0, 8, 0, true, (8, 8), 0),
        // It trips before the last call.
        act(0, 32, 0, false, (1, 31), 5_000 + LATE_MS),
        // Open: the device is not asked.
        act(2_000, 4, 0, false, (0, 0), 3_000 + LATE_MS),
        // The probe fails, and it opens again.
        act(3_000 + LATE_MS, 4, 0, false, (1, 1), SECOND_MS + LATE_MS),
        act(SECOND_MS - 4_000, 4, 0, true, (0, 0), 4_000 + LATE_MS),
        // The probe succeeds, and it is closed.
        act(4_000 + LATE_MS, 8, 0, true, (8, 8), 0),
        // Rare failures: forgotten in time, or not.
        act(20_000, 32, 3_000, false, if FORGETS { (32, 32) } else { (1, 31) }, 60_000),
    ];

    const fn act(
        pause_ms: u32,
        calls: u32,
        apart_ms: u32,
        answers: bool,
        made: (u32, u32),
        retry_after_ms: u32,
    ) -> Act {
        Act { pause_ms, calls, apart_ms, answers, made, retry_after_ms }
    }

    fn pass(ms: u32) {
        MILLISECONDS.store(MILLISECONDS.load(Relaxed).wrapping_add(ms), Relaxed);
    }

    /// Plays one act; whether the breaker did as it should.
    fn play(act: &Act) -> bool {
        pass(act.pause_ms);
        let (mut made, mut retry_after_ms) = (0, 0);
        for _ in 0..act.calls {
            retry_after_ms = call(act.answers);
            made += u32::from(retry_after_ms == 0);
            pass(act.apart_ms);
        }
        made >= act.made.0 && made <= act.made.1 && retry_after_ms <= act.retry_after_ms
    }

    #[entry]
    fn main() -> ! {
        let mut held = true;
        for act in black_box(&SCRIPT) {
            held &= play(act);
        }
        exit(held)
    }

    #[cfg(target_arch = "arm")]
    fn exit(held: bool) -> ! {
        use cortex_m_semihosting::debug::{EXIT_FAILURE, EXIT_SUCCESS, exit};

        loop {
            exit(if held { EXIT_SUCCESS } else { EXIT_FAILURE });
        }
    }

    #[cfg(target_arch = "riscv32")]
    fn exit(held: bool) -> ! {
        semihosting::process::exit(i32::from(!held))
    }

    unsafe extern "C" {
        /// Defined nowhere.
        safe fn this_firmware_can_panic() -> !;
    }

    #[panic_handler]
    fn panic(_: &PanicInfo<'_>) -> ! {
        this_firmware_can_panic()
    }
}
