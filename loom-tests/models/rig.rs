//! What every model has: a breaker, a clock, and a log of transitions.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use nanobreaker_core::{
    AdjustError, Breaker, Cause, Clock, Config, ConfigBuilder, Observer, Outcome, Phase, Recorded, Settings,
    Token, Transition, WindowSettings,
    window::{Adjustable, Consecutive, Window},
};

use crate::clocks::{OwnTime, Time};
use crate::explore::actor;

pub(crate) const OPEN_MS: u64 = 1_000;
/// Ends, `OPEN_MS` after time 0, on a whole unit of a narrow word's lease too.
pub(crate) const LEASE_MS: u64 = 472;
pub(crate) const RAMP_MS: u64 = 500;

/// Keeps every transition with the actor that was told of it. Not modelled: loom switches threads
/// at its own atomics only.
#[derive(Debug, Default)]
pub(crate) struct Log(Mutex<Vec<(usize, Transition)>>);

impl Observer for Log {
    fn transition(&self, transition: &Transition) {
        if !loom::is_stopped() {
            self.0.lock().unwrap().push((actor(), *transition));
        }
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
            let [(_, before), (_, after)] = pair else { unreachable!("windows of two") };
            let key = |t: &Transition| (t.generation, rank(t.to));
            assert_ne!(key(before), key(after), "told twice: {before:?}, {after:?}");
            assert_eq!(before.to, after.from, "not in a row: {before:?}, {after:?}");
        }
        log
    }
}

/// A breaker under a model.
pub(crate) struct Rig<W: Window, C = Time> {
    pub(crate) breaker: Breaker<W, C, Log>,
    /// Calls between their permit and their outcome, as the callers see it.
    calls: AtomicUsize,
    /// Permits that the setup took for its actors.
    pub(crate) tokens: Vec<Token>,
}

/// A configuration in whole milliseconds on both widths.
pub(crate) fn config() -> ConfigBuilder {
    Config::builder().open_for_ms(OPEN_MS).probe_lease_ms(LEASE_MS)
}

fn built(config: ConfigBuilder) -> Config {
    config.build().expect("a valid configuration")
}

impl<W: Window<Settings = Config>> Rig<W> {
    /// Closed, at time 0, which stands still.
    pub(crate) fn new(window: W, config: ConfigBuilder) -> Self {
        Self::of(window, built(config), Time::still())
    }
}

impl<W: Window<Settings = Config>> Rig<W, OwnTime> {
    /// Closed, with a clock that each thread reads for itself.
    pub(crate) fn with_own_times(window: W, config: ConfigBuilder) -> Self {
        Self::of(window, built(config), OwnTime)
    }
}

impl<W: Window, C> Rig<W, C> {
    fn of(window: W, settings: W::Settings, clock: C) -> Self {
        Self {
            breaker: Breaker::with_observer(window, settings, clock, Log::default()),
            calls: AtomicUsize::new(0),
            tokens: Vec::new(),
        }
    }
}

impl<W: Window> Rig<W> {
    /// It is `ms` now.
    pub(crate) fn at(&self, ms: u64) {
        self.breaker.clock().go_on_to(ms);
    }

    /// The same at `ms`.
    pub(crate) fn when_it_is(self, ms: u64) -> Self {
        self.at(ms);
        self
    }

    /// From here on threads let the time go on while others run.
    pub(crate) fn in_moving_time(self) -> Self {
        self.breaker.clock().start();
        self
    }

    /// Promise 6: with time moving on from now and calls arriving, a probe is admitted, and
    /// when its like succeed the breaker closes.
    pub(crate) fn is_not_wedged(&self) {
        self.is_not_wedged_where_callers_come_every(OPEN_MS);
    }

    /// The same for callers with this period.
    pub(crate) fn is_not_wedged_where_callers_come_every(&self, period_ms: u64) {
        for _ in 0..16 {
            if self.phase() == Phase::Closed {
                return;
            }
            match self.breaker.allow_token() {
                Ok(token) => {
                    self.breaker.record(token, Outcome::Success);
                }
                Err(_) => self.at(self.breaker.clock().now_ms() + period_ms),
            }
        }
        panic!("wedged: {:?}", self.breaker.snapshot());
    }
}

