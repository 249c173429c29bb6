//! The permit of a call under way, which is spent once whatever happens to the call: it returns, it
//! panics, its future is dropped, it hangs.

#[cfg(feature = "tower-http")]
mod parts;

use std::task::Context;

use nanobreaker_core::{Breaker, Calm, Outcome, Token};

use crate::call::CallExt;
#[cfg(feature = "tower")]
use crate::call::Handle;
use crate::call::asking::{Admitted, allow};
use crate::call::ending::{end_without_answer, now_ms, settle};
use crate::call::limits::{Hung, Limits};
use crate::call::probing;
#[cfg(feature = "tower")]
use crate::call::running;
use crate::call::stage::Stage;
use crate::rejection::Rejection;

/// A call under way. `B` is what holds the breaker meanwhile.
///
/// Each field is a word, written and read in one piece, and there are no gaps that would be copied along. What
/// is written in pieces and read back as a whole can't be forwarded from the store to the load, and costs a
/// processor more than all the rest of a call.
#[cfg_attr(not(feature = "tower"), expect(unreachable_pub))]
pub struct Held<B: CallExt> {
    breaker: B,
    limits: Limits,
    ticket: Ticket,
    stage: Stage,
}

/// The token's bits, while the permit is not spent, and above them when the call started.
#[derive(Clone, Copy)]
struct Ticket(u64);

impl Ticket {
    #[inline]
    fn new(token: Token) -> Self {
        Self(token.to_bits().into())
    }

    #[inline]
    const fn starting_at(self, ms: u32) -> Self {
        Self(self.0 as u32 as u64 | (ms as u64) << 32)
    }

    #[inline]
    const fn token(self) -> Token {
        Token::from_bits(self.0 as u32)
    }

