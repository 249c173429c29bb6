//! nanobreaker itself: each window, each way to make a call, each clock where a clock is read.
//!
//! | row | what it is |
//! | --- | --- |
//! | `healthy` | the failure ring: `allow`, then `record` |
//! | `healthy/guard` | the same through the permit's own methods |
//! | `healthy/token` | the same without a guard: `allow_token` |
//! | `healthy/call`, `/call_async` | the same through the adapter's guarded calls |
//! | `healthy/shared` | the adapter's shared breaker, whose windows are chosen at run time |
//! | `healthy/consecutive`, `/calls`, `/time`, `/striped_time` | the other windows; the last two read the timer's clock |
//! | `healthy/time_coarse` | the time window with the coarse clock |
//! | `failure` | the failure ring, with a clock that steps on at each reading, so nothing trips |
//! | `failure/consecutive` | failures in a row, one success in each thousand so that nothing trips |
//! | `reject` | open after failures, with the coarse clock; `reject/instant` with the standard one, `reject/timer` with the timer's |
//! | `reject_forced` | isolated by an operator, where no clock is read |

use std::time::Instant;

use nanobreaker::window::{Calls, Consecutive, Failures, StripedTime, Time, Window};
use nanobreaker::{
    Breaker, CallError, CallExt as _, Clock, CoarseClock, Config, Outcome, Rate, SharedBreaker,
    ThreadStripes, TimerClock,
};

use crate::comparison::List;
use crate::poll;
use crate::rows::Kind;
use crate::subject::{Answer, Fault, Limits, OPEN_FOR, Op, Peer, Work, perform};
use crate::yardsticks::step;

const WHO: &str = "nanobreaker";

/// Adds every row of ours.
pub fn add_to(list: &mut List) {
    list.add::<ByRecord<Ring>>(Kind::Ours, &[Op::Healthy, Op::Reject, Op::RejectForced]);
    list.add_named::<ByRecord<MovingRing>>(Kind::Ours, Op::Failure, "failure");
    list.add_named::<ByGuard<Ring>>(Kind::Ours, Op::Healthy, "healthy/guard");
    list.add_named::<ByToken<Ring>>(Kind::Ours, Op::Healthy, "healthy/token");
    list.add_named::<ByCall<Ring>>(Kind::Ours, Op::Healthy, "healthy/call");
    list.add_named::<ByCallAsync<Ring>>(Kind::Ours, Op::Healthy, "healthy/call_async");
    list.add_named::<Shared>(Kind::Ours, Op::Healthy, "healthy/shared");
    list.add_named::<ByRecord<InARow>>(Kind::Ours, Op::Healthy, "healthy/consecutive");
    list.add_named::<ByRecord<OfCalls>>(Kind::Ours, Op::Healthy, "healthy/calls");
    list.add_named::<ByRecord<OfTime>>(Kind::Ours, Op::Healthy, "healthy/time");
    list.add_named::<ByRecord<OfCoarseTime>>(Kind::Ours, Op::Healthy, "healthy/time_coarse");
    list.add_named::<ByRecord<OfStripedTime>>(Kind::Ours, Op::Healthy, "healthy/striped_time");
    list.add_named::<SuccessInAThousand>(Kind::Ours, Op::Failure, "failure/consecutive");
    list.add_named::<ByRecord<InstantRing>>(Kind::Ours, Op::Reject, "reject/instant");
    list.add_named::<ByRecord<TimerRing>>(Kind::Ours, Op::Reject, "reject/timer");
}

/// A breaker's configuration: its window and its clock.
pub trait Shape: Send + Sync + 'static {
    /// What it remembers.
    type Window: Window<Settings = Config> + Send + Sync + 'static;
    /// Where it gets the time from.
    type Clock: Clock + Default + Send + Sync + 'static;

    /// A new window.
    fn window() -> Self::Window;

    /// A closed breaker.
    fn breaker() -> Breaker<Self::Window, Self::Clock> {
        let config = Config::builder().open_for_ms(OPEN_FOR.as_millis() as u64).build();
        Breaker::new(Self::window(), config.expect("an hour is allowed"), Self::Clock::default())
    }
}

