//! Collects what a shared breaker is made from.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use nanobreaker_core::window::AnyWindow;
use nanobreaker_core::{Clock, Config, ConfigBuilder, ConfigError, Outcome, Settings, Transition};
use nanobreaker_settings::{DEFAULT, WORDS, with_dependent_defaults};
#[cfg(feature = "settings")]
use nanobreaker_settings::{PartialSettings, SettingsError};

use super::clock::Source;
use super::listeners::{Listener, Told};
use super::slot::Life;
use super::{Group, SharedBreaker};
#[cfg(feature = "check")]
use crate::check::{Check, Checked};
#[cfg(feature = "fleet")]
use crate::fleet::message::LONGEST_NAME;
#[cfg(feature = "fleet")]
use crate::fleet::{Fleet, Membership};
use crate::identity::{ErrorClassifier, erased};

/// Collects the settings of a [`SharedBreaker`]; [`build`](Self::build) checks them.
///
/// Durations are rounded up to whole milliseconds. The settings of [`Config`] have its limits.
///
/// | setting | unless set |
/// | ------- | ---------- |
/// | window | [`cusum`](Self::cusum): 2 % is normal, 50 % is broken, 500 million calls per false trip, sustained for 20 ms |
/// | `open_for` | 500 ms |
/// | `max_open` | 5 s, or `open_for` if that is longer |
/// | `relapse_within` | `max_open` |
/// | `max_probes`, `probe_successes`, `probe_failures` | 1, 3, 1 |
/// | `probe_lease` | 30 s |
/// | `ramp`, `jitter_permille`, `latch` | off |
///
/// Each holds whatever else is set. They were chosen by what they cost over 108 simulated days of traffic
/// and trouble, beside the defaults of other breakers (`benches/DETECTION.md` in the repository).
#[derive(Clone)]
#[must_use = "call build() to get the breaker"]
pub struct SharedBreakerBuilder {
    name: Arc<str>,
    clock: Source,
    pub(super) settings: Settings,
    listeners: Vec<Listener>,
    classifiers: Vec<ErrorClassifier>,
    #[cfg(feature = "check")]
    check: Option<Check>,
    #[cfg(feature = "fleet")]
    fleet: Option<Fleet>,
    group: Option<Group>,
    #[cfg(feature = "tracing")]
    traced: bool,
}

impl SharedBreakerBuilder {
    pub(super) fn new() -> Self {
        Self {
            name: Arc::from(""),
            clock: Source::Coarse,
            settings: DEFAULT,
            listeners: Vec::new(),
            classifiers: Vec::new(),
            #[cfg(feature = "check")]
            check: None,
            #[cfg(feature = "fleet")]
            fleet: None,
            group: None,
            #[cfg(feature = "tracing")]
            traced: false,
        }
    }

