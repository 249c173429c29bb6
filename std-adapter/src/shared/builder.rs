//! Collects what a shared breaker is made from.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use nanobreaker_core::window::Adjustable;
use nanobreaker_core::{Breaker, Clock, Config, ConfigBuilder, ConfigError, Transition};

use super::limit::{Limit, millis};
use super::listeners::Listeners;
use super::rule::{Rule, SharedRules, rules};
use super::{Shared, SharedBreaker};
use crate::clock::CoarseClock;

/// Collects the settings of a [`SharedBreaker`]; [`build`](Self::build) checks them.
///
/// Durations are rounded up to whole milliseconds. The settings of [`Config`] have its limits and
/// defaults.
#[derive(Debug)]
#[must_use = "call build() to get the breaker"]
pub struct SharedBreakerBuilder<C = CoarseClock> {
    name: Arc<str>,
    clock: C,
    failed: Rule,
    slow: Option<Rule>,
    config: ConfigBuilder,
    pub(super) slow_after: Option<Duration>,
    #[cfg(feature = "tokio")]
    pub(super) hung_after: Option<Duration>,
    listeners: Listeners,
    #[cfg(feature = "tracing")]
    traced: bool,
}

impl SharedBreakerBuilder {
    pub(super) fn new() -> Self {
        Self {
            name: Arc::from(""),
            clock: CoarseClock,
            failed: Rule::Failures {
                threshold: 5,
                within: Duration::from_secs(10),
            },
            slow: None,
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
        self.failed = Rule::Failures { threshold, within };
        self
    }

    /// Trips on `threshold` failures in a row: see
    /// [`Consecutive`](nanobreaker_core::window::Consecutive).
    pub fn consecutive(mut self, threshold: u32) -> Self {
        self.failed = Rule::Consecutive { threshold };
        self
    }

    /// Trips when `failure_rate_percent` of the last `size` calls (at most 1,024) failed: see
    /// [`Calls`](nanobreaker_core::window::Calls).
    pub fn failure_rate_of_calls(
        mut self,
        size: u32,
        failure_rate_percent: u32,
        min_calls: u32,
    ) -> Self {
        self.failed = Rule::Calls {
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
        self.failed = Rule::Time {
            span,
            buckets,
            percent: failure_rate_percent,
            min_calls,
        };
        self
    }

    /// A call is slow when it took longer than this: see
    /// [`Caller::slow_after`](crate::Caller::slow_after). A slow call is a failure, unless a rate of
    /// slow calls judges it.
    pub fn slow_after(mut self, limit: Duration) -> Self {
        self.slow_after = Some(limit);
        self
    }

    /// Trips also when `slow_rate_percent` of the last `size` calls were slow. Slow calls are then no
    /// failures.
    pub fn slow_rate_of_calls(mut self, size: u32, slow_rate_percent: u32, min_calls: u32) -> Self {
        self.slow = Some(Rule::Calls {
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
        self.slow = Some(Rule::Time {
            span,
            buckets,
            percent: slow_rate_percent,
            min_calls,
        });
        self
    }

    /// A call that still runs after this long is judged a failure at that moment: see
    /// [`Caller::hung_after`](crate::Caller::hung_after).
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
        self.listeners.add(listener);
        self
    }

    /// Reads time from `clock`, for tests.
    pub fn clock<D: Clock>(self, clock: D) -> SharedBreakerBuilder<D> {
        SharedBreakerBuilder {
            name: self.name,
            clock,
            failed: self.failed,
            slow: self.slow,
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

    /// Judges failed calls by one rule and slow ones by another, or not.
    #[cfg(feature = "settings")]
    pub(crate) fn rules(mut self, failed: Rule, slow: Option<Rule>) -> Self {
        self.failed = failed;
        self.slow = slow;
        self
    }

    /// Puts these in place of both limits of calls.
    #[cfg(feature = "settings")]
    #[cfg_attr(not(feature = "tokio"), allow(unused_variables))]
    pub(crate) fn limits(
        mut self,
        slow_after: Option<Duration>,
        hung_after: Option<Duration>,
    ) -> Self {
        self.slow_after = slow_after;
        #[cfg(feature = "tokio")]
        {
            self.hung_after = hung_after;
        }
        self
    }

    /// Checks every setting.
    pub(crate) fn checked(&self) -> Result<(SharedRules, Config), ConfigError> {
        Ok((rules(self.failed, self.slow)?, self.config.build()?))
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
        let (rules, config) = self.checked()?;
        let window = Adjustable::new(rules);
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
