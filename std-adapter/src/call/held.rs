//! The permit of a call under way, which is spent once whatever happens to the call: it returns, it
//! panics, its future is dropped, it hangs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Context;
#[cfg(feature = "tower-http")]
use std::task::Poll;
use std::thread;
#[cfg(feature = "tower-http")]
use std::time::Duration;

#[cfg(feature = "tower-http")]
use nanobreaker_core::Phase;
use nanobreaker_core::window::Window;
use nanobreaker_core::{Breaker, Clock, Observer, Outcome, Rejected, Token};

use crate::call::CallExt;
#[cfg(feature = "tower")]
use crate::call::Handle;
use crate::call::limits::{Hung, Limits};
use crate::call::probing;
#[cfg(feature = "tower")]
use crate::call::running;
#[cfg(feature = "tower-http")]
use crate::call::silence::Silence;
use crate::rejection::Rejection;

/// How far a call is.
///
/// A word wide: see [`Held`].
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Stage {
    /// The breaker has not been asked.
    Idle,
    /// It waits.
    Waits,
    /// The caller's code runs right now: if this is dropped meanwhile, that code panicked.
    Runs,
    /// Its answer began in time, and is late no more.
    #[cfg(feature = "tower-http")]
    Fine,
    /// Its answer began too late.
    #[cfg(feature = "tower-http")]
    Slow,
    /// Its outcome was recorded, or it was not made, or it is part of a probe.
    Spent,
}

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
        let stage = self.stage;
        if stage == Stage::Spent {
            return code();
        }
        self.stage = Stage::Runs;
        let answer = if self.ticket.token().is_probe() {
            let breaker = probing::address(self.breaker.breaker());
            probing::run(breaker, code)
        } else {
            code()
        };
        self.stage = stage;
        answer
    }

    /// The call is pending; if it has been so for too long, it has failed.
    #[inline]
    pub(crate) fn pends(&mut self, context: &mut Context<'_>, hung: &mut Hung) {
        if !self.limits.are_none() && self.stage != Stage::Spent && hung.poll(self.limits, context).is_ready()
        {
            self.spend(Outcome::Failure);
        }
    }

    /// Spends the permit, if it wasn't before. What took too long is slow.
    #[inline]
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

/// For answers that come in parts.
#[cfg(feature = "tower-http")]
impl<B: CallExt> Held<B> {
    /// The breaker's address and its generation, if a failure now counts beside others of one request: that
    /// of a probe always counts, since its round waits for it.
    pub(crate) fn window(&self) -> Option<(usize, u16)> {
        let breaker = self.breaker.breaker();
        let snapshot = breaker.snapshot();
        (snapshot.phase != Phase::HalfOpen).then(|| (probing::address(breaker), snapshot.generation))
    }

    /// The dependency asks to be left alone for so long.
    pub(crate) fn open_for(&self, asked: Duration) {
        let ms = u64::try_from(asked.as_millis()).unwrap_or(u64::MAX);
        self.breaker.breaker().trip_for_ms(ms);
    }

    /// The answer begins: whether it is slow is decided here, however long the rest takes.
    pub(crate) fn answer_begins(&mut self) {
        if self.stage != Stage::Spent {
            let breaker = self.breaker.breaker();
            let is_slow = is_slow(breaker, self.limits, self.ticket.started_ms(), self.stage);
            self.stage = if is_slow { Stage::Slow } else { Stage::Fine };
        }
    }

    /// The answer began well: a probe has succeeded by that, however long the rest takes. Where that
    /// closed the breaker, the rest counts as that of any other call.
    pub(crate) fn begins_well(&mut self) {
        if self.stage == Stage::Spent || !self.ticket.token().is_probe() {
            return;
        }
        self.spend(Outcome::Success);
        let breaker = self.breaker.breaker();
        if breaker.phase() != Phase::Closed {
            return;
        }
        match breaker.allow_token() {
            // It opened again at this very moment, and this is no probe.
            Ok(token) if token.is_probe() => {
                breaker.record(token, Outcome::Cancelled);
            }
            Ok(token) => {
                self.ticket = Ticket::new(token);
                self.stage = Stage::Fine;
            }
            Err(_) => {}
        }
    }

