//! tower-resilience-circuitbreaker: a service behind its layer, `poll_ready` and `call`, failing five times in a row.
//!
//! Fair because each thread keeps its own clone of the service, as a server's connection does, so no clone is
//! paid per call; the inner service is a ready future; the boxed future and the asynchronous lock are the
//! crate's own. There is no executor to pay for: see [`crate::poll`]. Two callers who meet at an open breaker's
//! lock make one of them sleep a millisecond on tokio's timer, which is why a runtime stands by.

use std::future::{Ready, ready};
use std::sync::LazyLock;

use tokio::runtime::Runtime;
use tower::{Layer, Service, service_fn};
use tower_resilience_circuitbreaker::{
    CircuitBreaker, CircuitBreakerError, CircuitBreakerHandle, CircuitBreakerLayer, DefaultClassifier,
};

use crate::poll;
use crate::subject::{Answer, Fault, Limits, OPEN_FOR, Peer, Work, perform};

type Inner = tower::util::ServiceFn<fn(Work) -> Ready<Result<(), Fault>>>;

/// A service of tower-resilience-circuitbreaker.
pub struct TowerResilience {
    service: CircuitBreaker<Inner, DefaultClassifier>,
    handle: CircuitBreakerHandle<DefaultClassifier>,
}

/// Drives the timer. Built once: it belongs to no breaker.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(1).enable_time().build().expect("a runtime can be built")
});

fn answer_now(work: Work) -> Ready<Result<(), Fault>> {
    ready(perform(work))
}

impl Peer for TowerResilience {
    const WHO: &'static str = "tower-resilience-circuitbreaker";

    fn build(limits: Limits) -> Self {
        LazyLock::force(&RUNTIME);
        let failures = match limits {
            Limits::Ordinary => 5,
            Limits::Unreachable => usize::MAX,
        };
        let builder = CircuitBreakerLayer::builder().consecutive_failures(failures);
        let (layer, handle) =
            builder.wait_duration_in_open(OPEN_FOR).build_with_handle().expect("these limits are allowed");
        Self { service: layer.layer(service_fn(answer_now)), handle }
    }

    fn caller(&self) -> impl FnMut(Work) -> Answer {
        let runtime = RUNTIME.enter();
        let mut service = self.service.clone();
        move |work| {
            let _ = &runtime;
            let called = poll::ready(async {
                std::future::poll_fn(|context| service.poll_ready(context)).await?;
                service.call(work).await
            });
            match called {
                Ok(()) => Answer::Succeeded,
                Err(CircuitBreakerError::Inner(Fault)) => Answer::Failed,
                Err(CircuitBreakerError::OpenCircuit) => Answer::Rejected,
            }
        }
    }

    fn force_open(&self) -> bool {
        poll::ready(self.handle.force_open());
        true
    }
}
