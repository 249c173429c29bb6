//! What every model has: a breaker, a clock of which each thread has its own reading, and a log of
//! transitions.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use nanobreaker_core::{
    Breaker, Cause, Clock, Config, Observer, Outcome, Phase, Recorded, Token, Transition,
    window::{Consecutive, Window},
};

use crate::explore::actor;

pub(crate) const OPEN_MS: u64 = 1_000;
/// Ends, `OPEN_MS` after time 0, on a whole unit of a narrow word's lease too.
pub(crate) const LEASE_MS: u64 = 472;
pub(crate) const RAMP_MS: u64 = 500;

/// A reading that is never made.
const NEVER: u64 = u64::MAX;

loom::thread_local! {
    /// What this thread's next clock reading is, and all after that.
    static READINGS: Cell<(u64, u64)> = Cell::new((0, 0));
}

/// From here on this thread reads `ms`.
pub(crate) fn at(ms: u64) {
    READINGS.with(|readings| readings.set((ms, ms)));
}

/// From here on this thread must not read the clock.
#[cfg(not(loom_first_read_writes))]
pub(crate) fn reads_no_clock() {
    at(NEVER);
}

/// This thread reads `before` once, as if it stalled right after that, and then `after`.
pub(crate) fn stalled(before: u64, after: u64) {
    READINGS.with(|readings| readings.set((before, after)));
}

/// Each thread's own time.
#[derive(Debug)]
pub(crate) struct OwnTime;

impl Clock for OwnTime {
    fn now_ms(&self) -> u64 {
        READINGS.with(|readings| {
            let (now, then) = readings.get();
            readings.set((then, then));
            assert_ne!(now, NEVER, "the clock was read");
            now
        })
    }
}

/// Keeps every transition with the actor that was told of it. Not modelled: loom switches threads
/// at its own atomics only.
#[derive(Debug, Default)]
pub(crate) struct Log(Mutex<Vec<(usize, Transition)>>);

impl Observer for Log {
    fn transition(&self, transition: &Transition) {
        self.0.lock().unwrap().push((actor(), *transition));
    }
}

/// Where a phase stands within a generation.
fn rank(phase: Phase) -> u8 {
    match phase {
        Phase::Open | Phase::Isolated | Phase::Disabled => 0,
        Phase::HalfOpen => 1,
        Phase::Recovering => 2,
        Phase::Closed => 3,
    }
}

impl Log {
    /// The transitions in order; promise 2 holds for them: each was told once, and each begins where
    /// the one before ended.
    pub(crate) fn in_order(&self) -> Vec<(usize, Transition)> {
        let mut log = self.0.lock().unwrap().clone();
        log.sort_by_key(|(_, t)| (t.generation, rank(t.to)));
        for pair in log.windows(2) {
            let [(_, before), (_, after)] = pair else {
                unreachable!("windows of two")
            };
            let key = |t: &Transition| (t.generation, rank(t.to));
            assert_ne!(key(before), key(after), "told twice: {before:?}, {after:?}");
            assert_eq!(before.to, after.from, "not in a row: {before:?}, {after:?}");
        }
        log
    }
}

/// A breaker under a model.
pub(crate) struct Rig<W> {
    pub(crate) breaker: Breaker<W, OwnTime, Log>,
    /// Calls between their permit and their outcome, as the callers see it.
    calls: AtomicUsize,
    /// Permits that the setup took for its actors.
    pub(crate) tokens: Vec<Token>,
}

/// A configuration in whole milliseconds on both widths.
pub(crate) fn config() -> nanobreaker_core::ConfigBuilder {
    Config::builder()
        .open_for_ms(OPEN_MS)
        .probe_lease_ms(LEASE_MS)
}

impl<W: Window> Rig<W> {
    /// Closed.
    pub(crate) fn new(window: W, config: nanobreaker_core::ConfigBuilder) -> Self {
        let config = config.build().expect("a valid configuration");
        Self {
            breaker: Breaker::with_observer(window, config, OwnTime, Log::default()),
            calls: AtomicUsize::new(0),
            tokens: Vec::new(),
        }
    }

