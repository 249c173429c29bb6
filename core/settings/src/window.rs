//! The kinds of window, and what a window's settings make of themselves.

use alloc::format;
use alloc::string::String;

use nanobreaker_core::{CusumSettings, Rate, WindowSettings};

use crate::error::SettingsError;
use crate::millis;
use crate::nearest::nearest;
use crate::table::{Key, PartialWindow};

/// The kinds of window, in lower case in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WindowKind {
    /// A number of failures within a time: [`Failures`](nanobreaker_core::window::Failures). The default.
    #[default]
    Failures,
    /// A number of failures in a row: [`Consecutive`](nanobreaker_core::window::Consecutive).
    Consecutive,
    /// A failure rate over the last calls: [`Calls`](nanobreaker_core::window::Calls).
    Calls,
    /// A failure rate over a time: [`Time`](nanobreaker_core::window::Time).
    Time,
    /// Evidence that the dependency is broken: [`Cusum`](nanobreaker_core::window::Cusum).
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

/// What a window's settings come to.
#[derive(Clone, Copy)]
pub(crate) struct Windows {
    pub(crate) failed: WindowSettings,
    pub(crate) slow: Option<WindowSettings>,
}

impl PartialWindow {
    /// Both windows, with every default filled in.
    pub(crate) fn windows(&self) -> Result<Windows, SettingsError> {
        self.refuse_keys_of_other_kinds()?;
        Ok(Windows { failed: self.failed()?, slow: self.slow()? })
    }

    fn failed(&self) -> Result<WindowSettings, SettingsError> {
        let rate = self.failure_rate.unwrap_or(Rate::percent(50));
        let threshold = self.threshold.unwrap_or(5);
        Ok(match self.kind.unwrap_or_default() {
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
        })
    }

    fn slow(&self) -> Result<Option<WindowSettings>, SettingsError> {
        let Some(rate) = self.slow_rate else {
            return Ok(None);
        };
        match self.kind.unwrap_or_default() {
            WindowKind::Calls => Ok(Some(self.calls(rate))),
            WindowKind::Time => Ok(Some(self.time(rate))),
            _ if self.size.is_some() => Ok(Some(self.calls(rate))),
            _ if self.span.is_some() => Ok(Some(self.time(rate))),
            _ => {
                let key = "window.size or window.span";
                Err(SettingsError::missing(key, "slow_rate"))
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
        let kind = self.kind.unwrap_or_default();
        let is_allowed = |key: &Key| key.is_of(kind) || self.is_of_slow_calls(kind, key.name);
        match self.written().find(|key| !is_allowed(key)) {
            Some(key) => Err(SettingsError::not_of_kind(key.name, kind)),
            None => Ok(()),
        }
    }

    /// A rate of slow calls beside a count of failures has an extent of its own.
    fn is_of_slow_calls(&self, kind: WindowKind, key: &str) -> bool {
        let stands_beside = !matches!(kind, WindowKind::Calls | WindowKind::Time);
        stands_beside
            && self.slow_rate.is_some()
            && match key {
                "size" | "min_calls" | "slow_rate" => true,
                "span" | "buckets" => self.size.is_none(),
                _ => false,
            }
    }
}
