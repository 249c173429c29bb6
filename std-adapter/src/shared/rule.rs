//! What a shared breaker trips on, chosen at run time.

use std::time::Duration;

use nanobreaker_core::ConfigError;
use nanobreaker_core::window::{Adjustable, AnyWindow, WithSlow};

use super::limit::millis;

/// The words of a shared breaker's windows: enough for a threshold of 64, 1,024 calls or 32 buckets.
const WORDS: usize = 64;

/// The window of a [`SharedBreaker`](crate::SharedBreaker): any kind for failures, and maybe a rate
/// of slow calls.
///
/// Both can be replaced while calls go on: see [`SharedBreaker::adjust`](crate::SharedBreaker::adjust).
pub type SharedWindow = Adjustable<SharedRules>;

pub(super) type SharedRules = WithSlow<AnyWindow<WORDS>, AnyWindow<WORDS>>;

/// What judges failed calls, or slow ones; with settings yet to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
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

impl Rule {
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

/// The windows for failed calls and, where there is a rule for them, for slow ones.
pub(super) fn rules(failed: Rule, slow: Option<Rule>) -> Result<SharedRules, ConfigError> {
    let slow = slow.map_or_else(|| Ok(AnyWindow::missing()), Rule::slow_window)?;
    Ok(WithSlow::new(failed.window()?, slow))
}
