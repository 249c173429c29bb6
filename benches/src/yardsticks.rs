//! What the numbers are held against: the least that the machine can do, in the same loop.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use parking_lot::Mutex;

use crate::subject::{Answer, Limits, Peer, Work, admitted, perform};

/// The name of all yardsticks in the table.
pub const WHO: &str = "yardstick";

macro_rules! yardstick {
    ($(#[$doc:meta])* $name:ident($state:ty) = $new:expr, |$self:ident, $work:ident| $call:expr) => {
        $(#[$doc])*
        pub struct $name($state);

        impl Peer for $name {
            const WHO: &'static str = WHO;

            fn build(_: Limits) -> Self {
                Self($new)
            }

            fn caller(&self) -> impl FnMut(Work) -> Answer {
                let $self = self;
                move |$work| $call
            }
        }
    };
}

yardstick!(
    /// The loop, the protected call and nothing else.
    Nothing(()) = (), |_this, work| admitted(perform(work))
);
yardstick!(
    /// One relaxed load and a branch on it.
    OneLoad(AtomicU64) = AtomicU64::new(0), |this, work| {
        if this.0.load(Relaxed) != 0 {
            return Answer::Rejected;
        }
        admitted(perform(work))
    }
);
yardstick!(
    /// A relaxed load and a branch before the call, and the same again after it.
    TwoLoads(AtomicU64) = AtomicU64::new(0), |this, work| {
        if this.0.load(Relaxed) != 0 {
            return Answer::Rejected;
        }
        let done = perform(work);
        if this.0.load(Relaxed) != 0 {
            return Answer::Rejected;
        }
        admitted(done)
    }
);
yardstick!(
    /// One relaxed read-modify-write.
    FetchAdd(AtomicU64) = AtomicU64::new(0), |this, work| {
        black_box(this.0.fetch_add(1, Relaxed));
        admitted(perform(work))
    }
);
yardstick!(
    /// The standard clock.
    InstantNow(()) = (), |_this, work| {
        black_box(Instant::now());
        admitted(perform(work))
    }
);
yardstick!(
    /// The coarse monotonic clock, read as bare as it gets.
    CoarseNow(()) = (), |_this, work| {
        black_box(coarse_now_ms());
        admitted(perform(work))
    }
);
yardstick!(
    /// The coarse monotonic clock as the adapter reads it.
    CoarseClockNow(()) = (),
    |_this, work| {
        black_box(nanobreaker::Clock::now_ms(&nanobreaker::CoarseClock));
        admitted(perform(work))
    }
);
yardstick!(
    /// The clock of the failure rows, which each thread moves for itself.
    Steps(()) = (), |_this, work| {
        black_box(step());
        admitted(perform(work))
    }
);
yardstick!(
    /// The clock that a timer moves on.
    TimerClockNow(()) = (), |_this, work| {
        black_box(nanobreaker::Clock::now_ms(&nanobreaker::TimerClock));
        admitted(perform(work))
    }
);
yardstick!(
    /// Locking and unlocking a parking_lot mutex around a counter.
    LockMutex(Mutex<u64>) = Mutex::new(0), |this, work| {
        *this.0.lock() += 1;
        admitted(perform(work))
    }
);

/// Milliseconds of the coarse monotonic clock; of the standard one where there is none.
#[cfg(target_os = "linux")]
#[inline]
pub fn coarse_now_ms() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec that lives across the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &mut now) };
    now.tv_sec as u64 * 1_000 + now.tv_nsec as u64 / 1_000_000
}

/// Milliseconds of the coarse monotonic clock; of the standard one where there is none.
#[cfg(not(target_os = "linux"))]
#[inline]
pub fn coarse_now_ms() -> u64 {
    standard_now().as_millis() as u64
}

/// A number that is one more at each call, for each thread.
#[inline]
pub fn step() -> u64 {
    thread_local! {
        static STEPS: Cell<u64> = const { Cell::new(0) };
    }
    STEPS.with(|steps| {
        let step = steps.get() + 1;
        steps.set(step);
        step
    })
}

#[cfg(not(target_os = "linux"))]
fn standard_now() -> std::time::Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