    /// What people call the dependency, in logs, metrics and on the operator's page. Empty unless
    /// set.
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = name.into();
        self
    }

    pub(super) fn opening(mut self, set: impl FnOnce(ConfigBuilder) -> ConfigBuilder) -> Self {
        self.settings.opening = set(self.settings.opening);
        self
    }

    /// Tells `listener` of each transition, on the thread that made it. May be set more than once.
    ///
    /// A listener may call the breaker again. A panic of a listener ends there: the panic hook reports
    /// it, the others are told, and the call goes on.
    pub fn on_transition(mut self, listener: impl Fn(&Transition) + Send + Sync + 'static) -> Self {
        self.listeners.push(Arc::new(listener));
        self
    }

    /// Judges calls that end with an error of type `E` by what `classifier` makes of it, wherever a call or a
    /// layer has no [classifier](crate::Caller::classify) of its own; there all other errors are failures. Said
    /// for each type of errors; of two for the same type the later holds.
    ///
    /// Layers for HTTP and gRPC ask it about their service's errors, and judge answers by their statuses;
    /// reqwest's middleware judges all by itself. A classifier that panics leaves the call without outcome.
    ///
    /// ```
    /// use nanobreaker::{CallExt, Outcome, SharedBreaker, classify};
    /// use std::io::{Error, ErrorKind};
    ///
    /// let share = SharedBreaker::builder().consecutive(1).classify(classify::io).build()?;
    /// let _ = share.call(|| std::fs::read("no such file"));
    /// assert!(share.allow().is_ok());
    ///
    /// let mail = SharedBreaker::builder().consecutive(1).classify(|result: &Result<_, Error>| match result {
    ///     Err(error) if error.kind() == ErrorKind::InvalidData => Outcome::Ignored,
    ///     _ => Outcome::Failure,
    /// });
    /// let mail = mail.build()?;
    /// let _ = mail.call(|| Err::<(), _>(Error::from(ErrorKind::InvalidData)));
    /// assert!(mail.allow().is_ok());
    /// # Ok::<(), nanobreaker::ConfigError>(())
    /// ```
    pub fn classify<E: 'static>(
        mut self,
        classifier: impl Fn(&Result<Infallible, E>) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        self.classifiers.push(erased(classifier));
        self
    }

    /// Makes the breaker a member of `group`: see [`Group`].
    pub fn group(mut self, group: &Group) -> Self {
        self.group = Some(group.clone());
        self
    }

    /// Reads time from `clock`: [`TimerClock`](crate::TimerClock), or one for tests.
    ///
    /// ```
    /// use nanobreaker::{ManualClock, SharedBreaker};
    /// use std::sync::Arc;
    ///
    /// let clock = Arc::new(ManualClock::new(0));
    /// let breaker = SharedBreaker::builder().clock(Arc::clone(&clock)).build()?;
    /// breaker.trip();
    /// clock.advance(10_000);
    /// assert!(breaker.snapshot().ready_to_probe());
    /// # Ok::<(), nanobreaker::ConfigError>(())
    /// ```
    pub fn clock(mut self, clock: impl Clock + Send + Sync + 'static) -> Self {
        self.clock = Source::new(clock);
        self
    }

    /// Asks in the background whether the dependency is well again, so that no user's call has to: see
    /// [`Check`].
    #[cfg(feature = "check")]
    pub fn checked_by(mut self, check: Check) -> Self {
        self.check = Some(check);
        self
    }

    /// Shares what this breaker finds out with the breakers of the same name in the other processes of
    /// `fleet`, and heeds what they found out. It needs a [`name`](Self::name), of at most 128 bytes.
    #[cfg(feature = "fleet")]
    pub fn fleet(mut self, fleet: &Fleet) -> Self {
        self.fleet = Some(fleet.clone());
        self
    }

    /// Emits an event for each transition through `tracing`, with the target `nanobreaker`: a
    /// warning where the breaker opens or is isolated, else an information. Fields: `breaker`,
    /// `generation`, `from`, `to`, `cause`, `retry_after_ms` (where it opens) and `streak`.
    #[cfg(feature = "tracing")]
    pub fn traced(mut self) -> Self {
        self.traced = true;
        self
    }

    /// Takes over all settings from those of a file; what they don't set gets its default.
    ///
    /// # Errors
    ///
    /// A [`SettingsError`] that names the first key whose value can't be.
    ///
    /// ```
    /// use nanobreaker::{PartialSettings, SharedBreaker};
    ///
    /// let settings: PartialSettings = toml::from_str(r#"
    ///     open_for = "5s"
    ///     max_open = "2m"
    ///     slow_after_ms = 800
    ///
    ///     [window]
    ///     kind = "time"
    ///     span = "30s"
    ///     failure_rate = "0.5%"
    ///     slow_rate_percent = 80
    /// "#)?;
    /// let breaker = SharedBreaker::builder().settings(&settings)?.build()?;
    /// assert_eq!(breaker.config().max_open_ms(), 120_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "settings")]
    pub fn settings(mut self, settings: &PartialSettings) -> Result<Self, SettingsError> {
        self.settings = settings.complete()?;
        Ok(self)
    }

    /// The settings, checked, with every default.
    pub(super) fn checked(&self) -> Result<Settings, ConfigError> {
        let mut settings = self.settings;
        for (field, limit) in
            [("slow_after_ms", settings.slow_after_ms), ("hung_after_ms", settings.hung_after_ms)]
        {
            let longest = Config::MAX_DURATION_MS;
            if let Some(ms) = limit
                && !(1..=longest).contains(&ms)
            {
                return Err(ConfigError::new(field, ms.into(), 1, longest.into()));
            }
        }
        if let Some(slow) = settings.slow_window {
            AnyWindow::<WORDS>::new(slow).map_err(of_slow_window)?;
        }
        settings.opening = with_dependent_defaults(settings.opening);
        Ok(settings)
    }

    /// Checks every setting and makes the breaker.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first setting outside its limits.
    #[cfg_attr(not(any(feature = "check", feature = "fleet", feature = "tracing")), allow(unused_mut))]
    pub fn build(mut self) -> Result<SharedBreaker, ConfigError> {
        #[cfg(feature = "tracing")]
        if self.traced {
            let name = Arc::clone(&self.name);
            self = self.on_transition(move |transition| {
                crate::event::tell(&name, transition);
            });
        }
        let settings = self.checked()?;
        #[cfg(feature = "fleet")]
        let membership = self.membership()?;
        #[cfg(feature = "check")]
        let checked = self.check(
            #[cfg(feature = "fleet")]
            membership.clone(),
        )?;
        let told = Told::new(self.listeners);
        #[cfg_attr(not(all(feature = "fleet", feature = "state-file")), allow(unused_mut))]
        let mut life = Life::begin(self.name, settings, self.clock, told, self.classifiers)?;
        #[cfg(all(feature = "fleet", feature = "state-file"))]
        life.membership.clone_from(&membership);
        let breaker = SharedBreaker::new(life);
        if let Some(group) = &self.group {
            group.join(&breaker);
        }
        #[cfg(feature = "fleet")]
        if let Some(membership) = membership {
            membership.join(Arc::clone(&breaker.life().name), breaker.reference());
        }
        #[cfg(feature = "check")]
        if let Some(checked) = checked {
            checked.begin(breaker.reference());
        }
        Ok(breaker)
    }

    /// The breaker's check, which hears of each transition.
    #[cfg(feature = "check")]
    fn check(
        &mut self,
        #[cfg(feature = "fleet")] membership: Option<Arc<Membership>>,
    ) -> Result<Option<Arc<Checked>>, ConfigError> {
        let Some(check) = self.check.take() else {
            return Ok(None);
        };
        check.validate()?;
        let checked = Arc::new(Checked::new(
            check,
            Arc::clone(&self.name),
            #[cfg(feature = "fleet")]
            membership,
        ));
        let listener = Arc::clone(&checked);
        self.listeners.push(Arc::new(move |transition| listener.changed(transition)));
        Ok(Some(checked))
    }

    /// The breaker's place in its fleet, which hears of each transition.
    #[cfg(feature = "fleet")]
    fn membership(&mut self) -> Result<Option<Arc<Membership>>, ConfigError> {
        let Some(fleet) = self.fleet.take() else {
            return Ok(None);
        };
        let (length, longest) = (self.name.len(), LONGEST_NAME);
        if !(1..=longest).contains(&length) {
            return Err(ConfigError::new("the name's length", length as u64, 1, longest as u64));
        }
        let membership = fleet.member();
        let listener = Arc::clone(&membership);
        self.listeners.push(Arc::new(move |transition| listener.changed(transition)));
        Ok(Some(membership))
    }
}

impl fmt::Debug for SharedBreakerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedBreakerBuilder")
            .field("name", &self.name)
            .field("clock", &self.clock)
            .field("settings", &self.settings)
            .field("listeners", &self.listeners.len())
            .field("classifiers", &self.classifiers.len())
            .finish_non_exhaustive()
    }
}

/// The error of a window of slow calls, whose rate has a name of its own.
fn of_slow_window(error: ConfigError) -> ConfigError {
    let field = match error.field() {
        "failure_rate_percent" => "slow_rate_percent",
        "failure_rate_permille" => "slow_rate_permille",
        "failure_rate_ppm" => "slow_rate_ppm",
        field => field,
    };
    ConfigError::new(field, error.value(), error.minimum(), error.maximum())
}