    /// Polls for the next part of the answer; where nothing comes for as long as an answer may be
    /// silent, the call has failed. Time in which nobody polls does not count.
    pub(crate) fn poll_part<T>(
        &mut self,
        context: &mut Context<'_>,
        silence: &mut Silence,
        part: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let poll = self.run(|| part(context));
        if poll.is_ready() {
            silence.end();
        } else if self.stage != Stage::Spent && silence.poll(context).is_ready() {
            self.spend(Outcome::Failure);
        }
        poll
    }
}

/// How a call was admitted.
pub(super) enum Admitted {
    Counted(Token),
    /// As part of a probe of the same breaker.
    WithinProbe,
}

/// Asks the breaker. Always inline: its answer would have to be written to memory, and read back from there.
#[inline(always)]
pub(super) fn allow<W: Window, C: Clock, O: Observer>(
    breaker: &Breaker<W, C, O>,
) -> Result<Admitted, Rejection> {
    match breaker.allow_token() {
        Ok(token) => Ok(Admitted::Counted(token)),
        // Put together anew here: were the answer passed on as it is, the healthy path's would have to lie in
        // memory, too.
        Err(rejected) => match refuse(breaker, rejected) {
            Some(rejection) => Err(rejection),
            None => Ok(Admitted::WithinProbe),
        },
    }
}

/// A rejection, unless a probe of the same breaker makes this call.
#[cold]
#[inline(never)]
fn refuse<W: Window, C: Clock, O: Observer>(
    breaker: &Breaker<W, C, O>,
    rejected: Rejected,
) -> Option<Rejection> {
    let is_within_probe = probing::is_running(probing::address(breaker));
    (!is_within_probe).then(|| Rejection::by(breaker, rejected))
}

/// The breaker's clock now, for calls that are measured.
#[cold]
#[inline(never)]
pub(super) fn now_ms<W: Window, C: Clock, O: Observer>(breaker: &Breaker<W, C, O>) -> u32 {
    breaker.clock().now_ms() as u32
}

/// Whether a call takes too long, by now or by when its answer began.
fn is_slow<W: Window, C: Clock, O: Observer>(
    breaker: &Breaker<W, C, O>,
    limits: Limits,
    started_ms: u32,
    stage: Stage,
) -> bool {
    match stage {
        #[cfg(feature = "tower-http")]
        Stage::Slow => true,
        #[cfg(feature = "tower-http")]
        Stage::Fine => false,
        _ => limits.are_exceeded(started_ms, || breaker.clock().now_ms()),
    }
}

/// Records how a call ended that has limits. Everything by value: were the call's record at hand by
/// reference, it would have to lie in memory where there is nothing to do.
#[inline(never)]
pub(super) fn settle<W: Window, C: Clock, O: Observer>(
    breaker: &Breaker<W, C, O>,
    token: Token,
    limits: Limits,
    started_ms: u32,
    stage: Stage,
    outcome: Outcome,
) {
    let outcome = match outcome {
        Outcome::Success if is_slow(breaker, limits, started_ms, stage) => Outcome::Slow,
        Outcome::Failure if is_slow(breaker, limits, started_ms, stage) => Outcome::SlowFailure,
        outcome => outcome,
    };
    breaker.record(token, outcome);
}

/// Kept out of the way of calls that return.
#[cold]
#[inline(never)]
pub(super) fn end_without_answer<W: Window, C: Clock, O: Observer>(
    breaker: &Breaker<W, C, O>,
    token: Token,
    limits: Limits,
    started_ms: u32,
    stage: Stage,
) {
    let record = || {
        let outcome = if stage == Stage::Runs { Outcome::Failure } else { Outcome::Cancelled };
        let outcome = match outcome {
            Outcome::Cancelled if is_slow(breaker, limits, started_ms, stage) => Outcome::Slow,
            outcome => outcome,
        };
        breaker.record(token, outcome);
    };
    if thread::panicking() {
        // An observer that panics now as well would abort the process. The outcome is recorded by
        // then, and the first panic goes on.
        let _ = catch_unwind(AssertUnwindSafe(record));
    } else {
        record();
    }
}
