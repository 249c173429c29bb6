//! ninelives: a service behind its layer, `poll_ready` and `call`, failing five times in a row.
//!
//! Fair because each thread keeps its own clone of the service, as a server's connection does, so no clone is
//! paid per call; the inner service is a ready future and the telemetry sink is the one that does nothing, as
//! by default. The boxed future and the clock read in each call are the crate's own. There is no executor to
//! pay for: see `poll`.

use std::future::{Ready, poll_fn, ready};

use ::ninelives::{CircuitBreakerConfig, CircuitBreakerLayer, ResilienceError};
use tower::{Layer, Service, service_fn};

use crate::poll;
use crate::subject::{Answer, Fault, Limits, OPEN_FOR, Peer, Work, perform};

type Inner = tower::util::ServiceFn<fn(Work) -> Ready<Result<(), Fault>>>;

/// A service of ninelives.
pub struct Ninelives(<CircuitBreakerLayer as Layer<Inner>>::Service);

fn answer_now(work: Work) -> Ready<Result<(), Fault>> {
    ready(perform(work))
}

impl Peer for Ninelives {
    const WHO: &'static str = "ninelives";

    fn build(limits: Limits) -> Self {
        let failures = match limits {
            Limits::Ordinary => 5,
            Limits::Unreachable => usize::MAX,
        };
        let config =
            CircuitBreakerConfig::new(failures, OPEN_FOR, 1).expect("these limits are allowed");
        let layer = CircuitBreakerLayer::new(config).expect("these limits are allowed");
        Self(layer.layer(service_fn(answer_now)))
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        let mut service = self.0.clone();
        move |work| {
            let called = poll::ready(async {
                poll_fn(|context| service.poll_ready(context)).await?;
                service.call(work).await
            });
            match called {
                Ok(()) => Answer::Succeeded,
                Err(ResilienceError::Inner(Fault)) => Answer::Failed,
                Err(_) => Answer::Rejected,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{Case, Op, Subject};

    #[test]
    fn it_is_closed_or_open_as_its_rows_say_and_trips_on_the_fifth_failure() {
        for op in Op::ALL {
            if let Some(case) = Case::<Ninelives>::new(op) {
                assert_eq!(case.run(2_000), Some(op.expected()), "{}", op.name());
            }
        }
        let breaker = Ninelives::build(Limits::Ordinary);
        let mut call = breaker.caller();
        let answers: Vec<_> = (0..6).map(|_| call(Work::Fail)).collect();
        assert_eq!(answers[..5], [Answer::Failed; 5]);
        assert_eq!(answers[5], Answer::Rejected);
    }
}
