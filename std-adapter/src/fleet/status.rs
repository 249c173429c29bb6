//! What a fleet looks like from inside of one process.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::message::OrderedAction;
use super::state::Joined;

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
    /// The finding in force.
    pub finding: Option<FindingInForce>,
    /// The order that it obeys.
    pub order: Option<OrderInForce>,
}

/// A finding that is in force, as far as this process has heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FindingInForce {
    /// Its number.
    pub epoch: u64,
    /// When the next probe goes.
    pub left: Duration,
    /// Whether the probe is this process's.
    pub is_holder: bool,
}

/// An order that is obeyed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrderInForce {
    /// What was ordered.
    pub action: OrderedAction,
    /// Who ordered it, and why.
    pub reason: Arc<str>,
    /// For how much longer.
    pub left: Duration,
}

impl BreakerInFleet {
    pub(super) fn of(Joined { name, rules, .. }: &Joined, now_ms: u64) -> Self {
        let left = |until_ms: u64| Duration::from_millis(until_ms.saturating_sub(now_ms));
        Self {
            name: Arc::clone(name),
            votes_for: rules.votes_until_ms(now_ms).map(left),
            finding: rules.finding(now_ms).map(|known| FindingInForce {
                epoch: known.what.epoch,
                left: left(known.until_ms),
                is_holder: rules.holds(known),
            }),
            order: rules.obeys.as_ref().map(|obeyed| OrderInForce {
                action: obeyed.what.action,
                reason: Arc::clone(&obeyed.what.reason),
                left: left(obeyed.until_ms),
            }),
        }
    }
}
