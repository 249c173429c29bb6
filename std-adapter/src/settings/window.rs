//! The settings of a window, as written in a file.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::settings::duration::{self, Humane};
use crate::settings::error::SettingsError;
use crate::settings::number::whole;
use crate::shared::Rule;

/// The kinds of window, in lower case in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowKind {
    /// A number of failures within a time: [`Failures`](crate::window::Failures). The default.
    #[default]
    Failures,
    /// A number of failures in a row: [`Consecutive`](crate::window::Consecutive).
    Consecutive,
    /// A failure rate over the last calls: [`Calls`](crate::window::Calls).
    Calls,
    /// A failure rate over a time: [`Time`](crate::window::Time).
    Time,
}

impl WindowKind {
    /// The kind's name, as written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Failures => "failures",
            Self::Consecutive => "consecutive",
            Self::Calls => "calls",
            Self::Time => "time",
        }
    }

    const fn settings(self) -> &'static str {
        match self {
            Self::Failures => "threshold, within",
            Self::Consecutive => "threshold",
            Self::Calls => "size, failure_rate_percent, slow_rate_percent, min_calls",
            Self::Time => "span, buckets, failure_rate_percent, slow_rate_percent, min_calls",
        }
    }
}

/// The settings of a window; which of them count depends on the kind.
///
/// | setting | of kind | default | meaning |
/// | ------- | ------- | ------- | ------- |
/// | `kind` | | `failures` | `failures`, `consecutive`, `calls` or `time` |
/// | `threshold` | failures, consecutive | 5 | failures that trip |
/// | `within` | failures | 10s | the time in which they must fall |
/// | `size` | calls | 100 | calls that the rate is over |
/// | `span` | time | 10s | the time that the rate is over |
/// | `buckets` | time | 10 | steps in which the span slides |
/// | `failure_rate_percent` | calls, time | 50 | the failure rate that trips |
/// | `slow_rate_percent` | calls, time | none | the rate of slow calls that trips |
/// | `min_calls` | calls, time | 20, or `size` if less | calls that must be there for a rate to be judged |
///
/// `slow_rate_percent` works with the kinds `failures` and `consecutive` too, where `size` or `span`
/// says what it is over. It needs `slow_after`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct WindowSettings {
    /// The kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<WindowKind>,
    /// Failures that trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<u32>,
    /// The time in which they must fall.
    #[serde(
        serialize_with = "duration::serialize",
        skip_serializing_if = "Option::is_none"
    )]
    pub within: Option<Duration>,
    /// Calls that the rate is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u32>,
    /// The time that the rate is over.
    #[serde(
        serialize_with = "duration::serialize",
        skip_serializing_if = "Option::is_none"
    )]
    pub span: Option<Duration>,
    /// Steps in which the span slides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buckets: Option<u32>,
    /// The failure rate that trips, in per cent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_rate_percent: Option<u32>,
    /// The rate of slow calls that trips, in per cent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_rate_percent: Option<u32>,
    /// Calls that must be there for a rate to be judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_calls: Option<u32>,
}

/// A window as written: durations in either form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename = "WindowSettings")]
struct Written {
    kind: Option<WindowKind>,
    #[serde(default, deserialize_with = "whole")]
    threshold: Option<u32>,
    within: Option<Humane>,
    #[serde(default, deserialize_with = "whole")]
    within_ms: Option<u64>,
    #[serde(default, deserialize_with = "whole")]
    size: Option<u32>,
    span: Option<Humane>,
    #[serde(default, deserialize_with = "whole")]
    span_ms: Option<u64>,
    #[serde(default, deserialize_with = "whole")]
    buckets: Option<u32>,
    #[serde(default, deserialize_with = "whole")]
    failure_rate_percent: Option<u32>,
    #[serde(default, deserialize_with = "whole")]
    slow_rate_percent: Option<u32>,
    #[serde(default, deserialize_with = "whole")]
    min_calls: Option<u32>,
}

impl TryFrom<Written> for WindowSettings {
    type Error = SettingsError;

    fn try_from(written: Written) -> Result<Self, SettingsError> {
        Ok(Self {
            kind: written.kind,
            threshold: written.threshold,
            within: duration::one_of("within", written.within, written.within_ms)?,
            size: written.size,
            span: duration::one_of("span", written.span, written.span_ms)?,
            buckets: written.buckets,
            failure_rate_percent: written.failure_rate_percent,
            slow_rate_percent: written.slow_rate_percent,
            min_calls: written.min_calls,
        })
    }
}

impl WindowSettings {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These settings, and those of `base` where these say nothing. A window of another kind than
    /// that of `base` takes nothing over from it.
    #[must_use]
    pub fn or(self, base: Self) -> Self {
        let other_kind = self
            .kind
            .is_some_and(|kind| kind != base.kind.unwrap_or_default());
        if other_kind {
            return self;
        }
        Self {
            kind: self.kind.or(base.kind),
            threshold: self.threshold.or(base.threshold),
            within: self.within.or(base.within),
            size: self.size.or(base.size),
            span: self.span.or(base.span),
            buckets: self.buckets.or(base.buckets),
            failure_rate_percent: self.failure_rate_percent.or(base.failure_rate_percent),
            slow_rate_percent: self.slow_rate_percent.or(base.slow_rate_percent),
            min_calls: self.min_calls.or(base.min_calls),
        }
    }

