//! Seeing what breakers do: counts of calls, recent transitions, health, events and metrics.
//!
//! A `Monitor` watches breakers. It counts their calls in stripes, so that threads don't share a
//! counter, and adds them up only when somebody looks.

#[cfg(feature = "monitor")]
mod breaker;
#[cfg(feature = "monitor")]
mod counts;
#[cfg(feature = "monitor")]
mod health;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg(feature = "monitor")]
mod monitor;
#[cfg(feature = "tracing")]
pub(crate) mod tracing;
#[cfg(feature = "monitor")]
mod watch;

#[cfg(feature = "monitor")]
pub use breaker::MonitoredBreaker;
#[cfg(feature = "monitor")]
pub use counts::{CallCounts, Counts, RejectionCounts};
#[cfg(feature = "monitor")]
pub use health::{Health, HealthStatus};
#[cfg(feature = "metrics")]
pub use metrics::describe_metrics;
#[cfg(feature = "monitor")]
pub use monitor::Monitor;
#[cfg(feature = "monitor")]
pub use watch::Change;
#[cfg(feature = "monitor")]
pub(crate) use watch::Watch;

#[cfg(all(test, feature = "monitor"))]
mod tests;
