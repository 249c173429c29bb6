//! What the simulation asks of a breaker.

/// A breaker in a simulation. Times are milliseconds and never go back.
pub trait Rule {
    /// Whether all calls pass and are judged.
    fn is_closed(&self) -> bool;

    /// May a call begin?
    fn allow(&mut self, now: f64) -> Reply;

    /// A call that was granted has ended.
    fn record(&mut self, ticket: Ticket, outcome: Outcome, now: f64);

    /// What a closed rule must be told of the successes to come, so that its state is as if it were told
    /// of each.
    fn attention(&self, now: f64) -> Attention;

    /// So many calls succeeded since it was last told of any. All fall into the time that it asked for,
    /// `at` is one of theirs. For rules that ask for [`Attention::Next`] or [`Attention::Counted`].
    fn succeeded(&mut self, calls: u64, at: f64) {
        let _ = (calls, at);
    }

    /// Between these times so many calls were rejected, without being asked for one by one.
    fn rejected(&mut self, calls_per_ms: f64, from: f64, to: f64) {
        let _ = (calls_per_ms, from, to);
    }
}

/// The right to make a call; what it holds is the rule's own matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(pub u32);

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was answered well.
    Success,
    /// It failed.
    Failure,
}

impl Outcome {
    /// The outcome of a call that failed or not.
    pub fn of(failed: bool) -> Self {
        if failed { Self::Failure } else { Self::Success }
    }
}

/// A rule's answer to a call that wants to begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reply {
    /// It may.
    Granted(Ticket),
    /// It may not, and nor may any other before this time or before an outcome is recorded.
    Rejected {
        /// The time.
        until: f64,
    },
}

/// What a rule must be told of successes.
///
/// Successes are a Poisson process, so it has no memory: what a rule need not be told can be left out,
/// or drawn when it matters, and nothing else changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Attention {
    /// Nothing: its state would not change.
    Nothing,
    /// The next so many.
    Next(u32),
    /// When the last one before a failure was.
    Last,
    /// How many there were.
    Counted {
        /// At the latest then.
        until: f64,
        /// And before the next failure. Otherwise that failure can't trip, whatever the number is.
        before_failure: bool,
    },
}
