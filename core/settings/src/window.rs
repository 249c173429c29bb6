//! The kinds of window, and what a window's settings make of themselves.

use alloc::format;
use alloc::string::String;
use core::time::Duration;

use nanobreaker_core::{CusumSettings, Rate, WindowSettings};

use crate::error::SettingsError;
use crate::keys::Key;
use crate::millis;
use crate::nearest::nearest;
use crate::percentile::Percentile;
use crate::table::PartialWindow;

/// The kinds of window, in lower case in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WindowKind {
    /// A number of failures within a time: [`Failures`](nanobreaker_core::window::Failures).
    Failures,
    /// A number of failures in a row: [`Consecutive`](nanobreaker_core::window::Consecutive).
    Consecutive,
    /// A failure rate over the last calls: [`Calls`](nanobreaker_core::window::Calls).
    Calls,
    /// A failure rate over a time: [`Time`](nanobreaker_core::window::Time).
    Time,
    /// Evidence that the dependency is broken: [`Cusum`](nanobreaker_core::window::Cusum). The default.
    #[default]
    Cusum,
}

impl WindowKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Failures, Self::Consecutive, Self::Calls, Self::Time, Self::Cusum];

    /// The kind's name, as written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Failures => "failures",
            Self::Consecutive => "consecutive",
            Self::Calls => "calls",
            Self::Time => "time",
            Self::Cusum => "cusum",
        }
    }

    /// The kind of that name, or an error that gives the nearest one.
    pub(crate) fn from_name(name: &str) -> Result<Self, String> {
        let kind = Self::ALL.into_iter().find(|kind| kind.name() == name);
        kind.ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            match nearest(name, names) {
                Some(near) => format!("{name:?} is no kind of window: did you mean {near:?}?"),
                None => format!("{name:?} is no kind of window, which are {}", names.join(", ")),
            }
        })
    }
}

/// A percentile's key, with its table.
const fn key_of(percentile: Percentile) -> &'static str {
    match percentile {
        Percentile::P50 => "window.p50",
        Percentile::P90 => "window.p90",
        Percentile::P95 => "window.p95",
        Percentile::P99 => "window.p99",
        Percentile::P999 => "window.p999",
    }
}

/// What a window's settings come to.
#[derive(Clone, Copy)]
pub(crate) struct Windows {
    pub(crate) failed: WindowSettings,
    pub(crate) slow: Option<WindowSettings>,
    /// The limit of a percentile, and its key.
    pub(crate) slow_after: Option<(&'static str, Duration)>,
}

impl PartialWindow {
    /// The kind that is written, or else the kind of the keys that are: who sets a threshold or the time
    /// it counts within means a number of failures.
    pub(crate) fn kind_in_force(&self) -> WindowKind {
        let counts_failures = self.threshold.is_some() || self.within.is_some();
        let unnamed = if counts_failures { WindowKind::Failures } else { WindowKind::default() };
        self.kind.unwrap_or(unnamed)
    }

    /// Both windows, with every default filled in.
    pub(crate) fn windows(&self) -> Result<Windows, SettingsError> {
        self.refuse_keys_of_other_kinds()?;
        let percentile = self.percentile()?;
        let by_percentile = percentile.map(|(percentile, _)| percentile.rate_of_slow_calls());
        Ok(Windows {
            failed: self.failed(),
            slow: self.slow(self.slow_rate.or(by_percentile))?,
            slow_after: percentile.map(|(percentile, limit)| (key_of(percentile), limit)),
        })
    }

