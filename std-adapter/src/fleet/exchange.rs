//! What carries reports and findings between processes.

use std::error::Error;
use std::future::Future;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::message::{Group, Heard, Reply, Report};

/// Where instances meet: Redis, Valkey or memory, for tests (all in the crate `nanobreaker-fleet`), or one of your own.
///
/// The fleet's task is the only one who calls it, so it may take its time: no caller of a breaker ever waits
/// for it. It needs no order and no delivery once only, since whatever is said holds for a while, has a
/// number, and is said again while it is true. What it needs is one clock, the store's, and the rules of
/// who holds a finding, which `store.rs` of `nanobreaker-fleet` has as plain code.
pub trait Exchange: Send + Sync + 'static {
    /// Takes reports to the store, at most 64; the answer is the findings that are in force for their breakers. Where
    /// there are none it is all findings and orders in force.
    fn ask(
        &self,
        group: &Arc<Group>,
        reports: &[Report],
    ) -> impl Future<Output = Result<Reply, ExchangeError>> + Send;

    /// Tells `ear` whatever is said in the group for as long as it is polled, and links again by itself.
    /// [`Heard::Linked`] begins each time without a gap, and [`Heard::Lost`] ends it.
    fn hear(&self, group: &Arc<Group>, ear: mpsc::Sender<Heard>) -> impl Future<Output = ()> + Send;
}

/// An exchange that could not do what it was asked for. The fleet tries again.
#[derive(Debug, thiserror::Error)]
#[error("the fleet's store: {0}")]
pub struct ExchangeError(#[source] Box<dyn Error + Send + Sync>);

impl ExchangeError {
    /// The reason.
    pub fn new(reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(reason.into())
    }
}
