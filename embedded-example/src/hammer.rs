//! Two contexts at one breaker, with every outcome, late outcomes and resets.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use nanobreaker_core::window::Window;
use nanobreaker_core::{Breaker, Clock, Config, Outcome, Phase, Rejected, Token, checked};

use crate::board;

/// A breaker to hammer.
pub type HammerBreaker<W> = Breaker<W, PassingTime>;

/// Calls that the main loop makes on each breaker; the interrupt adds its own.
const MAIN_CALLS: u32 = 500_000;
/// Probes in flight at most.
const PROBES: u32 = 2;
/// Longer than any open time, lease or ramp below.
const LONG_MS: u32 = 100;

/// Times so short that a run goes through every phase thousands of times.
pub const fn config() -> Config {
    checked!(
        Config::builder()
            .open_for_ms(4)
            .max_open_ms(16)
            .max_probes(PROBES)
            .probe_successes(2)
            .probe_failures(2)
            .probe_lease_ms(16)
            .ramp_ms(8)
            .build()
    )
}

/// A clock that moves with the blows: the interrupt steps it.
#[derive(Debug)]
pub struct PassingTime;

static NOW: AtomicU32 = AtomicU32::new(0);

impl Clock for PassingTime {
    fn now_ms(&self) -> u64 {
        u64::from(NOW.load(Relaxed))
    }
}

/// What happened to one breaker.
#[derive(Clone, Copy, Debug)]
pub struct Blows {
    /// Calls of the main loop.
    pub main: u32,
    /// Calls of the interrupt.
    pub interrupt: u32,
    /// Calls rejected, of both.
    pub rejected: u32,
    /// The most probes in flight that the interrupt saw.
    pub most_in_flight: u32,
    works_after_all: bool,
}

impl Blows {
    /// Whether the breaker kept its promises.
    pub fn held(&self) -> bool {
        self.works_after_all
            && self.most_in_flight <= PROBES
            && self.rejected > 0
            && self.interrupt > self.main / 100
    }
}

// What the interrupt counts and remembers. It is the only writer while it runs.
static STRIKES: AtomicU32 = AtomicU32::new(0);
static REJECTED: AtomicU32 = AtomicU32::new(0);
static MOST_IN_FLIGHT: AtomicU32 = AtomicU32::new(0);
static SEED: AtomicU32 = AtomicU32::new(0x2545_F491);

/// The interrupt's part: two calls, and now and then what an operator does.
pub fn strike<W: Window>(breaker: &'static HammerBreaker<W>) {
    let mut dice = Dice(SEED.load(Relaxed));
    NOW.store(NOW.load(Relaxed).wrapping_add(dice.below(2)), Relaxed);
    for _ in 0..2 {
        let rejected = call(breaker, &mut dice).is_err();
        STRIKES.store(STRIKES.load(Relaxed) + 1, Relaxed);
        REJECTED.store(REJECTED.load(Relaxed) + u32::from(rejected), Relaxed);
    }
    match dice.below(64) {
        0 => breaker.reset(),
        1 => drop(breaker.trip()),
        2 => breaker.shadow(dice.below(4) == 0),
        3 => drop(breaker.allow()), // a call that is cancelled
        _ => {}
    }
    let in_flight = u32::from(breaker.snapshot().in_flight);
    MOST_IN_FLIGHT.store(MOST_IN_FLIGHT.load(Relaxed).max(in_flight), Relaxed);
    board::next_interrupt_after(500 + dice.below(2_048));
    SEED.store(dice.0, Relaxed);
}

/// Hammers `breaker` from here, while `interrupt` does from the timer's interrupt; then looks
/// whether it still works.
pub fn run<W: Window>(breaker: &'static HammerBreaker<W>, interrupt: fn()) -> Blows {
    for counter in [&STRIKES, &REJECTED, &MOST_IN_FLIGHT] {
        counter.store(0, Relaxed);
    }
    let mut dice = Dice(0x9E37_79B9);
    let mut rejected = 0;
    board::hammer_with(interrupt, || {
        // A token kept over many calls: its outcome is late, and often stale.
        let mut kept: Option<Token> = None;
        for _ in 0..MAIN_CALLS {
            rejected += u32::from(call(breaker, &mut dice).is_err());
            match dice.below(32) {
                0 => {
                    if let Some(token) = kept.take() {
                        breaker.record(token, dice.outcome());
                    }
                    kept = breaker.allow_token().ok();
                }
                1 => drop(breaker.allow()),
                _ => {}
            }
        }
        if let Some(token) = kept {
            breaker.record(token, Outcome::Success);
        }
    });
    Blows {
        main: MAIN_CALLS,
        interrupt: STRIKES.load(Relaxed),
        rejected: rejected + REJECTED.load(Relaxed),
        most_in_flight: MOST_IN_FLIGHT.load(Relaxed),
        works_after_all: still_works(breaker),
    }
}

/// One call whose outcome the dice say.
fn call<W: Window>(breaker: &HammerBreaker<W>, dice: &mut Dice) -> Result<(), Rejected> {
    let token = breaker.allow_token()?;
    breaker.record(token, dice.outcome());
    Ok(())
}

/// Every call was recorded, so nothing may be in flight; then one full turn: trip, probe, close.
fn still_works<W: Window>(breaker: &HammerBreaker<W>) -> bool {
    breaker.shadow(false);
    let none_in_flight = breaker.snapshot().in_flight == 0;
    breaker.reset();
    let closed = breaker.snapshot().phase == Phase::Closed;

    for _ in 0..200 {
        if let Ok(permit) = breaker.allow() {
            permit.failure();
        }
    }
    let tripped = breaker.snapshot().phase == Phase::Open && breaker.allow().is_err();

    let mut probed = false;
    for _ in 0..100 {
        NOW.store(NOW.load(Relaxed).wrapping_add(LONG_MS), Relaxed);
        if let Ok(permit) = breaker.allow() {
            probed |= permit.is_probe();
            permit.success();
        }
    }
    none_in_flight && closed && tripped && probed && breaker.snapshot().phase == Phase::Closed
}

/// Marsaglia's xorshift32: the same blows in each run.
struct Dice(u32);

impl Dice {
    /// A number below a power of two.
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 >> 8) & (bound - 1)
    }

    /// Mostly success, or everything would be rejected all the time.
    fn outcome(&mut self) -> Outcome {
        match self.below(32) {
            0..7 => Outcome::Failure,
            7 => Outcome::Slow,
            8 => Outcome::Ignored,
            9 => Outcome::Cancelled,
            _ => Outcome::Success,
        }
    }
}
