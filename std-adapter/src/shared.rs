//! A breaker behind a handle that is cheap to clone, with what a server usually wants.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::ops::Deref;
use std::sync::Arc;
#[cfg(feature = "monitor")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nanobreaker_core::window::{Adjustable, AnyWindow, WithSlow};
use nanobreaker_core::{Breaker, Clock, Config, ConfigBuilder, ConfigError, Observer, Transition};

use crate::call::{CallExt, Caller};
use crate::clock::CoarseClock;
#[cfg(feature = "monitor")]
use crate::observe::Watch;
#[cfg(feature = "monitor")]
use nanobreaker_core::{Outcome, Recorded, Rejected, Token};

/// The words of a shared breaker's windows: enough for a threshold of 64, 1,024 calls or 32 buckets.
const WORDS: usize = 64;

/// The window of a [`SharedBreaker`]: any kind for failures, and maybe a rate of slow calls.
///
/// Both can be replaced while calls go on: see [`SharedBreaker::adjust`].
pub type SharedWindow = Adjustable<SharedRule>;

type SharedRule = WithSlow<AnyWindow<WORDS>, AnyWindow<WORDS>>;

type Listener = Box<dyn Fn(&Transition) + Send + Sync>;

/// Those who want to be told of transitions.
#[derive(Default)]
pub struct Listeners {
    listeners: Vec<Listener>,
    #[cfg(feature = "monitor")]
    watch: OnceLock<Watch>,
}

impl Observer for Listeners {
    fn transition(&self, transition: &Transition) {
        for listener in &self.listeners {
            listener(transition);
        }
        #[cfg(feature = "monitor")]
        if let Some(watch) = self.watch() {
            watch.transition(transition);
        }
    }

    #[cfg(feature = "monitor")]
    fn rejected(&self, rejected: &Rejected) {
        if let Some(watch) = self.watch() {
            watch.rejected(rejected);
        }
    }

    #[cfg(feature = "monitor")]
    #[inline]
    fn recorded(&self, token: Token, outcome: Outcome, _: Recorded) {
        if let Some(watch) = self.watch() {
            watch.recorded(token, outcome);
        }
    }
}

#[cfg(feature = "monitor")]
impl Listeners {
    #[inline]
    pub(crate) fn watch(&self) -> Option<&Watch> {
        self.watch.get()
    }

    /// Returns whether nobody watched before.
    pub(crate) fn start_watch(&self, watch: Watch) -> bool {
        self.watch.set(watch).is_ok()
    }
}

impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Listeners({})", self.listeners.len())
    }
}

/// A breaker that can be cloned and handed around: all clones are the same breaker.
///
/// It dereferences to its [`Breaker`], and makes calls through [`CallExt`]. It takes about a kilobyte,
/// since its window can be of any kind; for hundreds of thousands of breakers, or for one in a
/// `static`, build a [`Breaker`] with the very window you need.
pub struct SharedBreaker<C: Clock = CoarseClock> {
    shared: Arc<Shared<C>>,
}

pub(crate) struct Shared<C> {
    name: Arc<str>,
    breaker: Breaker<SharedWindow, C, Listeners>,
    slow_after: Limit,
    #[cfg(feature = "tokio")]
    hung_after: Limit,
}

#[cfg(feature = "monitor")]
impl<C> Shared<C> {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn breaker(&self) -> &Breaker<SharedWindow, C, Listeners> {
        &self.breaker
    }
}

#[cfg(feature = "monitor")]
impl<C: Clock> SharedBreaker<C> {
    pub(crate) fn shared(&self) -> Arc<Shared<C>> {
        Arc::clone(&self.shared)
    }

    pub(crate) fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.shared.name)
    }
}

/// A limit for calls, in milliseconds, that can be replaced while they go on.
struct Limit(AtomicU32);

impl Limit {
    const NONE: u32 = u32::MAX;

    fn new(limit: Option<Duration>) -> Self {
        Self(AtomicU32::new(Self::number(limit)))
    }

    fn number(limit: Option<Duration>) -> u32 {
        let longest = Self::NONE - 1;
        limit.map_or(Self::NONE, |limit| {
            u32::try_from(millis(limit)).unwrap_or(longest).min(longest)
        })
    }

    #[inline]
    fn get(&self) -> Option<Duration> {
        // Relaxed: each call goes by the limit that it finds.
        match self.0.load(Ordering::Relaxed) {
            Self::NONE => None,
            ms => Some(Duration::from_millis(ms.into())),
        }
    }

