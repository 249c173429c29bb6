//! Breakers of many processes that share what they find out.
//!
//! **Others can make a breaker stop, and can make it look again. Only its own calls close it.** So the worst
//! that a lying instance, a stale message or a lost store can do is to hold a healthy dependency open for a
//! bounded time; nothing from outside ever lets traffic at a sick one.
//!
//! Where enough processes ([`quorum`](FleetBuilder::quorum)) found by their own calls that a dependency is
//! broken, all are advised to stop ([`Breaker::advise_ms`](crate::Breaker::advise_ms)). One of them holds
//! the finding and probes. When its probes succeed all look again, one probe each, spread over a time
//! ([`Breaker::recover`](crate::Breaker::recover)). When they fail the finding goes on, and the next one
//! holds it; since it probes for all, it halves what backoff made longer than an open time.
//!
//! No call ever waits for any of that: transitions are told to one task, which does the rest. Without a
//! store each process is what it is without a fleet.
//!
//! ```
//! use nanobreaker::SharedBreaker;
//! use nanobreaker::fleet::{Fleet, InMemory, Link};
//! use std::time::Duration;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // `Redis::connect(...)` of the crate nanobreaker-fleet in production.
//! let fleet = Fleet::builder("checkout").quorum(2).allow_orders().exchange(InMemory::new()).start()?;
//! let payments = SharedBreaker::builder().name("payments").fleet(&fleet).build()?;
//!
//! fleet.isolate("payments", Duration::from_secs(1_800), "on call: the provider is in maintenance")?;
//! if let Link::Alone { since } = fleet.status().link {
//!     println!("hears nobody since {since:?}");
//! }
//! # drop(payments);
//! # Ok(())
//! # }
//! ```
//!
//! # The parts
//!
//! [`message`] is what is said, [`Exchange`] who carries it. `store` has the rules of the store and `member`
//! those of an instance, both as pure code. `state` is what a process knows, and `task` runs it all.

mod builder;
mod exchange;
mod lasting;
mod member;
mod memory;
pub mod message;
mod outbox;
#[cfg(feature = "metrics")]
mod publish;
mod state;
mod status;
mod store;
mod task;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use nanobreaker_core::Transition;
use tokio::task::AbortHandle;

pub use builder::FleetBuilder;
pub use exchange::{Exchange, ExchangeError};
pub use memory::InMemory;
#[cfg(feature = "metrics")]
pub use publish::describe_metrics;
pub use status::{BreakerInFleet, FindingInForce, FleetStatus, Link, OrderInForce};

use crate::shared::BreakerRef;
use builder::checked_name;

use message::{News, Order, OrderedAction, Report};
use state::Event;
use task::Shared;

/// The longest order: an order that nobody remembers must end.
const LONGEST_ORDER: Duration = Duration::from_secs(7 * 24 * 3_600);

/// A process's part in a group of processes; cheap to clone.
///
/// It runs one task. Dropping the last handle ends that, and breakers go on as they do without a fleet.
/// Builders and registries that were given a fleet hold a handle; built breakers don't.
#[derive(Clone)]
pub struct Fleet(Arc<Handle>);

struct Handle {
    shared: Arc<Shared>,
    task: AbortHandle,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What a fleet can't be, or won't do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// A name that is empty, too long, or has control characters.
    #[error("{field} is {name:?}, but must have 1 to 128 bytes and no control characters")]
    Name {
        /// Whose name.
        field: &'static str,
        /// The name.
        name: String,
    },
    /// A group's name with braces, which the store's keys use.
    #[error("group is {group:?}, but must not have braces")]
    Braces {
        /// The name.
        group: String,
    },
    /// A number outside its limits.
    #[error("{field} is {value}, but must be from {least} to {most}")]
    Limits {
        /// Which setting.
        field: &'static str,
        /// What it was.
        value: u32,
        /// The least that it can be.
        least: u32,
        /// The most that it can be.
        most: u32,
    },
    /// An order that does not end within a week, or at once.
    #[error("an order's duration is {duration:?}, but must be from 1 ms to 7 days")]
    Duration {
        /// The duration.
        duration: Duration,
    },
    /// An order from a process that may not give any.
    #[error("this process may not give orders: start its fleet with allow_orders()")]
    NoOrders,
    /// Started outside of a tokio runtime.
    #[error("a fleet runs in a tokio runtime: call start() inside of one")]
    NoRuntime,
}

impl Fleet {
    /// A builder of this process's part in `group`: one service in one region. Nothing crosses groups.
    pub fn builder(group: impl Into<String>) -> FleetBuilder {
        FleetBuilder::new(group.into())
    }

    /// Holds this breaker open in all processes of the group, for `duration`, unless somebody there
    /// decides otherwise. `reason` says who wants it and why.
    ///
    /// # Errors
    ///
    /// A [`FleetError`] where this process may not give orders, or what it says is outside the limits.
    pub fn isolate(&self, breaker: &str, duration: Duration, reason: &str) -> Result<(), FleetError> {
        self.order(breaker, OrderedAction::Isolate, duration, reason)
    }

