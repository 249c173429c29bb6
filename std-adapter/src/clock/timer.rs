//! A clock that a timer moves on.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use nanobreaker_core::Clock;

use crate::clock::CoarseClock;

/// How often the timer moves the clock on: the step of most coarse clocks.
const STEP: Duration = Duration::from_millis(4);

/// What the clock shows; 0 until the timer runs.
static NOW_MS: AtomicU64 = AtomicU64::new(0);

/// The time of [`CoarseClock`], copied every 4 ms by a thread of its own: reading it is one load.
///
/// For breakers that read the clock a million times a second: those with a
/// [time window](crate::window::Time), which reads it at each call, and those that reject under
/// overload. All breakers of the process share the one thread, which the first reading starts; it
/// takes some microseconds of processor time at each step.
///
/// In exchange its time can lag: by a step as a rule, and by as long as the machine keeps the thread
/// from running. All waits get longer by that much. Where no thread can be started each reading is
/// one of [`CoarseClock`]. A process that forks leaves the thread behind, and the clock stands still
/// in the child: there use [`CoarseClock`].
///
/// ```
/// use nanobreaker::{Breaker, Config, Rate, TimerClock, checked, window::Time};
///
/// static SEARCH: Breaker<Time<10>, TimerClock> = Breaker::new(
///     checked!(Time::new(10_000, 10, Rate::percent(50).min_calls(20))),
///     Config::DEFAULT,
///     TimerClock,
/// );
/// # assert!(SEARCH.allow().is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct TimerClock;

impl Clock for TimerClock {
    #[inline]
    fn now_ms(&self) -> u64 {
        // Relaxed: the time orders nothing.
        match NOW_MS.load(Ordering::Relaxed) {
            0 => start(),
            now_ms => now_ms,
        }
    }
}

/// Starts the timer, once. Returns the time.
#[cold]
fn start() -> u64 {
    static TIMER: Once = Once::new();
    TIMER.call_once(|| {
        // Where it can't be started there is the answer below.
        let _ = thread::Builder::new().name("nanobreaker-timer".into()).spawn(|| {
            loop {
                // Relaxed: see above. Never 0, which would stand for a timer that does not run.
                NOW_MS.store(CoarseClock.now_ms().max(1), Ordering::Relaxed);
                thread::sleep(STEP);
            }
        });
    });
    CoarseClock.now_ms()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn it_follows_the_coarse_clock() {
        let before = CoarseClock.now_ms();
        let deadline = Instant::now() + Duration::from_secs(10);
        while TimerClock.now_ms() < before + 50 {
            assert!(Instant::now() < deadline, "stands still");
            thread::yield_now();
        }
        assert!(TimerClock.now_ms() <= CoarseClock.now_ms(), "runs ahead");
    }
}
