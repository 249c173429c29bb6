//! A fleet's metrics, through the `metrics` facade.

use std::sync::Arc;
use std::time::Duration;

use metrics::{Unit, describe_gauge, gauge};

use super::message::OrderedAction;
use super::{BreakerInFleet, Fleet, Link};

const ALONE: &str = "nanobreaker_fleet_alone";
const HEARD: &str = "nanobreaker_fleet_heard_seconds";
const FINDING: &str = "nanobreaker_fleet_finding";
const ORDER: &str = "nanobreaker_fleet_order";

/// Metrics, with the feature `metrics`.
///
/// | metric | kind | labels |
/// | ------ | ---- | ------ |
/// | `nanobreaker_fleet_alone` | gauge | `group`: 1 while this process does not hear the others, else 0 |
/// | `nanobreaker_fleet_heard_seconds` | gauge | `group`: since the store was last heard |
/// | `nanobreaker_fleet_finding` | gauge | `group`, `breaker`: 1 while a finding is in force, else 0 |
/// | `nanobreaker_fleet_order` | gauge | `group`, `breaker`, `action`: 1 for the order that is obeyed, else 0 |
impl Fleet {
    /// Publishes the fleet's state: before each scrape, or every so often
    /// ([`publish_every`](Self::publish_every)).
    pub fn publish(&self) {
        let status = self.status();
        let (group, flag) = (|| Arc::clone(&status.group), |is: bool| f64::from(u8::from(is)));
        gauge!(ALONE, "group" => group()).set(flag(matches!(status.link, Link::Alone { .. })));
        if let Some(heard) = status.heard_ago {
            gauge!(HEARD, "group" => group()).set(heard.as_secs_f64());
        }
        for BreakerInFleet { name, finding, order, .. } in &status.breakers {
            gauge!(FINDING, "group" => group(), "breaker" => Arc::clone(name)).set(flag(finding.is_some()));
            for action in OrderedAction::ALL {
                let is_obeyed = order.as_ref().is_some_and(|order| order.action == action);
                let name = Arc::clone(name);
                gauge!(ORDER, "group" => group(), "breaker" => name, "action" => action.name())
                    .set(flag(is_obeyed));
            }
        }
    }

    /// Publishes again and again; never returns. **Dropping** the future ends it.
    pub async fn publish_every(&self, period: Duration) {
        loop {
            self.publish();
            tokio::time::sleep(period).await;
        }
    }
}

/// Tells the recorder what a fleet's metrics mean.
pub fn describe_metrics() {
    describe_gauge!(ALONE, "1 while this process does not hear the others of its fleet");
    describe_gauge!(HEARD, Unit::Seconds, "Since the fleet's store was last heard");
    describe_gauge!(FINDING, "1 while the fleet's finding that the dependency is broken is in force");
    describe_gauge!(ORDER, "1 for the fleet's order that the breaker obeys");
}

#[cfg(test)]
mod tests {
    use metrics_util::debugging::{DebugValue, DebuggingRecorder};

    use super::*;
    use crate::SharedBreaker;
    use crate::fleet::tests::Echo;

    #[tokio::test(start_paused = true)]
    async fn a_finding_and_being_together_are_published() {
        let recorder = DebuggingRecorder::new();
        let seen = recorder.snapshotter();
        let fleet = Fleet::builder("shop").quorum(1).exchange(Echo::new()).start().unwrap();
        let builder = SharedBreaker::builder().name("payments").consecutive(1);
        let payments = builder.fleet(&fleet).build().unwrap();
        let published = || {
            metrics::with_local_recorder(&recorder, || fleet.publish());
            let mut values = std::collections::BTreeMap::new();
            for (key, _, _, value) in seen.snapshot().into_vec() {
                if let DebugValue::Gauge(value) = value {
                    values.insert(key.key().name().to_owned(), value.into_inner());
                }
            }
            // Before it has joined nothing is published of the breaker.
            (values[ALONE], values.get(FINDING).copied().unwrap_or_default())
        };
        assert_eq!(published().0, 1.0, "not linked yet");
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(published(), (0.0, 0.0));
        payments.allow().unwrap().failure();
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(published(), (0.0, 1.0));
    }
}