    /// The same with `count` permits for the actors.
    pub(crate) fn with_tokens(mut self, count: usize) -> Self {
        for _ in 0..count {
            self.tokens.push(self.token());
        }
        self
    }

    /// A permit that must be granted.
    pub(crate) fn token(&self) -> Token {
        self.breaker.allow_token().expect("a permit")
    }

    /// One whole call; `None` where it is rejected.
    pub(crate) fn call(&self, outcome: Outcome) -> Option<Recorded> {
        let token = self.breaker.allow_token().ok()?;
        Some(self.breaker.record(token, outcome))
    }

    /// One whole call that fails.
    pub(crate) fn fail(&self) -> Option<Recorded> {
        self.call(Outcome::Failure)
    }

    /// A probe that holds its place while others run. Promise 1: no more than `most` do so.
    pub(crate) fn enter(&self, most: usize) -> Option<Token> {
        let token = self.breaker.allow_token().ok()?;
        if token.is_probe() {
            let calls = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
            assert!(calls <= most, "{calls} probes in flight, {most} allowed");
        }
        Some(token)
    }

    /// The end of such a probe.
    pub(crate) fn leave(&self, token: Token, outcome: Outcome) -> Recorded {
        if token.is_probe() {
            self.calls.fetch_sub(1, Ordering::Relaxed);
        }
        self.breaker.record(token, outcome)
    }

    pub(crate) fn phase(&self) -> Phase {
        self.breaker.snapshot().phase
    }

    /// The causes of all transitions so far, in order, with the number of the actor that was told.
    pub(crate) fn told(&self) -> Vec<(usize, Cause)> {
        let log = self.breaker.observer().in_order();
        if let Some((_, last)) = log.last() {
            let now = self.breaker.snapshot();
            assert_eq!((last.to, last.generation), (now.phase, now.generation));
        }
        log.into_iter().map(|(actor, t)| (actor, t.cause)).collect()
    }

    /// The same without the actors.
    pub(crate) fn causes(&self) -> Vec<Cause> {
        self.told().into_iter().map(|(_, cause)| cause).collect()
    }

    /// Promise 6: with time moving on from `now_ms` and calls arriving, a probe is admitted, and
    /// when its like succeed the breaker closes.
    pub(crate) fn is_not_wedged(&self, now_ms: u64) {
        let mut now = now_ms;
        for _ in 0..16 {
            at(now);
            if self.phase() == Phase::Closed {
                return;
            }
            match self.breaker.allow_token() {
                Ok(token) => {
                    self.breaker.record(token, Outcome::Success);
                }
                Err(_) => now += OPEN_MS,
            }
        }
        panic!("wedged: {:?}", self.breaker.snapshot());
    }
}

impl Rig<Consecutive> {
    /// Trips on the first failure.
    pub(crate) fn touchy(config: nanobreaker_core::ConfigBuilder) -> Self {
        Self::new(Consecutive::new(1).unwrap(), config)
    }

    /// Open since time 0.
    pub(crate) fn open(config: nanobreaker_core::ConfigBuilder) -> Self {
        let rig = Self::touchy(config);
        at(0);
        rig.fail();
        assert_eq!(rig.phase(), Phase::Open);
        rig
    }

    /// Half-open since the end of its open time, with `probes` in flight.
    pub(crate) fn half_open(config: nanobreaker_core::ConfigBuilder, probes: usize) -> Self {
        let rig = Self::open(config);
        at(OPEN_MS);
        let rig = rig.with_tokens(probes);
        assert_eq!(rig.phase(), Phase::HalfOpen);
        assert!(rig.tokens.iter().all(|token| token.is_probe()));
        rig.calls.store(probes, Ordering::Relaxed);
        rig
    }
}
