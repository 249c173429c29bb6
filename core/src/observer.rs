//! Being told of transitions.

use core::any::Any;

use crate::{Cause, Outcome, Phase, Recorded, Rejected, Token};

/// One change of phase, or a reset.
///
/// (`generation`, `to`) is unique and orders transitions: within one generation a breaker goes from
/// open to half-open to recovering to closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Transition {
    /// The generation after the transition.
    pub generation: u16,
    /// The phase before.
    pub from: Phase,
    /// The phase after.
    pub to: Phase,
    /// Why.
    pub cause: Cause,
    /// The clock's reading, in milliseconds.
    pub at_ms: u64,
    /// When `to` is open: how many milliseconds after `at_ms` a probe may go. Otherwise 0.
    pub open_for_ms: u32,
    /// The streak after the transition.
    pub streak: u8,
}

/// Is told of each transition exactly once, by the thread or interrupt that made it, after it took
/// place and outside every loop: an observer may call the breaker again.
///
/// Observers of two transitions can run at once and in either order; [`Transition`] says how to
/// order them. `()` does nothing and costs nothing.
///
/// An observer must not panic. Where it does, the transition has taken place and the breaker goes on.
/// But a permit that is dropped while a panic unwinds may make a transition, too, and Rust aborts the
/// process where a second panic comes out of a drop. This crate can't catch it; the crate `nanobreaker`
/// does, so listeners of its breakers may panic.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, Observer, Transition, window::Consecutive};
///
/// struct Print;
/// impl Observer for Print {
///     fn transition(&self, transition: &Transition) {
///         println!("{} -> {}: {}", transition.from, transition.to, transition.cause);
///     }
/// }
/// let clock = ManualClock::new(0);
/// let breaker = Breaker::with_observer(Consecutive::new(1)?, Config::DEFAULT, clock, Print);
/// breaker.allow()?.failure(); // prints: closed -> open: threshold_reached
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Observer {
    /// Whether anyone listens: what would be told is not even put together otherwise.
    #[doc(hidden)]
    const LISTENS: bool = true;

    /// A transition took place.
    fn transition(&self, transition: &Transition);

    /// What tells this breaker from others, for a crate that gives breakers names. Asked where a call is
    /// rejected.
    #[doc(hidden)]
    #[inline]
    fn identity(&self) -> Option<&'static dyn Any> {
        None
    }

    /// A call was rejected. Does nothing unless implemented, and then costs nothing.
    #[inline]
    fn rejected(&self, _rejected: &Rejected) {}

    /// A call that was admitted with `token` has ended. Does nothing unless implemented, and then
    /// costs nothing: it is told of every call, so keep it short.
    #[inline]
    fn recorded(&self, _token: Token, _outcome: Outcome, _recorded: Recorded) {}
}

impl Observer for () {
    const LISTENS: bool = false;

    fn transition(&self, _: &Transition) {}
}

impl<O: Observer> Observer for &O {
    const LISTENS: bool = O::LISTENS;

    fn transition(&self, transition: &Transition) {
        (**self).transition(transition);
    }

    fn identity(&self) -> Option<&'static dyn Any> {
        (**self).identity()
    }

    fn rejected(&self, rejected: &Rejected) {
        (**self).rejected(rejected);
    }

    #[inline]
    fn recorded(&self, token: Token, outcome: Outcome, recorded: Recorded) {
        (**self).recorded(token, outcome, recorded);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Consecutive;
    use crate::{Breaker, Config, ManualClock};
    use std::cell::RefCell;

    #[derive(Default)]
    struct Heard(RefCell<Vec<String>>);

    impl Observer for Heard {
        fn transition(&self, transition: &Transition) {
            self.0.borrow_mut().push(transition.to.to_string());
        }

        fn rejected(&self, rejected: &Rejected) {
            self.0.borrow_mut().push(rejected.to_string());
        }

        fn recorded(&self, token: Token, outcome: Outcome, recorded: Recorded) {
            let probe = if token.is_probe() { "probe" } else { "call" };
            let heard = format!("{probe} {outcome:?} {recorded:?}");
            self.0.borrow_mut().push(heard);
        }
    }

    #[test]
    fn each_call_is_heard_of_once_however_it_ends() {
        let heard = Heard::default();
        let window = Consecutive::new(1).unwrap();
        let clock = ManualClock::new(0);
        // Short enough to be exact in both widths of word.
        let config = Config::builder().open_for_ms(100).build().unwrap();
        let breaker = Breaker::with_observer(window, config, &clock, &heard);
        drop(breaker.allow().unwrap());
        let late = breaker.allow().unwrap();
        breaker.allow().unwrap().failure();
        late.success();
        breaker.allow().unwrap_err();
        clock.advance(100);
        breaker.allow().unwrap().success();
        let expected = [
            "call Cancelled Ignored",
            "open",
            "call Failure Counted",
            "call Success Stale",
            "rejected by a breaker that is open; retry after 100 ms",
            "half_open",
            "closed",
            "probe Success Counted",
        ];
        assert_eq!(*heard.0.borrow(), expected);
    }
}