    /// Lets all calls pass, likewise.
    ///
    /// # Errors
    ///
    /// See [`isolate`](Self::isolate).
    pub fn disable(&self, breaker: &str, duration: Duration, reason: &str) -> Result<(), FleetError> {
        self.order(breaker, OrderedAction::Disable, duration, reason)
    }

    /// Has it judge but reject nobody, likewise.
    ///
    /// # Errors
    ///
    /// See [`isolate`](Self::isolate).
    pub fn shadow(&self, breaker: &str, duration: Duration, reason: &str) -> Result<(), FleetError> {
        self.order(breaker, OrderedAction::Shadow, duration, reason)
    }

    /// Ends the order for this breaker before its time.
    ///
    /// # Errors
    ///
    /// See [`isolate`](Self::isolate).
    pub fn withdraw(&self, breaker: &str) -> Result<(), FleetError> {
        self.tell(breaker, None)
    }

    /// Whether this process may give orders.
    pub fn may_order(&self) -> bool {
        self.0.shared.may_order
    }

    fn order(
        &self,
        breaker: &str,
        action: OrderedAction,
        duration: Duration,
        reason: &str,
    ) -> Result<(), FleetError> {
        if duration > LONGEST_ORDER || duration.as_millis() == 0 {
            return Err(FleetError::Duration { duration });
        }
        let reason = checked_name("reason", reason)?;
        let left_ms = u32::try_from(duration.as_millis()).unwrap_or(u32::MAX);
        self.tell(breaker, Some(Order { action, left_ms, reason, id: fastrand::u64(..) }))
    }

    fn tell(&self, breaker: &str, order: Option<Order>) -> Result<(), FleetError> {
        if !self.may_order() {
            return Err(FleetError::NoOrders);
        }
        let breaker = checked_name("breaker", breaker)?;
        self.0.shared.report(Report { breaker, news: News::Order(order) });
        Ok(())
    }

    /// What this process knows of the fleet.
    pub fn status(&self) -> FleetStatus {
        let shared = &self.0.shared;
        let now_ms = shared.now_ms();
        let state = shared.state();
        let mut breakers: Vec<_> =
            state.joined.values().map(|joined| BreakerInFleet::of(joined, now_ms)).collect();
        breakers.sort_by(|one, other| one.name.cmp(&other.name));
        FleetStatus {
            group: Arc::clone(&shared.group.name),
            instance: Arc::clone(&shared.group.instance),
            link: state.alone_since.map_or(Link::Together, |since| Link::Alone { since }),
            heard_ago: state.heard_ms.map(|at_ms| Duration::from_millis(now_ms.saturating_sub(at_ms))),
            breakers,
        }
    }

    /// A place for a breaker that is about to be built.
    pub(crate) fn member(&self) -> Arc<Membership> {
        Arc::new(Membership { number: fastrand::u64(..), shared: Arc::clone(&self.0.shared) })
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fleet").field(&self.0.shared.group).finish()
    }
}

/// A breaker's membership: it ends with the breaker, which holds it beside its listener.
pub(crate) struct Membership {
    /// Drawn at random, so no two are alike.
    number: u64,
    shared: Arc<Shared>,
}

impl Membership {
    pub(crate) fn join(&self, name: Arc<str>, breaker: BreakerRef) {
        self.tell(Event::Joined(name, breaker));
    }

    /// Never waits, and allocates at most: it runs on the thread that made the transition.
    pub(crate) fn changed(&self, transition: &Transition) {
        self.tell(Event::Changed(*transition));
    }

    /// Whether a finding is in force whose probe is another process's.
    #[cfg(feature = "check")]
    pub(crate) fn is_anothers(&self) -> bool {
        let (now_ms, state) = (self.shared.now_ms(), self.shared.state());
        let rules = state.joined.get(&self.number).map(|joined| &joined.rules);
        rules.is_some_and(|rules| rules.finding(now_ms).is_some_and(|known| !rules.holds(known)))
    }

    /// What the order says that the breaker obeys.
    #[cfg(feature = "state-file")]
    pub(crate) fn obeys(&self) -> Option<OrderedAction> {
        let state = self.shared.state();
        let obeyed = state.joined.get(&self.number)?.rules.obeys.as_ref()?;
        Some(obeyed.what.action)
    }

    /// A check failed: where this process holds the finding it goes on.
    #[cfg(feature = "check")]
    pub(crate) fn check_failed(&self) {
        self.tell(Event::CheckFailed);
    }

    fn tell(&self, event: Event) {
        // Where the fleet has ended there is nobody to tell.
        let _ = self.shared.inbox.send((self.number, event));
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.tell(Event::Left);
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
