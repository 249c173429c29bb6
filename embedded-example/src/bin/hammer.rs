//! The main loop and the timer interrupt hammer one breaker of each window.
//!
//! A word that falls back to a spin lock hangs here within a second; one that is torn or lost shows
//! in what the breaker says afterwards. On the host a second thread stands for the interrupt.

#![cfg_attr(target_os = "none", no_std, no_main)]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use embedded_example::{hammer, say};
use hammer::{HammerBreaker, PassingTime, config};
use nanobreaker_core::window::{Calls, Consecutive, Failures, Time, WithSlow, calls_words};
use nanobreaker_core::{Breaker, Rate, checked};

/// What one word holds at most differs between chips; this needs several on each.
const MANY_CALLS: u32 = 100;

static FAILURES: HammerBreaker<Failures<5>> =
    Breaker::new(checked!(Failures::within_ms(50)), config(), PassingTime);
static CONSECUTIVE: HammerBreaker<Consecutive> =
    Breaker::new(checked!(Consecutive::new(3)), config(), PassingTime);
static CALLS: HammerBreaker<Calls<1>> =
    Breaker::new(checked!(Calls::new(16, Rate::percent(50).min_calls(8))), config(), PassingTime);
static MANY: HammerBreaker<Calls<{ calls_words(MANY_CALLS) }>> =
    Breaker::new(checked!(Calls::new(MANY_CALLS, Rate::percent(50).min_calls(20))), config(), PassingTime);
static TIME: HammerBreaker<Time<8>> =
    Breaker::new(checked!(Time::new(80, 8, Rate::percent(50).min_calls(10))), config(), PassingTime);
static SLOW: HammerBreaker<WithSlow<Failures<5>, Calls<1>>> = Breaker::new(
    WithSlow::new(
        checked!(Failures::within_ms(50)),
        checked!(Calls::new(16, Rate::percent(50).min_calls(8))),
    ),
    config(),
    PassingTime,
);

static BROKEN: AtomicU32 = AtomicU32::new(0);

fn judge(name: &str, blows: hammer::Blows) {
    say!(
        "{} {name}: {} calls of the main loop, {} of the interrupt, {} rejected, {} probes at most",
        if blows.held() { "holds: " } else { "BROKEN:" },
        blows.main,
        blows.interrupt,
        blows.rejected,
        blows.most_in_flight,
    );
    BROKEN.store(BROKEN.load(Relaxed) + u32::from(!blows.held()), Relaxed);
}

fn run() -> bool {
    judge("failures", hammer::run(&FAILURES, || hammer::strike(&FAILURES)));
    judge("consecutive", hammer::run(&CONSECUTIVE, || hammer::strike(&CONSECUTIVE)));
    judge("calls, one word", hammer::run(&CALLS, || hammer::strike(&CALLS)));
    judge("calls, many words", hammer::run(&MANY, || hammer::strike(&MANY)));
    judge("time", hammer::run(&TIME, || hammer::strike(&TIME)));
    judge("failures and slow calls", hammer::run(&SLOW, || hammer::strike(&SLOW)));
    BROKEN.load(Relaxed) == 0
}

embedded_example::entry!(run);