impl<W: Window, C: Clock> Rig<W, C> {
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

    /// The outcome of the call that was admitted with permit number `token`.
    pub(crate) fn record(&self, token: usize, outcome: Outcome) -> Recorded {
        self.breaker.record(self.tokens[token], outcome)
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

    /// How many failures it takes until the breaker is no longer closed.
    pub(crate) fn failures_to_trip(&self) -> u32 {
        let mut failures = 0;
        while self.phase() == Phase::Closed {
            failures += 1;
            assert!(failures <= 100, "a lost trip");
            self.fail();
        }
        failures
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
        self.breaker.phase()
    }

    /// The causes of all transitions so far, in order, with the number of the actor that was told.
    pub(crate) fn told(&self) -> Vec<(usize, Cause)> {
        let log = self.breaker.observer().in_order();
        if let Some((_, last)) = log.last() {
            let now = self.breaker.snapshot();
            assert_eq!(last.to, now.phase);
            assert!(last.generation <= now.generation, "adjustments are not told");
        }
        log.into_iter().map(|(actor, t)| (actor, t.cause)).collect()
    }

    /// The same without the actors.
    pub(crate) fn causes(&self) -> Vec<Cause> {
        self.told().into_iter().map(|(_, cause)| cause).collect()
    }
}

impl Rig<Consecutive> {
    /// Trips on the first failure.
    pub(crate) fn touchy(config: ConfigBuilder) -> Self {
        Self::new(Consecutive::new(1).unwrap(), config)
    }

    /// Open since time 0.
    pub(crate) fn open(config: ConfigBuilder) -> Self {
        Self::touchy(config).opened()
    }

    /// Half-open since the end of its open time, with `probes` in flight.
    pub(crate) fn half_open(config: ConfigBuilder, probes: usize) -> Self {
        Self::touchy(config).half_opened(probes)
    }
}

impl<W: Window> Rig<W> {
    /// Open from now on.
    pub(crate) fn opened(self) -> Self {
        self.failures_to_trip();
        assert_eq!(self.phase(), Phase::Open);
        self
    }

    /// Half-open after an open time, with `probes` in flight.
    pub(crate) fn half_opened(self, probes: usize) -> Self {
        let rig = self.opened();
        rig.at(rig.breaker.clock().now_ms() + OPEN_MS);
        let rig = rig.with_tokens(probes);
        assert_eq!(rig.phase(), Phase::HalfOpen);
        assert!(rig.tokens.iter().all(|token| token.is_probe()));
        rig.calls.store(probes, Ordering::Relaxed);
        rig
    }

    /// Recovering since the end of an open time.
    pub(crate) fn recovering(self) -> Self {
        let mut rig = self.half_opened(1);
        let probe = rig.tokens.remove(0);
        rig.leave(probe, Outcome::Success);
        assert_eq!(rig.phase(), Phase::Recovering);
        rig
    }
}

/// A breaker whose settings can be replaced.
pub(crate) type Adjusted = Rig<Adjustable<5>>;

/// `threshold` failures in a row trip.
pub(crate) fn in_a_row(threshold: u32, opening: ConfigBuilder) -> Settings {
    Settings { window: WindowSettings::Consecutive { threshold }, opening, ..Settings::DEFAULT }
}

impl Adjusted {
    /// Closed, at time 0, with these settings.
    pub(crate) fn adjustable(settings: &Settings) -> Self {
        let window = Adjustable::new(settings).expect("valid settings");
        Self::of(window, (), Time::still())
    }

    /// Puts other settings in force; returns whether nobody else did so at this moment.
    pub(crate) fn adjust(&self, settings: &Settings) -> bool {
        match self.breaker.adjust(settings) {
            Ok(()) => true,
            Err(AdjustError::Busy) => false,
            Err(AdjustError::Settings(error)) => panic!("{error}"),
        }
    }
}