macro_rules! shape {
    ($(#[$doc:meta])* $name:ident: $window:ty, $clock:ty = $new:expr) => {
        $(#[$doc])*
        pub struct $name;

        impl Shape for $name {
            type Window = $window;
            type Clock = $clock;

            fn window() -> $window {
                $new.expect("these limits are allowed")
            }
        }
    };
}

shape!(
    /// Eight failures within ten seconds.
    Ring: Failures<8>, CoarseClock = Failures::within_ms(10_000)
);
shape!(
    /// Eight failures within a millisecond of a clock that always moves on: they never meet.
    MovingRing: Failures<8>, Moving = Failures::within_ms(1)
);
shape!(
    /// The ring with the standard clock.
    InstantRing: Failures<8>, Standard = Failures::within_ms(10_000)
);
shape!(
    /// The ring with the timer's clock.
    TimerRing: Failures<8>, TimerClock = Failures::within_ms(10_000)
);
shape!(
    /// Five failures in a row.
    InARow: Consecutive, CoarseClock = Consecutive::new(5)
);
shape!(
    /// Half of the last 40 calls.
    OfCalls: Calls<1>, CoarseClock = Calls::new(40, Rate::percent(50).min_calls(20))
);
shape!(
    /// Half of the calls of the last ten seconds.
    OfTime: Time<10>, TimerClock = Time::new(10_000, 10, Rate::percent(50).min_calls(20))
);
shape!(
    /// The same with the coarse clock.
    OfCoarseTime: Time<10>, CoarseClock = Time::new(10_000, 10, Rate::percent(50).min_calls(20))
);

shape!(
    /// The same, counted by each thread for itself.
    OfCoarseStripedTime: StripedTime<ThreadStripes, 8, 10>, CoarseClock =
        StripedTime::new(10_000, 10, Rate::percent(50).min_calls(20), ThreadStripes)
);
shape!(
    /// The same with the timer's clock.
    OfStripedTime: StripedTime<ThreadStripes, 8, 10>, TimerClock =
        StripedTime::new(10_000, 10, Rate::percent(50).min_calls(20), ThreadStripes)
);

/// The standard clock.
pub struct Standard(Instant);

impl Default for Standard {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for Standard {
    #[inline]
    fn now_ms(&self) -> u64 {
        self.0.elapsed().as_millis() as u64
    }
}

/// A clock that moves on by two at each reading, for each thread on its own, so that failures never meet
/// within a window of one. It costs what the yardstick `steps` costs; a server's costs what `our_coarse_clock` or
/// `timer_clock` does.
#[derive(Default)]
pub struct Moving;

impl Clock for Moving {
    #[inline]
    fn now_ms(&self) -> u64 {
        2 * step()
    }
}

/// Calls made with `allow` and `record`.
pub struct ByRecord<S: Shape>(Breaker<S::Window, S::Clock>);

impl<S: Shape> Peer for ByRecord<S> {
    const WHO: &'static str = WHO;

    fn build(_: Limits) -> Self {
        Self(S::breaker())
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        |work| {
            let Ok(permit) = self.0.allow() else {
                return Answer::Rejected;
            };
            match perform(work) {
                Ok(()) => {
                    permit.record(Outcome::Success);
                    Answer::Succeeded
                }
                Err(_) => {
                    permit.record(Outcome::Failure);
                    Answer::Failed
                }
            }
        }
    }

    fn force_open(&self) -> bool {
        self.0.isolate()
    }
}

/// Calls made with the permit as a guard.
pub struct ByGuard<S: Shape>(Breaker<S::Window, S::Clock>);

impl<S: Shape> Peer for ByGuard<S> {
    const WHO: &'static str = WHO;

    fn build(_: Limits) -> Self {
        Self(S::breaker())
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        |work| {
            let Ok(permit) = self.0.allow() else {
                return Answer::Rejected;
            };
            match perform(work) {
                Ok(()) => {
                    permit.success();
                    Answer::Succeeded
                }
                Err(_) => {
                    permit.failure();
                    Answer::Failed
                }
            }
        }
    }
}

/// Calls made with a plain token, as interrupts make them.
pub struct ByToken<S: Shape>(Breaker<S::Window, S::Clock>);

impl<S: Shape> Peer for ByToken<S> {
    const WHO: &'static str = WHO;

    fn build(_: Limits) -> Self {
        Self(S::breaker())
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        |work| {
            let Ok(token) = self.0.allow_token() else {
                return Answer::Rejected;
            };
            match perform(work) {
                Ok(()) => {
                    self.0.record(token, Outcome::Success);
                    Answer::Succeeded
                }
                Err(_) => {
                    self.0.record(token, Outcome::Failure);
                    Answer::Failed
                }
            }
        }
    }
}

fn answer(called: Result<(), CallError<Fault>>) -> Answer {
    match called {
        Ok(()) => Answer::Succeeded,
        Err(CallError::Failed(Fault) | CallError::TimedOut) => Answer::Failed,
        Err(CallError::Rejected(_)) => Answer::Rejected,
    }
}

/// Blocking calls through the adapter.
pub struct ByCall<S: Shape>(Breaker<S::Window, S::Clock>);

impl<S: Shape> Peer for ByCall<S> {
    const WHO: &'static str = WHO;

    fn build(_: Limits) -> Self {
        Self(S::breaker())
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        |work| answer(self.0.call(|| perform(work)))
    }
}

/// Asynchronous calls through the adapter, ready at their first poll.
pub struct ByCallAsync<S: Shape>(Breaker<S::Window, S::Clock>);

impl<S: Shape> Peer for ByCallAsync<S> {
    const WHO: &'static str = WHO;

    fn build(_: Limits) -> Self {
        Self(S::breaker())
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        |work| answer(poll::ready(self.0.call_async(async { perform(work) })))
    }
}

/// The adapter's shared breaker: a handle to one on the heap, with windows chosen at run time.
pub struct Shared(SharedBreaker);

impl Peer for Shared {
    const WHO: &'static str = WHO;

    fn build(_: Limits) -> Self {
        Self(SharedBreaker::builder().build().expect("the defaults are allowed"))
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        |work| answer(self.0.call(|| perform(work)))
    }
}

/// Failures in a row, broken by one success in each thousand: the threshold is the largest there is.
pub struct SuccessInAThousand(Breaker<Consecutive, CoarseClock>);

impl Peer for SuccessInAThousand {
    const WHO: &'static str = WHO;

    fn build(_: Limits) -> Self {
        let window = Consecutive::new(u16::MAX.into()).expect("this limit is allowed");
        Self(Breaker::new(window, Config::DEFAULT, CoarseClock))
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        let mut left = 0_u32;
        move |work| {
            if left == 0 {
                left = 1_000;
                if let Ok(permit) = self.0.allow() {
                    permit.success();
                }
            }
            left -= 1;
            let Ok(permit) = self.0.allow() else {
                return Answer::Rejected;
            };
            match perform(work) {
                Ok(()) => {
                    permit.success();
                    Answer::Succeeded
                }
                Err(_) => {
                    permit.failure();
                    Answer::Failed
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{Case, Subject};

    fn stays<P: Peer>(op: Op) {
        let case = Case::<P>::new(op).unwrap();
        assert_eq!(case.run(200_000), Some(op.expected()));
    }

    #[test]
    fn every_row_of_ours_is_closed_or_open_as_it_says() {
        for op in [Op::Healthy, Op::Reject, Op::RejectForced] {
            stays::<ByRecord<Ring>>(op);
            stays::<ByRecord<InARow>>(op);
            stays::<ByRecord<OfCalls>>(op);
            stays::<ByRecord<OfTime>>(op);
            stays::<ByRecord<OfCoarseTime>>(op);
            stays::<ByRecord<OfStripedTime>>(op);
            stays::<ByRecord<TimerRing>>(op);
        }
        stays::<ByGuard<Ring>>(Op::Healthy);
        stays::<ByToken<Ring>>(Op::Healthy);
        stays::<ByCall<Ring>>(Op::Healthy);
        stays::<ByCallAsync<Ring>>(Op::Healthy);
        stays::<Shared>(Op::Healthy);
        stays::<ByRecord<InstantRing>>(Op::Reject);
    }

    #[test]
    fn the_failure_rows_do_not_trip() {
        stays::<ByRecord<MovingRing>>(Op::Failure);
        stays::<SuccessInAThousand>(Op::Failure);
    }

    #[test]
    fn the_ring_trips_on_the_eighth_failure() {
        let breaker = Ring::breaker();
        for _ in 0..8 {
            breaker.allow().unwrap().failure();
        }
        assert!(breaker.allow().is_err());
    }
}
