//! seatbelt: `Service::execute` on the breaker's layer, tripped at half of ten calls failing within its window.
//!
//! Fair because rate is all that it counts, the window is its default, it has one breaker without identifiers,
//! and neither logs nor metrics are on. The clock is its own with the system's time, never driven, since no
//! timer waits. There is no executor to pay for: see [`crate::poll`].

use std::future::{Ready, ready};
use std::task::Waker;

use ::seatbelt::breaker::{self, HalfOpenMode};
use ::seatbelt::{RecoveryInfo, ResilienceContext};
use layered::{Execute, Layer, Service};
use tick::Clock;
use tick::runtime::InactiveClock;

use crate::poll;
use crate::subject::{Answer, Limits, OPEN_FOR, Peer, Work, admitted, perform};

type Call = fn(Work) -> Ready<Result<(), Refused>>;

/// The error of a call through seatbelt, which has one type for the call's own and the breaker's.
#[derive(Clone, Copy)]
enum Refused {
    ByDependency,
    ByBreaker,
}

/// A service of seatbelt.
pub struct Seatbelt(breaker::Breaker<Work, Result<(), Refused>, Execute<Call>>);

fn call(work: Work) -> Ready<Result<(), Refused>> {
    ready(perform(work).map_err(|_| Refused::ByDependency))
}

impl Peer for Seatbelt {
    const WHO: &'static str = "seatbelt";

    fn build(limits: Limits) -> Self {
        let throughput = match limits {
            Limits::Ordinary => 10,
            Limits::Unreachable => u32::MAX,
        };
        let (clock, _): (Clock, _) = InactiveClock::default().activate(Waker::noop().clone());
        let context = ResilienceContext::new(&clock);
        let layer = breaker::Breaker::layer("breaker", &context)
            .recovery_with(|result: &Result<(), Refused>, _| match result {
                Ok(()) => RecoveryInfo::never(),
                Err(_) => RecoveryInfo::retry(),
            })
            .rejected_input_error(|_, _| Refused::ByBreaker)
            .half_open_mode(HalfOpenMode::quick())
            .failure_threshold(0.5)
            .min_throughput(throughput)
            .break_duration(OPEN_FOR);
        Self(layer.layer(Execute::new(call as Call)))
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        |work| match poll::ready(self.0.execute(work)) {
            Err(Refused::ByBreaker) => Answer::Rejected,
            done => admitted(done.map_err(|_| crate::subject::Fault)),
        }
    }
}
