//! What is measured: a breaker behind the smallest interface that every one of them can serve.
//!
//! A [`Peer`] builds a breaker and hands out callers. A caller makes one protected call: it asks, does the
//! work if it may, and reports the outcome. A [`Case`] is one peer doing one [`Op`], and runs it in a loop
//! compiled for that peer, so that nothing but the loop itself stands between the clock and the breaker.

use std::fmt;
use std::hint::black_box;

/// What the protected call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// The dependency answers.
    Succeed,
    /// The dependency fails.
    Fail,
}

/// How one protected call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was admitted, and its success recorded.
    Succeeded,
    /// It was admitted, and its failure recorded.
    Failed,
    /// It was not admitted.
    Rejected,
}

/// The error of the protected call. It holds nothing, so that no peer pays for moving it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault;

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the dependency failed")
    }
}

impl std::error::Error for Fault {}

/// The protected call itself.
#[inline(always)]
pub fn perform(work: Work) -> Result<(), Fault> {
    match work {
        Work::Succeed => Ok(()),
        Work::Fail => Err(Fault),
    }
}

/// The answer of a call that was admitted.
#[inline(always)]
pub fn admitted(done: Result<(), Fault>) -> Answer {
    match done {
        Ok(()) => Answer::Succeeded,
        Err(Fault) => Answer::Failed,
    }
}

/// When the breaker trips. It stays open for an hour in either case: no measurement waits that long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limits {
    /// Five failures in a row, or whatever comes nearest to that in a breaker that counts otherwise.
    Ordinary,
    /// No number of failures trips it: for measuring a failure that does not trip.
    Unreachable,
}

/// How long every tripped breaker stays open.
pub const OPEN_FOR: std::time::Duration = std::time::Duration::from_secs(3600);

/// One breaker crate, used as its documentation says.
pub trait Peer: Send + Sync + Sized + 'static {
    /// The crate's name in the registry.
    const WHO: &'static str;

    /// A closed breaker.
    fn build(limits: Limits) -> Self;

    /// One caller's way to the breaker: a thread makes one and keeps it, as it would keep a clone of a service.
    fn caller(&self) -> impl FnMut(Work) -> Answer;

    /// Opens the breaker on an operator's word. False where the crate has no such thing.
    fn force_open(&self) -> bool {
        false
    }
}

/// What is done with a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Closed: admitted, succeeded, recorded.
    Healthy,
    /// Closed: admitted, failed, recorded, and nothing trips.
    Failure,
    /// Open after failures: rejected.
    Reject,
    /// Open on an operator's word: rejected.
    RejectForced,
}

impl Op {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 4] = [Self::Healthy, Self::Failure, Self::Reject, Self::RejectForced];

    /// The name in the table and in the JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Failure => "failure",
            Self::Reject => "reject",
            Self::RejectForced => "reject_forced",
        }
    }

    const fn work(self) -> Work {
        match self {
            Self::Failure => Work::Fail,
            _ => Work::Succeed,
        }
    }

    /// What a breaker in the right state answers.
    pub const fn expected(self) -> Answer {
        match self {
            Self::Healthy => Answer::Succeeded,
            Self::Failure => Answer::Failed,
            Self::Reject | Self::RejectForced => Answer::Rejected,
        }
    }
}

/// Something that can be run in a loop and timed.
pub trait Subject: Send + Sync {
    /// Does the operation `calls` times and says how the last one ended. Callable from several threads at
    /// once, on the one breaker.
    fn run(&self, calls: u64) -> Option<Answer>;
}

/// One peer doing one operation.
pub struct Case<P> {
    peer: P,
    work: Work,
}

impl<P: Peer> Case<P> {
    /// Builds the breaker and brings it into the operation's state. None where the peer can't be brought there.
    ///
    /// # Panics
    ///
    /// When a thousand failures do not open the breaker: the peer is then used wrongly.
    pub fn new(op: Op) -> Option<Self> {
        let limits = if op == Op::Failure { Limits::Unreachable } else { Limits::Ordinary };
        let mut case = Self { peer: P::build(limits), work: op.work() };
        match op {
            Op::Healthy | Op::Failure => {}
            Op::Reject => {
                case.work = Work::Fail;
                let opened = (0..1_000).any(|_| case.run(1) == Some(Answer::Rejected));
                assert!(opened, "{} does not open", P::WHO);
                case.work = op.work();
            }
            Op::RejectForced => {
                if !case.peer.force_open() {
                    return None;
                }
            }
        }
        Some(case)
    }
}

impl<P: Peer> Subject for Case<P> {
    // The only place that makes a caller and calls it: so the compiler takes the call into the loop, as it
    // would into a program that has one such call.
    #[inline(never)]
    fn run(&self, calls: u64) -> Option<Answer> {
        let mut call = self.peer.caller();
        let mut last = None;
        for _ in 0..calls {
            last = Some(black_box(call(black_box(self.work))));
        }
        last
    }
}