    fn set(&self, limit: Option<Duration>) {
        // Relaxed: as above.
        self.0.store(Self::number(limit), Ordering::Relaxed);
    }
}

impl SharedBreaker {
    /// A builder that starts with the defaults: 5 failures within 10 s trip, for 10 s.
    pub fn builder() -> SharedBreakerBuilder {
        SharedBreakerBuilder {
            name: Arc::from(""),
            clock: CoarseClock,
            window: Choice::Failures {
                threshold: 5,
                within: Duration::from_secs(10),
            },
            slow_window: None,
            config: Config::builder(),
            slow_after: None,
            #[cfg(feature = "tokio")]
            hung_after: None,
            listeners: Listeners::default(),
            #[cfg(feature = "tracing")]
            traced: false,
        }
    }
}

impl<C: Clock> SharedBreaker<C> {
    /// Its name; empty unless the builder was given one.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// How many handles there are.
    #[cfg(feature = "registry")]
    pub(crate) fn handles(&self) -> usize {
        Arc::strong_count(&self.shared)
    }

    /// Puts the settings of `builder` in place while calls go on; its clock, its name and its
    /// listeners are not taken over. Phase, generation, streak, probes in flight, permits and the
    /// calls in the window stay: see [`Breaker::adjust`].
    ///
    /// Returns whether it did: not where another thread is adjusting this breaker right now.
    ///
    /// ```
    /// # use nanobreaker::{Phase, SharedBreaker};
    /// # use std::time::Duration;
    /// let breaker = SharedBreaker::builder().failures(5, Duration::from_secs(10)).build()?;
    /// for _ in 0..3 {
    ///     breaker.allow()?.failure();
    /// }
    /// breaker.adjust(&SharedBreaker::builder().failures(4, Duration::from_secs(10)))?;
    /// breaker.allow()?.failure();
    /// assert_eq!(breaker.snapshot().phase, Phase::Open);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first setting outside its limits; nothing has changed then.
    pub fn adjust<D: Clock>(&self, builder: &SharedBreakerBuilder<D>) -> Result<bool, ConfigError> {
        let (rule, config) = (builder.rule()?, builder.config.build()?);
        let adjusted = self.shared.breaker.adjust(&rule, config);
        if adjusted {
            self.shared.slow_after.set(builder.slow_after);
            #[cfg(feature = "tokio")]
            self.shared.hung_after.set(builder.hung_after);
        }
        Ok(adjusted)
    }
}

impl<C: Clock> Clone for SharedBreaker<C> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<C: Clock> Deref for SharedBreaker<C> {
    type Target = Breaker<SharedWindow, C, Listeners>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.shared.breaker
    }
}

impl<C: Clock> fmt::Debug for SharedBreaker<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedBreaker")
            .field("name", &self.name())
            .field("snapshot", &self.snapshot())
            .finish()
    }
}

impl<C: Clock> CallExt for SharedBreaker<C> {
    type Window = SharedWindow;
    type Clock = C;
    type Observer = Listeners;

    #[inline]
    fn calls(&self) -> Caller<'_, SharedWindow, C, Listeners> {
        let caller = Caller::new(&self.shared.breaker);
        let caller = match self.shared.slow_after.get() {
            Some(limit) => caller.slow_after(limit),
            None => caller,
        };
        #[cfg(feature = "tokio")]
        if let Some(limit) = self.shared.hung_after.get() {
            return caller.hung_after(limit);
        }
        caller
    }
}

/// The kinds of window, with settings yet to be checked.
#[derive(Clone, Copy, Debug)]
enum Choice {
    Failures {
        threshold: u32,
        within: Duration,
    },
    Consecutive {
        threshold: u32,
    },
    Calls {
        size: u32,
        percent: u32,
        min_calls: u32,
    },
    Time {
        span: Duration,
        buckets: u32,
        percent: u32,
        min_calls: u32,
    },
}

impl Choice {
    fn window(self) -> Result<AnyWindow<WORDS>, ConfigError> {
        match self {
            Self::Failures { threshold, within } => AnyWindow::failures(threshold, millis(within)),
            Self::Consecutive { threshold } => AnyWindow::consecutive(threshold),
            Self::Calls {
                size,
                percent,
                min_calls,
            } => AnyWindow::calls(size, percent, min_calls),
            Self::Time {
                span,
                buckets,
                percent,
                min_calls,
            } => AnyWindow::time(millis(span), buckets, percent, min_calls),
        }
    }

