//! What is told of a breaker: sums, trips and changes of phase.

use serde::Serialize;

use crate::why::Evidence;

/// What became of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All calls.
    pub calls: u64,
    /// Those that passed and succeeded in time.
    pub good: u64,
    /// Those that passed and failed or were slow.
    pub bad: u64,
    /// Rejected, and would have failed or been slow: avoided.
    pub saved: u64,
    /// Rejected, and would have succeeded in time: lost.
    pub lost: u64,
    /// How long the callers of those that passed waited for failures, in microseconds.
    pub waited_us: u64,
    /// What the saved calls would have taken, in microseconds.
    pub saved_us: u64,
    /// The most calls under way at once.
    pub most_under_way: u32,
    /// Times that the breaker opened while it let calls pass.
    pub trips: u64,
    /// Of those, the ones at a moment when the outage made no call fail.
    pub trips_while_well: u64,
    /// Times that it opened again before it was closed.
    pub reopenings: u64,
    /// Time during which it was not closed, in microseconds.
    pub not_closed_us: u64,
}

/// One time that the breaker opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Trip {
    /// When, in microseconds of the scene.
    pub at_us: u64,
    /// Why, in the core's words.
    pub cause: &'static str,
    /// What it had seen.
    pub evidence: Evidence,
    /// Whether the outage made no call fail at that moment.
    pub while_well: bool,
    /// How often it opened again before it was closed.
    pub reopenings: u32,
    /// When it was closed again.
    pub closed_at_us: Option<u64>,
    /// Doomed calls avoided.
    pub saved: u64,
    /// Good calls lost.
    pub lost: u64,
}

/// A change of phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// When, in microseconds of the scene.
    pub at_us: u64,
    /// The phase from then on.
    pub to: &'static str,
    /// Why.
    pub cause: &'static str,
}
