//! What a fleet looks like from inside of one process.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::message::{Finding, Order};

/// What this process knows of its fleet.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FleetStatus {
    /// The group's name.
    pub group: Arc<str>,
    /// This process among the others.
    pub instance: Arc<str>,
    /// Whether it hears the others.
    pub link: Link,
    /// How long ago the store was last heard; `None` if it never was.
    pub heard_ago: Option<Duration>,
    /// The breakers of this process that the fleet has something to say about, by name.
    pub breakers: Vec<BreakerInFleet>,
}

/// Whether a process hears the others of its fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// It does.
    Together,
    /// It does not: its breakers are what they are without a fleet.
    Alone {
        /// Since when.
        since: SystemTime,
    },
}

/// What the fleet has to say about one breaker of this process.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BreakerInFleet {
    /// Its name.
    pub name: Arc<str>,
    /// How much longer this process votes that the dependency is broken.
    pub votes_for: Option<Duration>,
    /// The finding in force, as far as this process has heard.
    pub finding: Option<Finding>,
    /// Whether that finding's probe is this process's.
    pub is_holder: bool,
    /// The order that it obeys.
    pub order: Option<Order>,
}