    /// These settings, and the default of each one that counts for their kind and is absent: what a
    /// breaker made of them works with.
    ///
    /// # Errors
    ///
    /// A [`SettingsError`] where a setting is of another kind, or one is missing.
    ///
    /// ```
    /// use nanobreaker::WindowSettings;
    ///
    /// let window: WindowSettings = toml::from_str("kind = 'calls'\nsize = 10")?;
    /// let window = window.with_defaults()?;
    /// assert_eq!(window.failure_rate_percent, Some(50));
    /// assert_eq!(window.min_calls, Some(10));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_defaults(mut self) -> Result<Self, SettingsError> {
        let failed = self.failed_rule()?;
        let slow = self.slow_rule()?;
        self.kind = Some(self.kind.unwrap_or_default());
        if let Rule::Calls { percent, .. } | Rule::Time { percent, .. } = failed {
            self.failure_rate_percent = Some(percent);
        }
        for rule in slow.into_iter().chain([failed]) {
            self.fill(rule);
        }
        Ok(self)
    }

    fn fill(&mut self, rule: Rule) {
        match rule {
            Rule::Failures { threshold, within } => {
                self.threshold = Some(threshold);
                self.within = Some(within);
            }
            Rule::Consecutive { threshold } => self.threshold = Some(threshold),
            Rule::Calls {
                size, min_calls, ..
            } => {
                self.size = Some(size);
                self.min_calls = Some(min_calls);
            }
            Rule::Time {
                span,
                buckets,
                min_calls,
                ..
            } => {
                self.span = Some(span);
                self.buckets = Some(buckets);
                self.min_calls = Some(min_calls);
            }
        }
    }

    /// What judges failed calls; every setting is there.
    pub(super) fn failed_rule(&self) -> Result<Rule, SettingsError> {
        self.refuse_settings_of_other_kinds()?;
        let percent = self.failure_rate_percent.unwrap_or(50);
        let threshold = self.threshold.unwrap_or(5);
        Ok(match self.kind.unwrap_or_default() {
            WindowKind::Failures => Rule::Failures {
                threshold,
                within: self.within.unwrap_or(Duration::from_secs(10)),
            },
            WindowKind::Consecutive => Rule::Consecutive { threshold },
            WindowKind::Calls => self.calls(percent),
            WindowKind::Time => self.time(percent),
        })
    }

    /// What judges slow calls.
    pub(super) fn slow_rule(&self) -> Result<Option<Rule>, SettingsError> {
        let Some(percent) = self.slow_rate_percent else {
            return Ok(None);
        };
        match self.kind.unwrap_or_default() {
            WindowKind::Calls => Ok(Some(self.calls(percent))),
            WindowKind::Time => Ok(Some(self.time(percent))),
            _ if self.size.is_some() => Ok(Some(self.calls(percent))),
            _ if self.span.is_some() => Ok(Some(self.time(percent))),
            _ => Err(SettingsError::missing(
                "window.size or window.span",
                "slow_rate_percent",
            )),
        }
    }

    fn calls(&self, percent: u32) -> Rule {
        let size = self.size.unwrap_or(100);
        Rule::Calls {
            size,
            percent,
            min_calls: self.min_calls.unwrap_or(size.min(20)),
        }
    }

    fn time(&self, percent: u32) -> Rule {
        Rule::Time {
            span: self.span.unwrap_or(Duration::from_secs(10)),
            buckets: self.buckets.unwrap_or(10),
            percent,
            min_calls: self.min_calls.unwrap_or(20),
        }
    }

    /// A setting that would be ignored is a mistake of whoever wrote it.
    fn refuse_settings_of_other_kinds(&self) -> Result<(), SettingsError> {
        use WindowKind::{Calls, Consecutive, Failures, Time};
        let kind = self.kind.unwrap_or_default();
        let counts = matches!(kind, Failures | Consecutive);
        // A rate of slow calls beside a count of failures has an extent of its own.
        let beside = counts && self.slow_rate_percent.is_some();
        let by_size = kind == Calls || beside;
        let by_span = kind == Time || (beside && self.size.is_none());
        let allowed = [
            ("threshold", self.threshold.is_some(), counts),
            ("within", self.within.is_some(), kind == Failures),
            ("size", self.size.is_some(), by_size),
            ("span", self.span.is_some(), by_span),
            ("buckets", self.buckets.is_some(), by_span),
            (
                "failure_rate_percent",
                self.failure_rate_percent.is_some(),
                !counts,
            ),
            ("min_calls", self.min_calls.is_some(), !counts || beside),
        ];
        match allowed
            .iter()
            .find(|(_, is_set, is_of_kind)| *is_set && !is_of_kind)
        {
            Some((setting, ..)) => Err(SettingsError::not_of_kind(
                &format!("window.{setting}"),
                kind.name(),
                kind.settings(),
            )),
            None => Ok(()),
        }
    }
}
