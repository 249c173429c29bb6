//! Instances that call a dependency, each a part of one fleet or by itself, on time that stands still between events.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use nanobreaker_fleet::Fleet;
use nanobreaker_fleet::nanobreaker::{Cause, Outcome, Phase, SharedBreaker, Token, TokioClock, Transition};
use tokio::runtime;
use tokio::time::{Instant, sleep_until};

use crate::network::{Network, Weather};

const STEP_MS: u64 = 5;
/// How long a call takes.
const CALL: Duration = Duration::from_millis(STEP_MS);

/// What the breakers are set to.
#[derive(Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) open_ms: u64,
    pub(crate) max_open_ms: u64,
    pub(crate) probe_ms: u64,
}

/// What an instance's breaker did.
#[derive(Default)]
struct Seen {
    has_stopped: AtomicBool,
    advised: AtomicU32,
}

impl Seen {
    fn changed(&self, transition: &Transition) {
        self.has_stopped.fetch_or(transition.to == Phase::Open, Ordering::Relaxed);
        self.advised.fetch_add((transition.cause == Cause::Advised).into(), Ordering::Relaxed);
    }
}

pub(crate) struct Instance {
    pub(crate) breaker: SharedBreaker,
    fleet: Option<Fleet>,
    seen: Arc<Seen>,
    /// Between two calls, on average.
    every_ms: u64,
    next_call: Instant,
    under_way: Vec<(Token, Instant)>,
    pub(crate) is_poisoned: bool,
    is_dead: bool,
}

impl Instance {
    fn new(timing: Timing, network: Option<&Network>, quorum: u32, every_ms: u64) -> Self {
        let seen = Arc::new(Seen::default());
        let told = Arc::clone(&seen);
        let mut builder = SharedBreaker::builder()
            .name("payments")
            .failures(5, Duration::from_millis(timing.open_ms))
            .open_for(Duration::from_millis(timing.open_ms))
            .max_open(Duration::from_millis(timing.max_open_ms))
            .hung_after(Duration::from_millis(timing.probe_ms))
            .probe_successes(1)
            .probe_lease(Duration::from_millis(timing.open_ms))
            .jitter_permille(200)
            .clock(TokioClock::new())
            .on_transition(move |transition| told.changed(transition));
        let join = |network: &Network| {
            Fleet::builder("simulated").quorum(quorum).exchange(network.clone()).start().unwrap()
        };
        let fleet = network.map(join);
        if let Some(fleet) = &fleet {
            builder = builder.fleet(fleet);
        }
        let breaker = builder.build().unwrap();
        breaker.seed(fastrand::u32(..));
        let next_call = Instant::now() + Duration::from_millis(fastrand::u64(0..every_ms));
        let (under_way, is_poisoned, is_dead) = (Vec::new(), false, false);
        Self { breaker, fleet, seen, every_ms, next_call, under_way, is_poisoned, is_dead }
    }

    /// It ends, whatever is under way.
    pub(crate) fn die(&mut self) {
        self.fleet = None;
        self.is_dead = true;
    }

    pub(crate) fn has_stopped(&self) -> bool {
        self.seen.has_stopped.load(Ordering::Relaxed)
    }

    /// How often it was advised to stop.
    pub(crate) fn advised(&self) -> u32 {
        self.seen.advised.load(Ordering::Relaxed)
    }

    /// Whether the finding in force is its to probe.
    pub(crate) fn is_holder(&self) -> bool {
        self.fleet
            .as_ref()
            .is_some_and(|fleet| fleet.status().breakers.iter().any(|breaker| breaker.is_holder))
    }

    /// When it has something to do.
    fn next(&self) -> Instant {
        self.under_way.iter().map(|(_, ends)| *ends).fold(self.next_call, Instant::min)
    }
}

/// What became of calls.
#[derive(Default)]
pub(crate) struct Calls {
    /// Reached the dependency while it was down.
    pub(crate) reached: u32,
    /// Probes among them.
    pub(crate) probes: u32,
    /// Rejected while it was well.
    pub(crate) lost: u32,
    probes_at_once: usize,
    pub(crate) most_probes_at_once: usize,
}

