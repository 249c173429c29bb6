//! How did the call end?

use crate::breaker::Breaker;
use crate::clock::Clock;
use crate::observer::{Cause, Observer};
use crate::outcome::{Outcome, Recorded};
use crate::permit::{Kind, Token};
use crate::phase::Phase;
use crate::state::{Answer, Round, State};
use crate::window::{Verdict, Window};

impl<W: Window, C: Clock, O: Observer> Breaker<W, C, O> {
    /// Spends a permit, or a token, with the outcome of its call.
    ///
    /// A success while closed costs one load and what the [window](crate::window) takes for it. An
    /// outcome of another generation is stale: it changes nothing.
    ///
    /// The permit must be this breaker's own.
    #[inline]
    pub fn record(&self, permit: impl Into<Token>, outcome: Outcome) -> Recorded {
        let token = permit.into();
        let recorded = self.take_in(token, outcome);
        self.observer.recorded(token, outcome, recorded);
        recorded
    }

    #[inline]
    fn take_in(&self, token: Token, outcome: Outcome) -> Recorded {
        let state = self.load();
        if state.generation() != token.generation() {
            Recorded::Stale
        } else if state.judges_by_window() {
            self.record_in_window(token, outcome)
        } else {
            self.record_otherwise(state, token, outcome)
        }
    }

    #[inline]
    fn record_in_window(&self, token: Token, outcome: Outcome) -> Recorded {
        if token.kind() == Kind::Uncounted {
            return Recorded::Ignored;
        }
        match outcome {
            Outcome::Success | Outcome::Slow | Outcome::Failure => {
                match self.window.judge(outcome, &self.call(token.generation())) {
                    Verdict::Holds => Recorded::Counted,
                    Verdict::Trips => self.trip_in(token.generation()),
                    Verdict::Stale => Recorded::Stale,
                }
            }
            Outcome::Ignored | Outcome::Cancelled => Recorded::Ignored,
        }
    }

    /// The window said trip. Tries for as long as the generation stands and calls still pass: the
    /// end of a ramp or an observe switch changes the word without ending the generation.
    #[cold]
    pub(super) fn trip_in(&self, generation: u16) -> Recorded {
        self.step_by(Some(Cause::ThresholdReached), |state| {
            let stands = state.generation() == generation && state.judges_by_window();
            stands.then(|| self.tripped(state, self.now()))
        });
        // Where another call's failure tripped first, this one was among those judged.
        Recorded::Counted
    }

    #[cold]
    fn record_otherwise(&self, state: State, token: Token, outcome: Outcome) -> Recorded {
        match (token.kind(), state.phase()) {
            (Kind::Uncounted, _) => Recorded::Ignored,
            (Kind::Probe, Phase::HalfOpen) => self.record_probe(token, outcome),
            _ => Recorded::Stale,
        }
    }

    fn record_probe(&self, token: Token, outcome: Outcome) -> Recorded {
        let answer = match outcome {
            Outcome::Success => Answer::Success,
            Outcome::Slow | Outcome::Failure => Answer::Failure,
            Outcome::Ignored => Answer::Ignored,
            Outcome::Cancelled => Answer::Cancelled,
        };
        let mut state = self.first_load();
        loop {
            if state.generation() != token.generation() {
                return Recorded::Stale;
            }
            if state.judges_by_window() {
                // The round ended well meanwhile: this call counts like any other.
                return self.record_in_window(token, outcome);
            }
            let Some((next, cause)) = self.after_answer(state, answer) else {
                return Recorded::Stale;
            };
            match self.step(state, next, cause) {
                Ok(()) if matches!(outcome, Outcome::Ignored | Outcome::Cancelled) => {
                    return Recorded::Ignored;
                }
                Ok(()) => return Recorded::Counted,
                Err(now) => state = now,
            }
        }
    }

    /// What the round becomes with one more answer; `None` where none was due.
    fn after_answer(&self, state: State, answer: Answer) -> Option<(State, Option<Cause>)> {
        if state.phase() != Phase::HalfOpen {
            return None;
        }
        let now = self.now();
        let lease_ends = self.config().lease().late_deadline(now);
        let (successes, failures) = (self.config().successes(), self.config().failures());
        match state.answered(answer, successes, failures, lease_ends) {
            Round::GoesOn(state) => Some((state, None)),
            Round::Succeeded if self.config().ramp_ms() > 0 => {
                let since = self.config().ramp().units(now);
                Some((state.recovering(since), Some(Cause::ProbesSucceeded)))
            }
            Round::Succeeded => {
                let since = self.config().flap().units(now);
                Some((state.closed(since), Some(Cause::ProbesSucceeded)))
            }
            Round::Failed => Some((self.tripped(state, now), Some(Cause::ProbesFailed))),
            Round::SpentBefore => None,
        }
    }
}