    /// The same for a rate of slow calls, whose settings have names of their own.
    fn slow_window(self) -> Result<AnyWindow<WORDS>, ConfigError> {
        self.window().map_err(|error| {
            let field = match error.field() {
                "failure_rate_percent" => "slow_rate_percent",
                field => field,
            };
            ConfigError::new(field, error.value(), error.minimum(), error.maximum())
        })
    }
}

/// Whole milliseconds, rounded up, so that nothing but zero becomes zero.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// Collects the settings of a [`SharedBreaker`]; [`build`](Self::build) checks them.
///
/// Durations are rounded up to whole milliseconds. The settings of [`Config`] have its limits and
/// defaults.
#[derive(Debug)]
#[must_use = "call build() to get the breaker"]
pub struct SharedBreakerBuilder<C = CoarseClock> {
    name: Arc<str>,
    clock: C,
    window: Choice,
    slow_window: Option<Choice>,
    config: ConfigBuilder,
    slow_after: Option<Duration>,
    #[cfg(feature = "tokio")]
    hung_after: Option<Duration>,
    listeners: Listeners,
    #[cfg(feature = "tracing")]
    traced: bool,
}

impl<C: Clock> SharedBreakerBuilder<C> {
    /// What people call the dependency, in logs, metrics and on the operator's page. Empty unless
    /// set.
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Trips on `threshold` failures (at most 64) within a time: see
    /// [`Failures`](nanobreaker_core::window::Failures).
    pub fn failures(mut self, threshold: u32, within: Duration) -> Self {
        self.window = Choice::Failures { threshold, within };
        self
    }

    /// Trips on `threshold` failures in a row: see
    /// [`Consecutive`](nanobreaker_core::window::Consecutive).
    pub fn consecutive(mut self, threshold: u32) -> Self {
        self.window = Choice::Consecutive { threshold };
        self
    }

    /// Trips when `failure_rate_percent` of the last `size` calls (at most 1,024) failed: see
    /// [`CallExt`](nanobreaker_core::window::Calls).
    pub fn failure_rate_of_calls(
        mut self,
        size: u32,
        failure_rate_percent: u32,
        min_calls: u32,
    ) -> Self {
        self.window = Choice::Calls {
            size,
            percent: failure_rate_percent,
            min_calls,
        };
        self
    }

    /// Trips when `failure_rate_percent` of the calls of the last `span` failed, counted in `buckets`
    /// (at most 32): see [`Time`](nanobreaker_core::window::Time).
    pub fn failure_rate_of_time(
        mut self,
        span: Duration,
        buckets: u32,
        failure_rate_percent: u32,
        min_calls: u32,
    ) -> Self {
        self.window = Choice::Time {
            span,
            buckets,
            percent: failure_rate_percent,
            min_calls,
        };
        self
    }

    /// A call is slow when it took longer than this: see [`Caller::slow_after`]. A slow call is a
    /// failure, unless a rate of slow calls judges it.
    pub fn slow_after(mut self, limit: Duration) -> Self {
        self.slow_after = Some(limit);
        self
    }

    /// Trips also when `slow_rate_percent` of the last `size` calls were slow. Slow calls are then no
    /// failures.
    pub fn slow_rate_of_calls(mut self, size: u32, slow_rate_percent: u32, min_calls: u32) -> Self {
        self.slow_window = Some(Choice::Calls {
            size,
            percent: slow_rate_percent,
            min_calls,
        });
        self
    }

    /// Trips also when `slow_rate_percent` of the calls of the last `span` were slow. Slow calls are
    /// then no failures.
    pub fn slow_rate_of_time(
        mut self,
        span: Duration,
        buckets: u32,
        slow_rate_percent: u32,
        min_calls: u32,
    ) -> Self {
        self.slow_window = Some(Choice::Time {
            span,
            buckets,
            percent: slow_rate_percent,
            min_calls,
        });
        self
    }

    /// A call that still runs after this long is judged a failure at that moment: see
    /// [`Caller::hung_after`].
    #[cfg(feature = "tokio")]
    pub fn hung_after(mut self, limit: Duration) -> Self {
        self.hung_after = Some(limit);
        self
    }

    /// How long a first trip rejects calls.
    pub fn open_for(mut self, duration: Duration) -> Self {
        self.config = self.config.open_for_ms(millis(duration));
        self
    }