    fn failed(&self) -> WindowSettings {
        let rate = self.failure_rate.unwrap_or(Rate::percent(50));
        let threshold = self.threshold.unwrap_or(5);
        match self.kind_in_force() {
            WindowKind::Failures => {
                WindowSettings::Failures { threshold, within_ms: self.within.map_or(10_000, millis) }
            }
            WindowKind::Consecutive => WindowSettings::Consecutive { threshold },
            WindowKind::Calls => self.calls(rate),
            WindowKind::Time => self.time(rate),
            WindowKind::Cusum => WindowSettings::Cusum(CusumSettings {
                normal_ppm: self.normal.unwrap_or(Rate::percent(2)).as_ppm(),
                broken_ppm: self.broken.unwrap_or(Rate::percent(50)).as_ppm(),
                calls_per_false_trip: self.calls_per_false_trip.unwrap_or(500_000_000),
                sustained_for_ms: self
                    .sustained_for
                    .map_or(20, |duration| u32::try_from(millis(duration)).unwrap_or(u32::MAX)),
            }),
        }
    }

    /// The percentile that is written, and its limit.
    fn percentile(&self) -> Result<Option<(Percentile, Duration)>, SettingsError> {
        let limits = [self.p50, self.p90, self.p95, self.p99, self.p999];
        let all = Percentile::ALL.into_iter().zip(limits);
        let mut written = all.filter_map(|(percentile, limit)| Some((percentile, limit?)));
        let Some((percentile, limit)) = written.next() else {
            return Ok(None);
        };
        let key = key_of(percentile);
        if let Some((other, _)) = written.next() {
            return Err(SettingsError::conflict(key, key_of(other)));
        }
        if self.slow_rate.is_some() {
            return Err(SettingsError::conflict(key, "window.slow_rate"));
        }
        Ok(Some((percentile, limit)))
    }

    fn slow(&self, rate: Option<Rate>) -> Result<Option<WindowSettings>, SettingsError> {
        let Some(rate) = rate else {
            return Ok(None);
        };
        match self.kind_in_force() {
            WindowKind::Calls => Ok(Some(self.calls(rate))),
            WindowKind::Time => Ok(Some(self.time(rate))),
            _ if self.size.is_some() => Ok(Some(self.calls(rate))),
            _ if self.span.is_some() => Ok(Some(self.time(rate))),
            _ => {
                let key = "window.size or window.span";
                let needed_by = if self.slow_rate.is_some() { "slow_rate" } else { "a percentile" };
                Err(SettingsError::missing(key, needed_by))
            }
        }
    }

    fn calls(&self, rate: Rate) -> WindowSettings {
        let size = self.size.unwrap_or(100);
        WindowSettings::Calls { size, rate: rate.min_calls(self.min_calls.unwrap_or(size.min(20))) }
    }

    fn time(&self, rate: Rate) -> WindowSettings {
        WindowSettings::Time {
            span_ms: self.span.map_or(10_000, millis),
            buckets: self.buckets.unwrap_or(10),
            rate: rate.min_calls(self.min_calls.unwrap_or(20)),
        }
    }

    /// A setting that would be ignored is a mistake of whoever wrote it.
    fn refuse_keys_of_other_kinds(&self) -> Result<(), SettingsError> {
        let kind = self.kind_in_force();
        let is_allowed = |key: &Key| key.is_of(kind) || self.is_of_slow_calls(kind, key.name);
        match self.written().find(|key| !is_allowed(key)) {
            Some(key) => Err(SettingsError::not_of_kind(key.name, kind)),
            None => Ok(()),
        }
    }

    fn judges_slow_calls(&self) -> bool {
        let limits = [self.p50, self.p90, self.p95, self.p99, self.p999];
        self.slow_rate.is_some() || limits.iter().any(Option::is_some)
    }

    /// A rate of slow calls beside a count of failures has an extent of its own.
    fn is_of_slow_calls(&self, kind: WindowKind, key: &str) -> bool {
        let stands_beside = !matches!(kind, WindowKind::Calls | WindowKind::Time);
        stands_beside
            && match key {
                "slow_rate" => true,
                "size" | "min_calls" => self.judges_slow_calls(),
                "span" | "buckets" => self.judges_slow_calls() && self.size.is_none(),
                key => Percentile::ALL.iter().any(|percentile| percentile.name() == key),
            }
    }
}
