//! The breakers by host: made on first use, found without a lock.

use std::fmt;

use papaya::HashMap;

use nanobreaker_core::{Clock, ConfigError, Phase};

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
            self.forget_healthy();
        }
        // Still full: of hosts that are down. This one is guarded for the one call only.
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

    /// Makes room. A closed breaker that is forgotten costs the failures in its window.
    fn forget_healthy(&self) {
        let is_closed = |breaker: &SharedBreaker<C>| breaker.snapshot().phase == Phase::Closed;
        self.breakers.pin().retain(|_, breaker| !is_closed(breaker));
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
    use super::*;

    fn hosts(max_hosts: usize) -> Hosts<crate::CoarseClock> {
        let mut hosts = Hosts::new(|_| SharedBreaker::builder().build());
        hosts.max_hosts = max_hosts;
        hosts
    }

    #[test]
    fn a_host_keeps_its_breaker_and_shares_it_with_no_other() {
        let hosts = hosts(10);
        hosts.get_or_make("a").unwrap().trip();
        assert_eq!(hosts.get("a").unwrap().snapshot().phase, Phase::Open);
        assert_eq!(
            hosts.get_or_make("b").unwrap().snapshot().phase,
            Phase::Closed
        );
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
        assert_eq!(hosts.get("down").unwrap().snapshot().phase, Phase::Open);
    }

    #[test]
    fn hosts_beyond_those_that_are_down_are_not_remembered() {
        let hosts = hosts(2);
        for host in ["a", "b"] {
            hosts.get_or_make(host).unwrap().trip();
        }
        assert!(hosts.get_or_make("c").unwrap().allow().is_ok());
        assert!(hosts.get("c").is_none());
    }
}