    #[inline]
    const fn started_ms(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

impl<B: CallExt> Held<B> {
    /// A call that has not been asked for, to stand where the call will.
    #[inline]
    pub(super) const fn idle(breaker: B, limits: Limits) -> Self {
        Self { breaker, limits, ticket: Ticket(0), stage: Stage::Idle }
    }

    /// Asks the breaker. Only a call that was admitted holds it: a rejection writes nothing.
    #[cfg(feature = "tower")]
    pub(crate) fn admit<H: Handle<Held = B>>(breaker: &H) -> Result<Self, Rejection> {
        let caller = breaker.calls();
        let (admitted, limits) = (allow(caller.breaker())?, caller.limits());
        let mut held = Self::idle(breaker.hold(), limits);
        held.begin(admitted);
        Ok(held)
    }

    /// Asks the breaker, and starts the call if it may be made. Goes on with what that answered and the permit,
    /// or with why it may not.
    ///
    /// Two ways on instead of one result: a result of this and that would be moved in pieces, see [`Held`].
    #[cfg(feature = "tower")]
    #[inline(always)]
    pub(crate) fn start<H: Handle<Held = B>, S, T>(
        breaker: &H,
        start: impl FnOnce() -> S,
        started: impl FnOnce(S, Self) -> T,
        rejected: impl FnOnce(Rejection) -> T,
    ) -> T {
        let asked = breaker.breaker();
        if let Some(calm) = asked.calm() {
            let (limits, token) = (Limits::NONE, calm.token());
            let answer = running::run_calmly(asked, token, start);
            let (ticket, stage) = (Ticket::new(token), Stage::Waits);
            return started(answer, Self { breaker: breaker.hold(), limits, ticket, stage });
        }
        let limits = breaker.calls().limits();
        match allow(asked) {
            Ok(Admitted::Counted(token)) => {
                let (answer, started_ms) = running::run(asked, limits, token, start);
                let ticket = Ticket::new(token).starting_at(started_ms);
                started(answer, Self { breaker: breaker.hold(), limits, ticket, stage: Stage::Waits })
            }
            Ok(Admitted::WithinProbe) => {
                let answer = start();
                let (breaker, ticket, stage) = (breaker.hold(), Ticket(0), Stage::Spent);
                started(answer, Self { breaker, limits, ticket, stage })
            }
            Err(rejection) => rejected(rejection),
        }
    }

    #[inline]
    pub(crate) fn breaker(&self) -> &Breaker<B::Window, B::Clock, B::Observer> {
        self.breaker.breaker()
    }

    #[inline]
    pub(super) fn stage(&self) -> Stage {
        self.stage
    }

    /// The shortest way to the start of a call that has not been asked for, where its breaker has nothing to count:
    /// its permit is in the hands of whoever called this.
    #[inline]
    pub(super) fn starts_calmly(&mut self) -> Option<Calm> {
        if self.stage != Stage::Idle || !self.limits.are_none() {
            return None;
        }
        let calm = self.breaker.breaker().calm()?;
        self.stage = Stage::Spent;
        Some(calm)
    }

    /// Takes the permit of a call that started calmly, and now waits.
    #[inline]
    pub(super) fn waits(&mut self, token: Token) {
        (self.ticket, self.stage) = (Ticket::new(token), Stage::Waits);
    }

    /// Asks the breaker, which has not been asked.
    #[inline]
    pub(super) fn ask(&mut self) -> Result<(), Rejection> {
        // Whatever happens, it is not asked again.
        self.stage = Stage::Spent;
        let admitted = allow(self.breaker.breaker())?;
        self.begin(admitted);
        Ok(())
    }

    #[inline]
    fn begin(&mut self, admitted: Admitted) {
        let Admitted::Counted(token) = admitted else {
            self.stage = Stage::Spent;
            return;
        };
        self.ticket = Ticket::new(token);
        self.stage = Stage::Waits;
        // Not before the token is guarded: the clock may be anyone's code.
        if self.limits.measure() {
            self.ticket = self.ticket.starting_at(now_ms(self.breaker.breaker()));
        }
    }

    /// Whether what it was admitted for is still to come: its generation is not over.
    #[cfg(all(feature = "tower", feature = "tokio"))]
    pub(crate) fn is_current(&self) -> bool {
        let generation = self.breaker.breaker().snapshot().generation;
        self.stage == Stage::Waits && self.ticket.token().generation() == generation
    }

    /// The call starts now: it was admitted before.
    #[cfg(all(feature = "tower", feature = "tokio"))]
    pub(crate) fn starts(&mut self) {
        if self.limits.measure() {
            self.ticket = self.ticket.starting_at(now_ms(self.breaker.breaker()));
        }
    }

    /// Runs the caller's code; a panic in it is a failure of the call.
    #[inline]
    pub(crate) fn run<T>(&mut self, code: impl FnOnce() -> T) -> T {
        let breaker = probing::address(self.breaker.breaker());
        let is_probe = self.stage != Stage::Spent && self.ticket.token().is_probe();
        let panics = Panics(&mut self.stage);
        let answer = if is_probe { probing::run(breaker, code) } else { code() };
        std::mem::forget(panics);
        answer
    }

    /// The call is pending; if it has been so for too long, that is a failure, which counts as `count` says.
    #[inline]
    pub(crate) fn pends(
        &mut self,
        context: &mut Context<'_>,
        hung: &mut Hung,
        count: impl FnOnce(&Self) -> Outcome,
    ) {
        if !self.limits.are_none() && self.stage != Stage::Spent && hung.poll(self.limits, context).is_ready()
        {
            self.spend(count(self));
        }
    }

    /// Spends the permit, if it wasn't before. What took too long is slow.
    // Always inline: it is little for a success that changes nothing.
    #[inline(always)]
    pub(crate) fn spend(&mut self, outcome: Outcome) {
        let stage = std::mem::replace(&mut self.stage, Stage::Spent);
        if stage == Stage::Spent {
            return;
        }
        let token = self.ticket.token();
        let breaker = self.breaker.breaker();
        if self.limits.are_none() {
            breaker.record(token, outcome);
        } else {
            settle(breaker, token, self.limits, self.ticket.started_ms(), stage, outcome);
        }
    }

    /// The same for a call that was not made: kept out of the way of answers.
    #[cfg(feature = "tower")]
    #[cold]
    #[inline(never)]
    pub(crate) fn ignore(&mut self) {
        self.spend(Outcome::Ignored);
    }
}

/// Notes that the caller's code panicked, where it is dropped as the stack unwinds.
struct Panics<'a>(&'a mut Stage);

impl Drop for Panics<'_> {
    #[cold]
    fn drop(&mut self) {
        if *self.0 != Stage::Spent {
            *self.0 = Stage::Panicked;
        }
    }
}

impl<B: CallExt> Drop for Held<B> {
    #[inline]
    fn drop(&mut self) {
        if !matches!(self.stage, Stage::Idle | Stage::Spent) {
            let token = self.ticket.token();
            let breaker = self.breaker.breaker();
            end_without_answer(breaker, token, self.limits, self.ticket.started_ms(), self.stage);
        }
    }
}