pub(crate) struct World {
    pub(crate) instances: Vec<Instance>,
    /// When each of them has something to do next.
    agenda: BTreeSet<(Instant, usize)>,
    pub(crate) network: Option<Network>,
    pub(crate) is_down: bool,
    pub(crate) calls: Calls,
}

/// Another course of events for each seed.
pub(crate) fn simulate<T>(seed: u64, course: impl Future<Output = T>) -> T {
    fastrand::seed(seed);
    let runtime = runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(course)
}

impl World {
    pub(crate) fn new(timing: Timing, weather: Option<Weather>, quorum: u32, intervals_ms: &[u64]) -> Self {
        let network = weather.map(Network::new);
        let instance = |every_ms: &u64| Instance::new(timing, network.as_ref(), quorum, *every_ms);
        let instances: Vec<_> = intervals_ms.iter().map(instance).collect();
        let agenda =
            instances.iter().enumerate().map(|(number, instance)| (instance.next(), number)).collect();
        Self { instances, agenda, network, is_down: false, calls: Calls::default() }
    }

    pub(crate) fn network(&self) -> &Network {
        self.network.as_ref().expect("they are a fleet")
    }

    pub(crate) async fn run_for(&mut self, ms: u64) {
        let mut now = Instant::now();
        let until = now + Duration::from_millis(ms);
        while now < until {
            let next = self.agenda.first().map_or(until, |(next, _)| *next);
            // Not more often than each step.
            sleep_until(next.max(now + Duration::from_millis(STEP_MS)).min(until)).await;
            now = Instant::now();
            let later = self.agenda.split_off(&(now, usize::MAX));
            let due = std::mem::replace(&mut self.agenda, later);
            for number in due.into_iter().map(|(_, number)| number).collect::<BTreeSet<_>>() {
                if !self.instances[number].is_dead {
                    self.end_calls(number, now);
                    self.call(number, now);
                    self.agenda.insert((self.instances[number].next(), number));
                }
            }
            let Calls { probes_at_once, most_probes_at_once, .. } = &mut self.calls;
            *most_probes_at_once = (*most_probes_at_once).max(*probes_at_once);
        }
    }

    /// As [`run_for`](Self::run_for), but until it is so. Whether that came in time.
    pub(crate) async fn run_until(&mut self, most_ms: u64, is_so: impl Fn(&Self) -> bool) -> bool {
        let end = Instant::now() + Duration::from_millis(most_ms);
        while !is_so(self) {
            if Instant::now() > end {
                return false;
            }
            self.run_for(STEP_MS).await;
        }
        true
    }

    fn call(&mut self, number: usize, now: Instant) {
        let instance = &mut self.instances[number];
        if now < instance.next_call {
            return;
        }
        // As calls of many users come: the time to the next is exponentially distributed.
        let wait_ms = -(1.0 - fastrand::f64()).ln() * instance.every_ms as f64;
        instance.next_call = now + Duration::from_millis(wait_ms as u64);
        match instance.breaker.allow_token() {
            Ok(token) => {
                instance.under_way.push((token, now + CALL));
                self.calls.probes_at_once += usize::from(token.is_probe());
                self.calls.reached += u32::from(self.is_down);
                self.calls.probes += u32::from(self.is_down && token.is_probe());
            }
            Err(_) => self.calls.lost += u32::from(!self.is_down),
        }
    }

    fn end_calls(&mut self, number: usize, now: Instant) {
        let instance = &mut self.instances[number];
        let fails = self.is_down || instance.is_poisoned;
        for (token, _) in instance.under_way.extract_if(.., |(_, ends)| *ends <= now) {
            self.calls.probes_at_once -= usize::from(token.is_probe());
            instance.breaker.record(token, if fails { Outcome::Failure } else { Outcome::Success });
        }
    }

    pub(crate) fn open(&self) -> usize {
        let is_open = |instance: &&Instance| !instance.is_dead && instance.breaker.phase() != Phase::Closed;
        self.instances.iter().filter(is_open).count()
    }

    /// How often instances were advised to stop, all together.
    pub(crate) fn advised(&self) -> u32 {
        self.instances.iter().map(Instance::advised).sum()
    }
}
