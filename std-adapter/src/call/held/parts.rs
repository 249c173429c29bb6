//! Calls whose answers come in parts.

use std::task::{Context, Poll};
use std::time::Duration;

use nanobreaker_core::{Outcome, Phase};

use super::{Held, Ticket};
use crate::call::ending::is_slow;
use crate::call::silence::Silence;
use crate::call::stage::Stage;
use crate::call::{CallExt, probing};

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
    /// silent, the call has failed, which counts as `count` says. Time in which nobody polls does not count.
    pub(crate) fn poll_part<T>(
        &mut self,
        context: &mut Context<'_>,
        silence: &mut Silence,
        part: impl FnOnce(&mut Context<'_>) -> Poll<T>,
        count: impl FnOnce(&Self) -> Outcome,
    ) -> Poll<T> {
        let poll = self.run(|| part(context));
        if poll.is_ready() {
            silence.end();
        } else if self.stage != Stage::Spent && silence.poll(context).is_ready() {
            self.spend(count(self));
        }
        poll
    }
}
