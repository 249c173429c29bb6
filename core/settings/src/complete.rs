//! From what is written to the plain settings of a breaker.

use core::time::Duration;

use nanobreaker_core::window::AnyWindow;
use nanobreaker_core::{Config, ConfigBuilder, ConfigError, Settings, WindowSettings};

use crate::error::SettingsError;
use crate::statuses::Statuses;
use crate::table::{PartialSettings, PartialWindow};
use crate::window::Windows;
use crate::{DEFAULT, WORDS, millis, with_dependent_defaults};

impl PartialSettings {
    /// The settings with every default, checked for a breaker of a server.
    ///
    /// # Errors
    ///
    /// A [`SettingsError`] that names the first key whose value can't be.
    pub fn complete(&self) -> Result<Settings, SettingsError> {
        self.complete_for::<WORDS>()
    }

    /// The same for a breaker whose windows have other numbers of words, as
    /// [`Adjustable`](nanobreaker_core::window::Adjustable) takes them.
    ///
    /// # Errors
    ///
    /// As [`complete`](Self::complete).
    pub fn complete_for<const WORDS: usize>(&self) -> Result<Settings, SettingsError> {
        let settings = self.with_defaults()?;
        AnyWindow::<WORDS>::new(settings.window)?;
        if let Some(slow) = settings.slow_window {
            AnyWindow::<WORDS>::new(slow).map_err(|error| self.of_slow_window(error))?;
        }
        settings.opening.build()?;
        Ok(settings)
    }

    /// An error of the window of slow calls, by the keys that it was written with.
    fn of_slow_window(&self, error: ConfigError) -> SettingsError {
        if self.slow_window.is_empty() {
            SettingsError::of_slow_window(error)
        } else {
            SettingsError::from(error).in_slow_window()
        }
    }

    fn with_defaults(&self) -> Result<Settings, SettingsError> {
        let Windows { failed, slow: beside, slow_after } = self.window.windows()?;
        if let (Some((key, _)), Some(_)) = (slow_after, self.slow_after) {
            return Err(SettingsError::conflict(key, "slow_after"));
        }
        let slow_after = slow_after.map(|(_, limit)| limit).or(self.slow_after);
        let (slow, needed_by) = match self.slow_window()? {
            Some(_) if beside.is_some() => {
                return Err(SettingsError::conflict("slow_window", "a rate or percentile of slow calls"));
            }
            Some(slow) => (Some(slow), "slow_window"),
            None => (beside, "window.slow_rate"),
        };
        if slow.is_some() && slow_after.is_none() {
            return Err(SettingsError::missing("slow_after", needed_by));
        }
        Ok(Settings {
            window: failed,
            slow_window: slow,
            opening: self.opening(),
            slow_after_ms: limit("slow_after_ms", slow_after)?,
            hung_after_ms: limit("hung_after_ms", self.hung_after)?,
        })
    }

    /// The window of slow calls that has a table of its own.
    fn slow_window(&self) -> Result<Option<WindowSettings>, SettingsError> {
        if self.slow_window.is_empty() {
            return Ok(None);
        }
        let windows = self.slow_window.windows().map_err(SettingsError::in_slow_window)?;
        if windows.slow.is_some() {
            let problem = SettingsError::misplaced("slow_window.slow_rate", "the table [window]");
            return Err(problem);
        }
        Ok(Some(windows.failed))
    }

    /// Which statuses are failures, and which say nothing.
    pub fn statuses(&self) -> Statuses {
        Statuses::new(self.failure_status, self.ignore_status)
    }

    fn opening(&self) -> ConfigBuilder {
        let default = DEFAULT.opening;
        with_dependent_defaults(ConfigBuilder {
            open_for_ms: self.open_for.map_or(default.open_for_ms, millis),
            max_open_ms: self.max_open.map(millis).or(default.max_open_ms),
            relapse_within_ms: self.relapse_within.map(millis).or(default.relapse_within_ms),
            max_probes: self.max_probes.unwrap_or(default.max_probes),
            probe_successes: self.probe_successes.unwrap_or(default.probe_successes),
            probe_failures: self.probe_failures.unwrap_or(default.probe_failures),
            probe_lease_ms: self.probe_lease.map(millis).or(default.probe_lease_ms),
            ramp_ms: self.ramp.map_or(default.ramp_ms, millis),
            jitter_permille: self.jitter_permille.unwrap_or(default.jitter_permille),
            latch: self.latch.unwrap_or(default.latch),
        })
    }
}

impl PartialWindow {
    /// These settings, and the default of each one that counts for their kind and is absent.
    ///
    /// # Errors
    ///
    /// A [`SettingsError`] where a setting is of another kind, or one is missing.
    ///
    /// ```
    /// use nanobreaker_settings::{PartialWindow, Rate};
    ///
    /// let window: PartialWindow = toml::from_str("kind = 'calls'\nsize = 10")?;
    /// let window = window.with_defaults()?;
    /// assert_eq!(window.failure_rate, Some(Rate::percent(50)));
    /// assert_eq!(window.min_calls, Some(10));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_defaults(mut self) -> Result<Self, SettingsError> {
        let Windows { failed, slow, .. } = self.windows()?;
        self.kind = Some(self.kind_in_force());
        if let WindowSettings::Calls { rate, .. } | WindowSettings::Time { rate, .. } = failed {
            self.failure_rate = Some(rate.min_calls(1));
        }
        for window in slow.into_iter().chain([failed]) {
            self.fill(window);
        }
        Ok(self)
    }

    fn fill(&mut self, window: WindowSettings) {
        match window {
            WindowSettings::Failures { threshold, within_ms } => {
                self.threshold = Some(threshold);
                self.within = Some(Duration::from_millis(within_ms));
            }
            WindowSettings::Consecutive { threshold } => self.threshold = Some(threshold),
            WindowSettings::Calls { size, rate } => {
                self.size = Some(size);
                self.min_calls = Some(rate.least_calls());
            }
            WindowSettings::Time { span_ms, buckets, rate } => {
                self.span = Some(Duration::from_millis(span_ms));
                self.buckets = Some(buckets);
                self.min_calls = Some(rate.least_calls());
            }
            WindowSettings::Cusum(cusum) => {
                self.normal = Some(nanobreaker_core::Rate::ppm(cusum.normal_ppm));
                self.broken = Some(nanobreaker_core::Rate::ppm(cusum.broken_ppm));
                self.calls_per_false_trip = Some(cusum.calls_per_false_trip);
                let sustained_for_ms = cusum.sustained_for_ms.into();
                self.sustained_for = Some(Duration::from_millis(sustained_for_ms));
            }
        }
    }
}

/// A limit for a call's duration, from a millisecond to the longest duration of any setting.
fn limit(field: &'static str, limit: Option<Duration>) -> Result<Option<u32>, ConfigError> {
    let longest = Config::MAX_DURATION_MS;
    let checked = |duration| match u32::try_from(millis(duration)) {
        Ok(ms) if (1..=longest).contains(&ms) => Ok(ms),
        _ => Err(ConfigError::new(field, millis(duration), 1, longest.into())),
    };
    limit.map(checked).transpose()
}
