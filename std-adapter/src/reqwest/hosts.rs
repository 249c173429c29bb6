//! The breakers by host: made on first use, found without a lock.

use std::fmt;

use papaya::HashMap;

use nanobreaker_core::{Clock, ConfigError, Phase, Snapshot};

use crate::shared::SharedBreaker;

/// How many hosts are remembered.
const MAX_HOSTS: usize = 10_000;

type Make<C> = dyn Fn(&str) -> Result<SharedBreaker<C>, ConfigError> + Send + Sync;

/// Finds the breaker of a host.
pub(super) struct Hosts<C: Clock> {
    breakers: HashMap<Box<str>, SharedBreaker<C>>,
    make: Box<Make<C>>,
    max_hosts: usize,
}

impl<C: Clock> Hosts<C> {
    pub(super) fn new(
        make: impl Fn(&str) -> Result<SharedBreaker<C>, ConfigError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            breakers: HashMap::new(),
            make: Box::new(make),
            max_hosts: MAX_HOSTS,
        }
    }

    /// The host's breaker, made if this is its first use.
    pub(super) fn get_or_make(&self, host: &str) -> Result<SharedBreaker<C>, ConfigError> {
        if let Some(breaker) = self.get(host) {
            return Ok(breaker);
        }
        let made = (self.make)(host)?;
        let breakers = self.breakers.pin();
        if breakers.len() >= self.max_hosts {
            self.forget_passable();
        }
        // Still full, of hosts that are down: this one's breaker is not kept.
        if breakers.len() >= self.max_hosts {
            return Ok(made);
        }
        // Where two threads made one, both use the first.
        Ok(breakers.get_or_insert(host.into(), made).clone())
    }

    /// The host's breaker, if it was used.
    pub(super) fn get(&self, host: &str) -> Option<SharedBreaker<C>> {
        self.breakers.pin().get(host).cloned()
    }

    /// All hosts with their breakers, in no order.
    pub(super) fn all(&self) -> Vec<(String, SharedBreaker<C>)> {
        let breakers = self.breakers.pin();
        breakers
            .iter()
            .map(|(host, breaker)| (host.to_string(), breaker.clone()))
            .collect()
    }

    /// Makes room: forgets breakers that let the next call pass. That costs what their windows hold,
    /// and the streaks of their backoff.
    fn forget_passable(&self) {
        self.breakers
            .pin()
            .retain(|_, breaker| rejects(&breaker.snapshot()));
    }
}

/// Whether a next call could be rejected, or an operator decided about them. A breaker that is not
/// called stays in its phase, so that a time which is over says more.
fn rejects(snapshot: &Snapshot) -> bool {
    let is_pending = snapshot.time_left_ms != Some(0);
    match snapshot.phase {
        Phase::Closed => false,
        Phase::HalfOpen => is_pending && snapshot.in_flight > 0,
        Phase::Open | Phase::Recovering => is_pending,
        Phase::Isolated | Phase::Disabled => true,
    }
}

impl<C: Clock> fmt::Debug for Hosts<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hosts")
            .field("hosts", &self.breakers.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use nanobreaker_core::ManualClock;

    use super::*;

    fn hosts(max_hosts: usize) -> Hosts<ManualClock> {
        let make = |_: &str| SharedBreaker::builder().clock(ManualClock::new(0)).build();
        let mut hosts = Hosts::new(make);
        hosts.max_hosts = max_hosts;
        hosts
    }

    fn phase(hosts: &Hosts<ManualClock>, host: &str) -> Option<Phase> {
        hosts.get(host).map(|breaker| breaker.snapshot().phase)
    }

    #[test]
    fn a_host_keeps_its_breaker_and_shares_it_with_no_other() {
        let hosts = hosts(10);
        hosts.get_or_make("a").unwrap().trip();
        hosts.get_or_make("b").unwrap();
        assert!(hosts.get_or_make("a").unwrap().allow().is_err());
        assert_eq!(phase(&hosts, "b"), Some(Phase::Closed));
        assert_eq!(hosts.all().len(), 2);
    }

    #[test]
    fn hosts_that_are_down_are_remembered_when_room_is_made() {
        let hosts = hosts(3);
        hosts.get_or_make("down").unwrap().trip();
        for host in 0..100 {
            hosts.get_or_make(&host.to_string()).unwrap();
            assert!(hosts.all().len() <= 3);
        }
        assert_eq!(phase(&hosts, "down"), Some(Phase::Open));
    }

    #[test]
    fn hosts_beyond_those_that_are_down_are_remembered_once_one_may_be_back() {
        let hosts = hosts(2);
        for host in ["a", "b"] {
            hosts.get_or_make(host).unwrap().trip();
        }
        assert!(hosts.get_or_make("c").unwrap().allow().is_ok());
        assert_eq!(phase(&hosts, "c"), None);

        hosts.get("a").unwrap().clock().advance(10_000);
        hosts.get_or_make("c").unwrap();
        assert_eq!(phase(&hosts, "a"), None);
        assert_eq!(phase(&hosts, "b"), Some(Phase::Open));
        assert_eq!(phase(&hosts, "c"), Some(Phase::Closed));
    }

    #[test]
    fn a_host_whose_last_probe_was_cancelled_is_not_remembered_for_ever() {
        let hosts = hosts(1);
        let breaker = hosts.get_or_make("left").unwrap();
        breaker.trip();
        breaker.clock().advance(10_000);
        drop(breaker.allow().unwrap());
        assert_eq!(phase(&hosts, "left"), Some(Phase::HalfOpen));
        hosts.get_or_make("next").unwrap();
        assert_eq!(phase(&hosts, "left"), None);
    }

    #[test]
    fn what_an_operator_decided_is_remembered() {
        let hosts = hosts(2);
        hosts.get_or_make("held").unwrap().isolate();
        hosts.get_or_make("free").unwrap().disable();
        hosts.get_or_make("next").unwrap();
        assert_eq!(phase(&hosts, "held"), Some(Phase::Isolated));
        assert_eq!(phase(&hosts, "free"), Some(Phase::Disabled));
    }
}
