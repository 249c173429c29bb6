//! The permit of a call under way, which is spent once whatever happens to the call: it returns, it
//! panics, its future is dropped, it hangs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

use nanobreaker_core::{Clock, Outcome, Rejected, Token};

use crate::call::CallExt;
use crate::call::limits::{Hung, Limits, poll_hung};
#[cfg(feature = "tower-http")]
use crate::call::silence::Silence;

/// How long the call takes, in the breaker's own time.
#[derive(Clone, Copy)]
enum Pace {
    /// Nobody asks, or it was answered in time.
    Fine,
    /// It is slow once it runs for longer.
    Limited { started_ms: u64, slow_after_ms: u64 },
    /// It was answered too late.
    #[cfg(feature = "tower-http")]
    Slow,
}

/// A call under way. `B` is the breaker's handle: a reference where the call can borrow it, else one
/// of its own.
#[cfg_attr(not(feature = "tower"), expect(unreachable_pub))]
pub struct Held<B: CallExt> {
    breaker: B,
    token: Option<Token>,
    pace: Pace,
    /// Whether the caller's code runs right now: if this is dropped meanwhile, that code panicked.
    running: bool,
}

impl<B: CallExt> Held<B> {
    /// Asks the breaker. Only a call that was admitted takes a handle: a rejection writes nothing.
    #[inline]
    pub(crate) fn admit(breaker: &B, limits: Limits) -> Result<Self, Rejected>
    where
        B: Clone,
    {
        let permit = breaker.calls().breaker().allow()?;
        let mut held = Self {
            breaker: breaker.clone(),
            token: Some(permit.into()),
            pace: Pace::Fine,
            running: false,
        };
        // Not before `held` guards the token: the clock may be anyone's code.
        if let Some(slow_after_ms) = limits.slow_after_ms {
            held.pace = Pace::Limited {
                started_ms: held.now_ms(),
                slow_after_ms,
            };
        }
        Ok(held)
    }

    /// Runs the caller's code; a panic in it is a failure of the call.
    #[inline]
    pub(crate) fn run<T>(&mut self, code: impl FnOnce() -> T) -> T {
        self.running = true;
        let answer = code();
        self.running = false;
        answer
    }

    /// Polls the call; one that is pending when the limit ends has failed.
    #[inline]
    pub(crate) fn poll<T>(
        &mut self,
        context: &mut Context<'_>,
        hung: Pin<&mut Hung>,
        call: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let poll = self.run(|| call(context));
        if poll.is_pending() && poll_hung(hung, context).is_ready() {
            self.spend(Outcome::Failure);
        }
        poll
    }

    /// Spends the permit, if it wasn't before. A success that took too long is slow.
    #[inline]
    pub(crate) fn spend(&mut self, outcome: Outcome) {
        if let Some(token) = self.token.take() {
            let outcome = match outcome {
                Outcome::Success if self.is_slow() => Outcome::Slow,
                outcome => outcome,
            };
            self.breaker.calls().breaker().record(token, outcome);
        }
    }

    fn is_slow(&self) -> bool {
        match self.pace {
            Pace::Fine => false,
            // A clock that was set back since has measured nothing.
            Pace::Limited {
                started_ms,
                slow_after_ms,
            } => self.now_ms().saturating_sub(started_ms) > slow_after_ms,
            #[cfg(feature = "tower-http")]
            Pace::Slow => true,
        }
    }

    fn now_ms(&self) -> u64 {
        self.breaker.calls().breaker().clock().now_ms()
    }

    /// Kept out of the way of calls that return.
    #[cold]
    #[inline(never)]
    fn end_without_answer(&mut self) {
        let outcome = self.outcome_of_no_answer();
        if thread::panicking() {
            // An observer that panics now as well would abort the process. The outcome is recorded
            // by then, and the first panic goes on.
            let _ = catch_unwind(AssertUnwindSafe(|| self.spend(outcome)));
        } else {
            self.spend(outcome);
        }
    }

    /// The outcome of a call that does not return.
    fn outcome_of_no_answer(&self) -> Outcome {
        if self.running {
            Outcome::Failure
        } else if self.is_slow() {
            Outcome::Slow
        } else {
            Outcome::Cancelled
        }
    }
}

/// For answers that come in parts.
#[cfg(feature = "tower-http")]
impl<B: CallExt> Held<B> {
    /// The answer begins: whether it is slow is decided here, however long the rest takes.
    pub(crate) fn answer_begins(&mut self) {
        self.pace = if self.is_slow() {
            Pace::Slow
        } else {
            Pace::Fine
        };
    }

    /// Polls for the next part of the answer; where none comes within the time after which a call
    /// counts as hung, the call has failed. Time in which nobody polls does not count.
    pub(crate) fn poll_part<T>(
        &mut self,
        context: &mut Context<'_>,
        silence: &mut Silence,
        part: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let poll = self.run(|| part(context));
        if poll.is_ready() {
            silence.end();
        } else if self.token.is_some() {
            let limits = self.breaker.calls().limits();
            if silence.poll(limits, context).is_ready() {
                self.spend(Outcome::Failure);
            }
        }
        poll
    }
}

impl<B: CallExt> Drop for Held<B> {
    #[inline]
    fn drop(&mut self) {
        if self.token.is_some() {
            self.end_without_answer();
        }
    }
}
