//! Seeing what breakers do: counts of calls, recent transitions, health, events and metrics.
//!
//! A [`Monitor`] watches breakers. It counts their calls in stripes, so that threads don't share a
//! counter, and adds them up only when somebody looks.

mod breaker;
mod health;
mod monitor;
#[cfg(feature = "metrics")]
mod publish;

pub use breaker::MonitoredBreaker;
#[cfg(feature = "admin")]
pub(crate) use health::rejects;
pub use health::{Health, HealthStatus, UnknownBreaker};
pub use monitor::Monitor;

#[cfg(feature = "metrics")]
pub use crate::watch::series::{Series, describe_metrics};
pub use crate::watch::{CallCounts, Change, Counts, RejectionCounts};

#[cfg(test)]
mod tests;
