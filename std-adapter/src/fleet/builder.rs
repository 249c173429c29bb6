//! Starts a fleet.

use std::sync::Arc;

use tokio::runtime::Handle as Runtime;
use tokio::sync::mpsc;

use super::message::{Group, LONGEST_NAME};
use super::task::{Shared, run};
use super::{Exchange, Fleet, FleetError, Handle};

/// Collects what a [`Fleet`] is; [`start`](Self::start) checks it. `X` is the exchange.
#[derive(Debug)]
#[must_use = "call start() to get the fleet"]
pub struct FleetBuilder<X = ()> {
    group: Group,
    counts_requests: bool,
    may_order: bool,
    exchange: X,
}

impl FleetBuilder {
    pub(super) fn new(name: String) -> Self {
        let instance = format!("{:016x}", fastrand::u64(..)).into();
        let group = Group { name: name.into(), instance, quorum: 2, quorum_percent: 0 };
        Self { group, counts_requests: false, may_order: false, exchange: () }
    }
}

impl<X> FleetBuilder<X> {
    /// How many instances must have found out by their own calls before all are advised: at least 1, and 2
    /// unless set, so that one bad instance stops nobody else.
    pub fn quorum(mut self, instances: u32) -> Self {
        self.group.quorum = instances;
        self
    }

    /// That many per cent of the living instances as well, from 1 to 100, rounded up. Each instance then
    /// sends a heartbeat every five seconds, 20 % more or less; without this there is none.
    pub fn quorum_percent(mut self, percent: u32) -> Self {
        self.group.quorum_percent = percent;
        self
    }

    /// Whether [`trip`](crate::Breaker::trip) and [`trip_for_ms`](crate::Breaker::trip_for_ms) are evidence
    /// as well. They are not unless set: whoever calls them may have heard it from somebody else.
    pub fn count_requested_trips(mut self) -> Self {
        self.counts_requests = true;
        self
    }

    /// This process may give orders to all of the group.
    pub fn allow_orders(mut self) -> Self {
        self.may_order = true;
        self
    }

    /// Where the instances meet.
    pub fn exchange<E: Exchange>(self, exchange: E) -> FleetBuilder<E> {
        let Self { group, counts_requests, may_order, exchange: _ } = self;
        FleetBuilder { group, counts_requests, may_order, exchange }
    }
}

impl<E: Exchange> FleetBuilder<E> {
    /// Starts the fleet's one task in the tokio runtime of the caller. It never waits for the store.
    ///
    /// # Errors
    ///
    /// A [`FleetError`] that names what is outside its limits; also outside of a tokio runtime.
    pub fn start(self) -> Result<Fleet, FleetError> {
        let Self { group, counts_requests, may_order, exchange } = self;
        checked_name("group", &group.name)?;
        if group.name.contains(['{', '}']) {
            return Err(FleetError::Braces { group: group.name.as_ref().into() });
        }
        within("quorum", group.quorum, 1, 10_000)?;
        if group.quorum_percent > 0 {
            within("quorum_percent", group.quorum_percent, 1, 100)?;
        }
        let runtime = Runtime::try_current().map_err(|_| FleetError::NoRuntime)?;
        let (inbox, events) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared::new(group, counts_requests, may_order, inbox));
        let task = runtime.spawn(run(exchange, Arc::clone(&shared), events)).abort_handle();
        Ok(Fleet(Arc::new(Handle { shared, task })))
    }
}

/// A name that fits into keys and messages.
pub(super) fn checked_name(field: &'static str, name: &str) -> Result<Arc<str>, FleetError> {
    let is_fit = (1..=LONGEST_NAME).contains(&name.len()) && !name.contains(char::is_control);
    if is_fit { Ok(Arc::from(name)) } else { Err(FleetError::Name { field, name: name.to_owned() }) }
}

fn within(field: &'static str, value: u32, least: u32, most: u32) -> Result<(), FleetError> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(FleetError::Limits { field, value, least, most })
    }
}