    /// What backoff may lengthen the open time to.
    pub fn max_open(mut self, duration: Duration) -> Self {
        self.config = self.config.max_open_ms(millis(duration));
        self
    }

    /// Probes in flight at once while half-open.
    pub fn probes(mut self, probes: u32) -> Self {
        self.config = self.config.probes(probes);
        self
    }

    /// Probes that must succeed to close.
    pub fn successes(mut self, successes: u32) -> Self {
        self.config = self.config.successes(successes);
        self
    }

    /// Probes that must fail to open again.
    pub fn probe_failures(mut self, failures: u32) -> Self {
        self.config = self.config.failures(failures);
        self
    }

    /// How long probes in flight may stay without any answer.
    pub fn probe_lease(mut self, duration: Duration) -> Self {
        self.config = self.config.probe_lease_ms(millis(duration));
        self
    }

    /// How long the admitted share grows after half-open; zero lets all pass at once.
    pub fn ramp(mut self, duration: Duration) -> Self {
        self.config = self.config.ramp_ms(millis(duration));
        self
    }

    /// Which part of an open time is cut off at random, in thousandths. Each breaker draws its own
    /// numbers.
    pub fn jitter_permille(mut self, permille: u32) -> Self {
        self.config = self.config.jitter_permille(permille);
        self
    }

    /// Whether a trip holds the breaker open until someone resets it.
    pub fn latch(mut self, latch: bool) -> Self {
        self.config = self.config.latch(latch);
        self
    }

    /// Tells `listener` of each transition, on the thread that made it. May be set more than once.
    ///
    /// A listener may call the breaker again. One that panics makes the call panic that made the
    /// transition, after it took place.
    pub fn on_transition(mut self, listener: impl Fn(&Transition) + Send + Sync + 'static) -> Self {
        self.listeners.listeners.push(Box::new(listener));
        self
    }

    /// Reads time from `clock`, for tests.
    pub fn clock<D: Clock>(self, clock: D) -> SharedBreakerBuilder<D> {
        SharedBreakerBuilder {
            name: self.name,
            clock,
            window: self.window,
            slow_window: self.slow_window,
            config: self.config,
            slow_after: self.slow_after,
            #[cfg(feature = "tokio")]
            hung_after: self.hung_after,
            listeners: self.listeners,
            #[cfg(feature = "tracing")]
            traced: self.traced,
        }
    }

    /// Emits an event for each transition through `tracing`, with the target `nanobreaker`: a
    /// warning where the breaker opens or is isolated, else an information. Fields: `breaker`,
    /// `generation`, `from`, `to`, `reason`, `retry_after_ms` (where it opens) and `streak`.
    #[cfg(feature = "tracing")]
    pub fn traced(mut self) -> Self {
        self.traced = true;
        self
    }

    /// Puts `config` in place of every setting of a [`Config`].
    #[cfg(feature = "settings")]
    pub(crate) fn config(mut self, config: ConfigBuilder) -> Self {
        self.config = config;
        self
    }

    /// Checks every setting.
    #[cfg(feature = "settings")]
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        self.rule()?;
        self.config.build().map(drop)
    }

    fn rule(&self) -> Result<SharedRule, ConfigError> {
        let failed = self.window.window()?;
        let slow = match self.slow_window {
            Some(choice) => choice.slow_window()?,
            None => AnyWindow::missing(),
        };
        Ok(WithSlow::new(failed, slow))
    }

    /// Checks every setting and makes the breaker.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first setting outside its limits.
    #[cfg_attr(not(feature = "tracing"), allow(unused_mut))]
    pub fn build(mut self) -> Result<SharedBreaker<C>, ConfigError> {
        #[cfg(feature = "tracing")]
        if self.traced {
            let name = Arc::clone(&self.name);
            self = self.on_transition(move |transition| {
                crate::observe::tracing::event(&name, transition);
            });
        }
        let window = Adjustable::new(self.rule()?);
        let config = self.config.build()?;
        let breaker = Breaker::with_observer(window, config, self.clock, self.listeners);
        // Seeded by the operating system, once a process, and different for each state.
        breaker.seed(RandomState::new().hash_one(0) as u32);
        Ok(SharedBreaker {
            shared: Arc::new(Shared {
                name: self.name,
                breaker,
                slow_after: Limit::new(self.slow_after),
                #[cfg(feature = "tokio")]
                hung_after: Limit::new(self.hung_after),
            }),
        })
    }
}
