//! The healthy path of each window as one function with a name that disassemblers show.
//!
//! `no_std`, so that it also compiles for microcontrollers. The clock is never read on these paths except by
//! the time window, which is here as the counter-example: it must be seen to write.

#![no_std]

use nanobreaker_core::window::{Calls, Consecutive, Cusum, Failures, Time, Window};
use nanobreaker_core::{Breaker, Clock, Config, CusumSettings, Outcome, Rate, Recorded, checked};

/// A clock that stands still.
pub struct Still;

impl Clock for Still {
    #[inline]
    fn now_ms(&self) -> u64 {
        0
    }
}

/// The failure ring.
#[unsafe(no_mangle)]
pub static FAILURES: Breaker<Failures<8>, Still> =
    Breaker::new(checked!(Failures::within_ms(10_000)), Config::DEFAULT, Still);
/// The consecutive window.
#[unsafe(no_mangle)]
pub static CONSECUTIVE: Breaker<Consecutive, Still> =
    Breaker::new(checked!(Consecutive::new(5)), Config::DEFAULT, Still);
/// The cumulative sum.
#[unsafe(no_mangle)]
pub static CUSUM: Breaker<Cusum, Still> = Breaker::new(
    checked!(Cusum::new(CusumSettings {
        normal_ppm: 20_000,
        broken_ppm: 500_000,
        calls_per_false_trip: 500_000_000,
        sustained_for_ms: 0,
    })),
    Config::DEFAULT,
    Still,
);
/// The calls window.
#[unsafe(no_mangle)]
pub static CALLS: Breaker<Calls<1>, Still> =
    Breaker::new(checked!(Calls::new(15, Rate::percent(50).min_calls(10))), Config::DEFAULT, Still);
/// The time window.
#[unsafe(no_mangle)]
pub static TIME: Breaker<Time<10>, Still> =
    Breaker::new(checked!(Time::new(10_000, 10, Rate::percent(50).min_calls(20))), Config::DEFAULT, Still);

#[inline(always)]
fn healthy<W: Window<Settings = Config>>(breaker: &Breaker<W, Still>) -> bool {
    match breaker.allow() {
        Ok(permit) => permit.record(Outcome::Success) == Recorded::Counted,
        Err(_) => false,
    }
}

/// One healthy call with the failure ring.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn healthy_failures(breaker: &Breaker<Failures<8>, Still>) -> bool {
    healthy(breaker)
}

/// One healthy call with the consecutive window.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn healthy_consecutive(breaker: &Breaker<Consecutive, Still>) -> bool {
    healthy(breaker)
}

/// One healthy call with the cumulative sum.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn healthy_cusum(breaker: &Breaker<Cusum, Still>) -> bool {
    healthy(breaker)
}

/// One healthy call with the calls window.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn healthy_calls(breaker: &Breaker<Calls<1>, Still>) -> bool {
    healthy(breaker)
}

/// One healthy call with the time window, which writes.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn healthy_time(breaker: &Breaker<Time<10>, Still>) -> bool {
    healthy(breaker)
}
