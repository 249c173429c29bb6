//! From settings to a breaker.

use std::time::Duration;

use nanobreaker_core::{Clock, Config, ConfigBuilder, ManualClock};

use crate::settings::Settings;
use crate::settings::error::SettingsError;
use crate::shared::{SharedBreaker, SharedBreakerBuilder, millis};

impl Settings {
    /// Checks every setting.
    ///
    /// # Errors
    ///
    /// A [`SettingsError`] that names the first key whose value can't be.
    pub fn check(&self) -> Result<(), SettingsError> {
        SharedBreaker::builder()
            .clock(ManualClock::new(0))
            .settings(self)
            .map(drop)
    }

    /// What these settings say about a breaker once its window says trip.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check), for all but the window.
    pub fn config(&self) -> Result<Config, SettingsError> {
        Ok(self.config_builder().build()?)
    }

    fn config_builder(&self) -> ConfigBuilder {
        let mut builder = Config::builder();
        if let Some(duration) = self.open_for {
            builder = builder.open_for_ms(millis(duration));
        }
        if let Some(duration) = self.max_open {
            builder = builder.max_open_ms(millis(duration));
        }
        if let Some(probes) = self.probes {
            builder = builder.probes(probes);
        }
        if let Some(successes) = self.successes {
            builder = builder.successes(successes);
        }
        if let Some(failures) = self.failures {
            builder = builder.failures(failures);
        }
        if let Some(duration) = self.probe_lease {
            builder = builder.probe_lease_ms(millis(duration));
        }
        if let Some(duration) = self.ramp {
            builder = builder.ramp_ms(millis(duration));
        }
        if let Some(permille) = self.jitter_permille {
            builder = builder.jitter_permille(permille);
        }
        if let Some(latch) = self.latch {
            builder = builder.latch(latch);
        }
        builder
    }
}

impl<C: Clock> SharedBreakerBuilder<C> {
    /// Takes over the window, the [`Config`] and the limits of calls from `settings`; what they
    /// don't set gets its default.
    ///
    /// # Errors
    ///
    /// A [`SettingsError`] that names the first key whose value can't be.
    pub fn settings(mut self, settings: &Settings) -> Result<Self, SettingsError> {
        let (failed, slow) = (settings.window.failed_rule()?, settings.window.slow_rule()?);
        let slow_after = call_limit("slow_after", settings.slow_after)?;
        let hung_after = call_limit("hung_after", settings.hung_after)?;
        if slow.is_some() && slow_after.is_none() {
            let needed_by = "window.slow_rate_percent";
            return Err(SettingsError::missing("slow_after", needed_by));
        }
        self = self
            .rules(failed, slow)
            .config(settings.config_builder())
            .limits(slow_after, hung_after);
        self.checked()?;
        Ok(self)
    }
}

/// A limit for a call's duration, from a millisecond to the longest duration of any setting.
fn call_limit(key: &str, limit: Option<Duration>) -> Result<Option<Duration>, SettingsError> {
    let longest = u64::from(Config::MAX_DURATION_MS);
    match limit {
        Some(limit) if !(1..=longest).contains(&millis(limit)) => {
            Err(SettingsError::out_of_range(key, limit, 1, longest))
        }
        limit => Ok(limit),
    }
}
