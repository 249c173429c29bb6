//! How did the call end?

use crate::permit::Kind;
use crate::state::{Code, Round, State};
use crate::window::{Verdict, Window};
use crate::{Breaker, Cause, Clock, Config, Observer, Outcome, Phase, Recorded, Token};

/// What a breaker looks like that lets all calls pass and, while its window is at rest, has nothing to count.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Calm {
    state: State,
    kinds: u32,
}

impl Calm {
    /// The right to the call.
    #[inline]
    pub fn token(self) -> Token {
        Token::new(self.state, Kind::Counted)
    }
}

impl<W: Window, C: Clock, O: Observer> Breaker<W, C, O> {
    /// Spends a token with the outcome of its call; a [`Permit`](crate::Permit) does it by
    /// [`Permit::record`](crate::Permit::record).
    ///
    /// A success while closed costs one load and what the [window](crate::window) takes for it. An
    /// outcome of another generation is stale: it changes nothing.
    ///
    /// The token must be this breaker's own: see [`Token`].
    #[inline]
    pub fn record(&self, token: Token, outcome: Outcome) -> Recorded {
        let recorded = self.take_in(token, outcome);
        self.observer.recorded(token, outcome, recorded);
        recorded
    }

    /// Whether it may ever be [calm](Self::calm).
    #[doc(hidden)]
    pub const CALMS: bool = W::RESTS;

    /// The shortest way to a call, for crates that make them: what the breaker looks like, if it is closed, out of
    /// shadow, and successes change nothing while its window is at rest.
    #[doc(hidden)]
    #[inline]
    pub fn calm(&self) -> Option<Calm> {
        if !W::RESTS {
            return None;
        }
        let state = self.load();
        let kinds = self.window.kinds(state);
        (state.is_healthy() && W::is_calm(kinds)).then_some(Calm { state, kinds })
    }

    /// Records a success of a call that was admitted by [`calm`](Self::calm), if the breaker looks the same still
    /// and its window is at rest; returns whether that is so. Otherwise the success is to be recorded with the
    /// [token](Calm::token).
    #[doc(hidden)]
    #[inline]
    pub fn record_calm(&self, calm: Calm) -> bool {
        let Calm { state, kinds } = calm;
        let changes_nothing = self.load().0 == state.0 && self.window.is_at_rest(kinds, state);
        if changes_nothing {
            self.observer.recorded(calm.token(), Outcome::Success, Recorded::Counted);
        }
        changes_nothing
    }

    #[inline]
    fn take_in(&self, token: Token, outcome: Outcome) -> Recorded {
        let state = self.load();
        if !W::RESTS {
            return self.take_in_as(state, token, outcome);
        }
        let is_counted = state.is_healthy() && token == Token::new(state, Kind::Counted);
        if outcome == Outcome::Success
            && is_counted
            && self.window.is_at_rest(self.window.kinds(state), state)
        {
            return Recorded::Counted;
        }
        self.take_in_moved(state, token, outcome)
    }

    /// Kept out of the way of a success that changes nothing.
    #[inline(never)]
    fn take_in_moved(&self, state: State, token: Token, outcome: Outcome) -> Recorded {
        self.take_in_as(state, token, outcome)
    }

    #[inline]
    fn take_in_as(&self, state: State, token: Token, outcome: Outcome) -> Recorded {
        let is_counted = state.judges_by_window() && token == Token::new(state, Kind::Counted);
        if is_counted && outcome.counts() {
            self.judge(state, outcome)
        } else {
            self.take_in_other(state, token, outcome)
        }
    }

    /// All but a call that is judged by the window at once.
    #[cold]
    fn take_in_other(&self, state: State, token: Token, outcome: Outcome) -> Recorded {
        self.decide(state, |state, config| {
            if state.generation() != token.generation() {
                Ok(Recorded::Stale)
            } else if token.kind() == Kind::Uncounted {
                Ok(Recorded::Ignored)
            } else if state.judges_by_window() {
                // A probe's too, where its round ended well meanwhile.
                Ok(if outcome.counts() { self.judge(state, outcome) } else { Recorded::Ignored })
            } else if state.phase() == Phase::HalfOpen && token.is_probe() {
                self.take_in_answer(state, outcome, config)
            } else {
                Ok(Recorded::Stale)
            }
        })
    }

    #[inline]
    fn judge(&self, state: State, outcome: Outcome) -> Recorded {
        match self.window.judge(outcome, &self.call(state)) {
            Verdict::Holds => Recorded::Counted,
            Verdict::Stale => Recorded::Stale,
            Verdict::Trips => self.open(state, Cause::ThresholdReached),
            Verdict::TripsBySlow => self.open(state, Cause::SlowThresholdReached),
        }
    }

    /// The window said trip. Tries to for as long as the generation stands and calls still pass: the end of a ramp
    /// or the shadow switch changes the word without ending the generation. Where another call's failure tripped
    /// first, this one was among those judged.
    #[cold]
    fn open(&self, seen: State, cause: Cause) -> Recorded {
        self.decide(seen, |state, config| {
            if state.generation() == seen.generation() && state.judges_by_window() {
                self.fail(state, cause, config)?;
            }
            Ok(Recorded::Counted)
        })
    }

    /// A probe's answer to the round that admitted it.
    fn take_in_answer(&self, state: State, outcome: Outcome, config: &Config) -> Result<Recorded, State> {
        let recorded = if outcome.counts() { Recorded::Counted } else { Recorded::Ignored };
        match state.answered(outcome, config.probe_successes(), config.probe_failures()) {
            // Who gave up renews no lease.
            Round::GoesOn(next) if outcome == Outcome::Cancelled => {
                self.step(state, next, None, None, config)
            }
            Round::GoesOn(next) => self.begin(state, next, None, config),
            Round::Succeeded => {
                let ramps = config.ramp_ms() > 0;
                let well = if ramps { state.in_phase(Code::RECOVERING) } else { state.closed() };
                self.begin(state, well, Some(Cause::ProbesSucceeded), config)
            }
            Round::Failed => self.fail(state, Cause::ProbesFailed, config),
            Round::SpentBefore => return Ok(Recorded::Stale),
        }
        .map(|_| recorded)
    }
}
