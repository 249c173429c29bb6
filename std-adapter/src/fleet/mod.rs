//! Breakers of many processes that share what they find out.
//!
//! **Others can make a breaker stop, and can make it look again. Only its own calls close it.** So the worst
//! that a lying instance, a stale message or a lost store can do is to hold a healthy dependency open for a
//! bounded time; nothing from outside but an operator's order ever lets traffic at a sick one.
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
//! use nanobreaker::fleet::{Exchange, Fleet, Link};
//! use std::time::Duration;
//!
//! // `Redis` of the crate nanobreaker-fleet in production, and its `InMemory` in tests.
//! fn start(exchange: impl Exchange) -> Result<(), Box<dyn std::error::Error>> {
//!     let fleet = Fleet::builder("checkout").quorum(2).allow_orders().exchange(exchange).start()?;
//!     let payments = SharedBreaker::builder().name("payments").fleet(&fleet).build()?;
//!
//!     fleet.isolate("payments", Duration::from_secs(1_800), "on call: the provider is in maintenance")?;
//!     if let Link::Alone { since } = fleet.status().link {
//!         println!("hears nobody since {since:?}");
//!     }
//! #   drop(payments);
//!     Ok(())
//! }
//! ```
//!
//! # The parts
//!
//! [`message`] is what is said, [`Exchange`] who carries it; stores are in the crate `nanobreaker-fleet`. `member` has
//! the rules of an instance, `state` is what a process knows, and `task` runs it all.

mod builder;
mod exchange;
mod lasting;
mod member;
pub mod message;
mod outbox;
#[cfg(feature = "metrics")]
mod publish;
mod state;
mod status;
mod task;

use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Duration;

use nanobreaker_core::Transition;
use tokio::task::JoinSet;

pub use builder::FleetBuilder;
pub use exchange::{Exchange, ExchangeError};
#[cfg(feature = "metrics")]
pub use publish::describe_metrics;
pub use status::{BreakerInFleet, FleetStatus, Link};

use crate::shared::BreakerRef;
use member::{Act, Member};
use message::{LONGEST_NAME, News, Order, OrderedAction, Report};
use task::Shared;

/// The longest order: an order that nobody remembers must end.
const LONGEST_ORDER: Duration = Duration::from_secs(7 * 24 * 3_600);

/// A process's part in a group of processes; cheap to clone.
///
/// It runs one task. Dropping the last handle ends that, and breakers go on as they do without a fleet.
/// Builders and registries that were given a fleet hold a handle; built breakers don't.
#[derive(Clone)]
pub struct Fleet {
    shared: Arc<Shared>,
    /// What runs in it ends when the last handle is dropped.
    _task: Arc<JoinSet<()>>,
}

/// What a fleet can't be, or won't do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// A name, a number or a time outside its limits.
    #[error("{field} is {value}, but must {allowed}")]
    Limits {
        /// Which setting.
        field: &'static str,
        /// What it was.
        value: String,
        /// What it can be.
        allowed: &'static str,
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
        self.tell(breaker, Some(order(OrderedAction::Isolate, duration, reason)?))
    }

    /// Lets all calls pass, likewise.
    ///
    /// # Errors
    ///
    /// See [`isolate`](Self::isolate).
    pub fn disable(&self, breaker: &str, duration: Duration, reason: &str) -> Result<(), FleetError> {
        self.tell(breaker, Some(order(OrderedAction::Disable, duration, reason)?))
    }

    /// Has it judge but reject nobody, likewise.
    ///
    /// # Errors
    ///
    /// See [`isolate`](Self::isolate).
    pub fn shadow(&self, breaker: &str, duration: Duration, reason: &str) -> Result<(), FleetError> {
        self.tell(breaker, Some(order(OrderedAction::Shadow, duration, reason)?))
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
        self.shared.terms.may_order
    }

    fn tell(&self, breaker: &str, order: Option<Order>) -> Result<(), FleetError> {
        if !self.may_order() {
            return Err(FleetError::NoOrders);
        }
        let breaker = checked_name("breaker", breaker)?;
        let report = Report { breaker, news: News::Order(order) };
        self.shared.tell(|state| state.outbox.put(report));
        Ok(())
    }

    /// What this process knows of the fleet.
    pub fn status(&self) -> FleetStatus {
        let (group, state) = (&self.shared.terms.group, self.shared.state());
        let mut breakers: Vec<_> = state.members.values().map(Member::seen).collect();
        breakers.sort_by(|one, other| one.name.cmp(&other.name));
        FleetStatus {
            group: Arc::clone(&group.name),
            instance: Arc::clone(&group.instance),
            link: state.alone_since.map_or(Link::Together, |since| Link::Alone { since }),
            heard_ago: state.heard_at.map(|at| at.elapsed()),
            breakers,
        }
    }

    /// A place for a breaker that is about to be built.
    pub(crate) fn member(&self) -> Arc<Membership> {
        Arc::new(Membership { number: fastrand::u64(..), shared: Arc::clone(&self.shared) })
    }
}

/// A name that fits into keys and messages.
fn checked_name(field: &'static str, name: &str) -> Result<Arc<str>, FleetError> {
    let is_fit = (1..=LONGEST_NAME).contains(&name.len()) && !name.contains(char::is_control);
    within(field, name, is_fit, "have 1 to 128 bytes and no control characters")?;
    Ok(Arc::from(name))
}

fn within(
    field: &'static str,
    value: impl Debug,
    is_fit: bool,
    allowed: &'static str,
) -> Result<(), FleetError> {
    if is_fit { Ok(()) } else { Err(FleetError::Limits { field, value: format!("{value:?}"), allowed }) }
}

fn order(action: OrderedAction, duration: Duration, reason: &str) -> Result<Order, FleetError> {
    let is_fit = (Duration::from_millis(1)..=LONGEST_ORDER).contains(&duration);
    within("an order's duration", duration, is_fit, "be from 1 ms to 7 days")?;
    let (left_ms, reason) = (duration.as_millis() as u32, checked_name("reason", reason)?);
    Ok(Order { action, left_ms, reason, id: fastrand::u64(..) })
}

impl Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fleet").field(&self.shared.terms.group).finish()
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
        let (number, terms) = (self.number, Arc::clone(&self.shared.terms));
        let member = Member::new(name, breaker, terms);
        self.shared.tell(move |state| state.join(number, member));
    }

    /// Runs on the thread that made the transition.
    pub(crate) fn changed(&self, transition: &Transition) {
        let change = *transition;
        self.tell(move |member| member.changed(&change));
    }

    /// A check failed: where this process holds the finding it goes on.
    #[cfg(feature = "check")]
    pub(crate) fn check_failed(&self) {
        self.tell(Member::check_failed);
    }

    /// Whether a finding is in force whose probe is another process's.
    #[cfg(feature = "check")]
    pub(crate) fn is_anothers(&self) -> bool {
        self.shared.state().members.get(&self.number).is_some_and(Member::is_covered)
    }

    /// What orders make of the breaker; `None` is shadow.
    #[cfg(feature = "state-file")]
    pub(crate) fn ordered(&self) -> Vec<Option<nanobreaker_core::Phase>> {
        self.shared.state().ordered(self.number)
    }

    fn tell(&self, mut what: impl FnMut(&mut Member) -> Option<Act> + Send + 'static) {
        let number = self.number;
        self.shared.tell(move |state| state.ask(|of, member| if of == number { what(member) } else { None }));
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        let number = self.number;
        self.shared.tell(move |state| drop(state.members.remove(&number)));
    }
}

#[cfg(test)]
pub(crate) mod tests;
