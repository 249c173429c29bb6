//! Starts a fleet.

use std::sync::Arc;

use tokio::runtime::Handle as Runtime;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::message::Group;
use super::task::{Shared, run};
use super::{Exchange, Fleet, FleetError, checked_name, within};

/// What a fleet is started with.
#[derive(Debug)]
pub(super) struct Terms {
    pub(super) group: Arc<Group>,
    /// Whether `trip()` is evidence as well.
    pub(super) counts_requests: bool,
    pub(super) may_order: bool,
}

/// Collects what a [`Fleet`] is; [`start`](Self::start) checks it. `X` is the exchange.
#[derive(Debug)]
#[must_use = "call start() to get the fleet"]
pub struct FleetBuilder<X = ()> {
    terms: Terms,
    exchange: X,
}

impl FleetBuilder {
    pub(super) fn new(name: String) -> Self {
        let instance = format!("{:016x}", fastrand::u64(..)).into();
        let group = Arc::new(Group { name: name.into(), instance, quorum: 2, quorum_percent: 0 });
        Self { terms: Terms { group, counts_requests: false, may_order: false }, exchange: () }
    }
}

impl<X> FleetBuilder<X> {
    /// How many instances must have found out by their own calls before all are advised: at least 1, and 2
    /// unless set, so that one bad instance stops nobody else.
    pub fn quorum(mut self, instances: u32) -> Self {
        Arc::make_mut(&mut self.terms.group).quorum = instances;
        self
    }

    /// That many per cent of the living instances as well, from 1 to 100, rounded up. Each instance then
    /// sends a heartbeat every five seconds, 20 % more or less. With 0, as unless set, there is no share and none.
    pub fn quorum_percent(mut self, percent: u32) -> Self {
        Arc::make_mut(&mut self.terms.group).quorum_percent = percent;
        self
    }

    /// Whether [`trip`](crate::Breaker::trip) and [`trip_for_ms`](crate::Breaker::trip_for_ms) are evidence
    /// as well. They are not unless set: whoever calls them may have heard it from somebody else.
    pub fn count_requested_trips(mut self) -> Self {
        self.terms.counts_requests = true;
        self
    }

    /// This process may give orders to all of the group.
    pub fn allow_orders(mut self) -> Self {
        self.terms.may_order = true;
        self
    }

    /// Where the instances meet.
    pub fn exchange<E: Exchange>(self, exchange: E) -> FleetBuilder<E> {
        FleetBuilder { terms: self.terms, exchange }
    }
}

impl<E: Exchange> FleetBuilder<E> {
    /// Starts the fleet's one task in the tokio runtime of the caller. It never waits for the store.
    ///
    /// # Errors
    ///
    /// A [`FleetError`] that names what is outside its limits; also outside of a tokio runtime.
    pub fn start(self) -> Result<Fleet, FleetError> {
        let group = &self.terms.group;
        checked_name("group", &group.name)?;
        within("group", &group.name, !group.name.contains(['{', '}']), "not have braces")?;
        within("quorum", group.quorum, (1..=10_000).contains(&group.quorum), "be from 1 to 10000")?;
        within("quorum_percent", group.quorum_percent, group.quorum_percent <= 100, "be from 1 to 100")?;
        let runtime = Runtime::try_current().map_err(|_| FleetError::NoRuntime)?;
        let (inbox, events) = mpsc::unbounded_channel();
        let (shared, mut task) = (Arc::new(Shared::new(self.terms, inbox)), JoinSet::new());
        task.spawn_on(run(self.exchange, Arc::clone(&shared), events), &runtime);
        Ok(Fleet { shared, _task: Arc::new(task) })
    }
}
