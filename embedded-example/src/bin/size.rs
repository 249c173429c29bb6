//! The smallest firmware with one breaker, and the same without: `size.sh` compares them.
//!
//! The environment's `SIZED` says at build time which window it has. A panic does not link: its
//! handler calls a function that nobody defines, so nothing here, and nothing in the core that is
//! used here, can panic.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(not(target_os = "none"))]
fn main() {
    println!("firmware only: see size.sh");
}

#[cfg(target_os = "none")]
mod firmware {
    use core::panic::PanicInfo;
    use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use cortex_m_rt::{entry, exception};
    #[cfg(not(sized = "nothing"))]
    use nanobreaker_core::{Breaker, Clock, Config, Outcome, checked, window};
    // The binary chooses how compare-and-swap is made up for; the empty one has it linked too.
    use cortex_m as _;

    static MILLISECONDS: AtomicU32 = AtomicU32::new(0);
    /// The device's status register, as it were.
    static DEVICE: AtomicU32 = AtomicU32::new(0);
    /// Where the loop leaves what it learnt.
    static RETRY_AFTER: AtomicU32 = AtomicU32::new(0);

    #[exception]
    fn SysTick() {
        MILLISECONDS.store(MILLISECONDS.load(Relaxed).wrapping_add(1), Relaxed);
    }

    fn device_answers() -> bool {
        DEVICE.load(Relaxed) == 0
    }

    #[cfg(not(sized = "nothing"))]
    struct Uptime;

    #[cfg(not(sized = "nothing"))]
    impl Clock for Uptime {
        fn now_ms(&self) -> u64 {
            u64::from(MILLISECONDS.load(Relaxed))
        }
    }

    #[cfg(sized = "failures")]
    type Window = window::Failures<5>;
    #[cfg(sized = "failures")]
    const WINDOW: Window = checked!(Window::new(5, 10_000));

    #[cfg(sized = "consecutive")]
    type Window = window::Consecutive;
    #[cfg(sized = "consecutive")]
    const WINDOW: Window = checked!(Window::new(5));

    #[cfg(sized = "calls")]
    type Window = window::Calls<1>;
    #[cfg(sized = "calls")]
    const WINDOW: Window = checked!(Window::new(16, 50, 8));

    #[cfg(sized = "many-calls")]
    type Window = window::Calls<{ window::calls_words(100) }>;
    #[cfg(sized = "many-calls")]
    const WINDOW: Window = checked!(Window::new(100, 50, 20));

    #[cfg(sized = "time")]
    type Window = window::Time<8>;
    #[cfg(sized = "time")]
    const WINDOW: Window = checked!(Window::new(10_000, 8, 50, 10));

    #[cfg(not(sized = "nothing"))]
    static BREAKER: Breaker<Window, Uptime> = Breaker::new(
        WINDOW,
        checked!(
            Config::builder()
                .open_for_ms(5_000)
                .max_open_ms(60_000)
                .build()
        ),
        Uptime,
    );

    #[entry]
    fn main() -> ! {
        loop {
            #[cfg(sized = "nothing")]
            RETRY_AFTER.store(u32::from(device_answers()), Relaxed);

            #[cfg(not(sized = "nothing"))]
            match BREAKER.allow() {
                Ok(permit) => {
                    let outcome = if device_answers() {
                        Outcome::Success
                    } else {
                        Outcome::Failure
                    };
                    permit.record(outcome);
                }
                Err(rejected) => {
                    RETRY_AFTER.store(rejected.retry_after_ms().unwrap_or(0), Relaxed);
                }
            }
        }
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
