//! One stack of tower layers in the right order, from the outside: fallback, breaker, retry, timeout, limit;
//! and what each wrong order does.
//!
//! `cargo run --example stack`
//!
//! | layer | stands there, because |
//! | ----- | --------------------- |
//! | fallback | outside of the breaker, which must see failures, and not what stands in for them |
//! | breaker | outside of the retries: a request counts once, and what it rejects is not tried again |
//! | retry | outside of the timeout: each attempt has a time of its own |
//! | timeout | inside of the breaker: a call that is dropped from outside says nothing, and never trips |
//! | limit | inside of all: what is rejected takes no place and waits for none |
//!
//! Time is virtual here, so nothing is waited for. The tests are the symptoms: `cargo test --example stack`.

use std::future::{Future, Ready, pending, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nanobreaker::tower::BreakerLayer;
use nanobreaker::{CallError, Phase, SharedBreaker, TokioClock};
use tokio::time::Instant;
use tower::retry::Policy;
use tower::util::{BoxCloneService, MapResultLayer};
use tower::{BoxError, Service, ServiceBuilder, ServiceExt, service_fn};

type Answer = Result<&'static str, BoxError>;
type Stack = BoxCloneService<(), &'static str, BoxError>;

const STAND_IN: &str = "the answer of yesterday";
const TIME: Duration = Duration::from_secs(1);
const AT_ONCE: usize = 4;

/// How the dependency takes a call.
#[derive(Clone, Copy)]
enum Mood {
    Hangs,
    Fails,
    /// Every second call, beginning with the first one.
    HangsAtFirst,
}

/// The dependency, and how many calls reached it.
#[derive(Clone)]
struct Dependency {
    mood: Mood,
    calls: Arc<AtomicU32>,
}

impl Dependency {
    fn new(mood: Mood) -> Self {
        Self { mood, calls: Arc::default() }
    }

    /// The service that it is. Relaxed: a number that is read when all is over.
    fn answer(&self) -> Pin<Box<dyn Future<Output = Answer> + Send>> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        match self.mood {
            Mood::Fails => Box::pin(ready(Err("refused".into()))),
            Mood::HangsAtFirst if number % 2 == 1 => Box::pin(ready(Ok("fresh"))),
            Mood::Hangs | Mood::HangsAtFirst => Box::pin(pending()),
        }
    }
}

/// Tries twice.
#[derive(Clone)]
struct Twice(u32);

impl Policy<(), &'static str, BoxError> for Twice {
    type Future = Ready<()>;

    fn retry(&mut self, (): &mut (), result: &mut Answer) -> Option<Ready<()>> {
        self.0 += 1;
        (result.is_err() && self.0 < 2).then(|| ready(()))
    }

    fn clone_request(&mut self, (): &()) -> Option<()> {
        Some(())
    }
}

macro_rules! dependency {
    ($dependency:expr) => {{
        let dependency = $dependency.clone();
        service_fn(move |()| dependency.answer())
    }};
}

macro_rules! fallback {
    () => {
        MapResultLayer::new(|answer: Answer| Answer::Ok(answer.unwrap_or(STAND_IN)))
    };
}

/// The order to use. `CallError` becomes a box, as the errors of tower's layers are.
fn right(breaker: &SharedBreaker, dependency: &Dependency) -> Stack {
    let stack = ServiceBuilder::new()
        .layer(fallback!())
        .map_err(CallError::<BoxError>::into_boxed)
        .layer(BreakerLayer::new(breaker.clone()))
        .retry(Twice(0))
        .timeout(TIME)
        .concurrency_limit(AT_ONCE)
        .service(dependency!(dependency));
    BoxCloneService::new(stack)
}

fn timeout_outside_of_the_breaker(breaker: &SharedBreaker, dependency: &Dependency) -> Stack {
    let stack = ServiceBuilder::new()
        .layer(fallback!())
        .timeout(TIME)
        .map_err(CallError::<BoxError>::into_boxed)
        .layer(BreakerLayer::new(breaker.clone()))
        .retry(Twice(0))
        .concurrency_limit(AT_ONCE)
        .service(dependency!(dependency));
    BoxCloneService::new(stack)
}

fn fallback_inside_of_the_breaker(breaker: &SharedBreaker, dependency: &Dependency) -> Stack {
    let stack = ServiceBuilder::new()
        .map_err(CallError::<BoxError>::into_boxed)
        .layer(BreakerLayer::new(breaker.clone()))
        .layer(fallback!())
        .retry(Twice(0))
        .timeout(TIME)
        .concurrency_limit(AT_ONCE)
        .service(dependency!(dependency));
    BoxCloneService::new(stack)
}

fn retry_outside_of_the_breaker(breaker: &SharedBreaker, dependency: &Dependency) -> Stack {
    let stack = ServiceBuilder::new()
        .layer(fallback!())
        .retry(Twice(0))
        .map_err(CallError::<BoxError>::into_boxed)
        .layer(BreakerLayer::new(breaker.clone()))
        .timeout(TIME)
        .concurrency_limit(AT_ONCE)
        .service(dependency!(dependency));
    BoxCloneService::new(stack)
}

fn timeout_outside_of_the_retries(breaker: &SharedBreaker, dependency: &Dependency) -> Stack {
    let stack = ServiceBuilder::new()
        .layer(fallback!())
        .map_err(CallError::<BoxError>::into_boxed)
        .layer(BreakerLayer::new(breaker.clone()))
        .timeout(TIME)
        .retry(Twice(0))
        .concurrency_limit(AT_ONCE)
        .service(dependency!(dependency));
    BoxCloneService::new(stack)
}

fn limit_outside_of_the_breaker(breaker: &SharedBreaker, dependency: &Dependency) -> Stack {
    let stack = ServiceBuilder::new()
        .layer(fallback!())
        .concurrency_limit(AT_ONCE)
        .map_err(CallError::<BoxError>::into_boxed)
        .layer(BreakerLayer::new(breaker.clone()))
        .retry(Twice(0))
        .timeout(TIME)
        .service(dependency!(dependency));
    BoxCloneService::new(stack)
}

type Order = fn(&SharedBreaker, &Dependency) -> Stack;

/// What an order does.
#[derive(Debug, PartialEq)]
struct Symptoms {
    /// After how many requests to a dependency that hangs, and to one that fails, the breaker is open.
    trips_when_it_hangs: Option<u32>,
    trips_when_it_fails: Option<u32>,
    /// Whether a first attempt that hangs is followed by a second one, which is answered.
    second_attempt_helps: bool,
    /// How long a request waits while the breaker is open and earlier requests hang.
    rejected_after: Duration,
}

fn breaker() -> SharedBreaker {
    let builder = SharedBreaker::builder().name("rates").consecutive(6).clock(TokioClock::new());
    builder.build().expect("the settings are within their limits")
}

async fn symptoms(order: Order) -> Symptoms {
    Symptoms {
        trips_when_it_hangs: trips(order, Mood::Hangs).await,
        trips_when_it_fails: trips(order, Mood::Fails).await,
        second_attempt_helps: second_attempt_helps(order).await,
        rejected_after: rejected_after(order).await,
    }
}

async fn trips(order: Order, mood: Mood) -> Option<u32> {
    let (breaker, dependency) = (breaker(), Dependency::new(mood));
    let stack = order(&breaker, &dependency);
    for request in 1..=20 {
        let _ = stack.clone().oneshot(()).await;
        if breaker.phase() == Phase::Open {
            return Some(request);
        }
    }
    None
}

async fn second_attempt_helps(order: Order) -> bool {
    let stack = order(&breaker(), &Dependency::new(Mood::HangsAtFirst));
    stack.oneshot(()).await.is_ok_and(|answer| answer == "fresh")
}

async fn rejected_after(order: Order) -> Duration {
    let breaker = breaker();
    let stack = order(&breaker, &Dependency::new(Mood::Hangs));
    for _ in 0..AT_ONCE {
        let mut stack = stack.clone();
        let call = stack.ready().await.map(|stack| stack.call(()));
        tokio::spawn(async move {
            if let Ok(call) = call {
                let _ = call.await;
            }
        });
    }
    tokio::task::yield_now().await;
    breaker.trip();
    let started = Instant::now();
    let _ = stack.oneshot(()).await;
    started.elapsed()
}

const ORDERS: [(&str, Order); 6] = [
    ("fallback, breaker, retry, timeout, limit", right),
    ("timeout outside of the breaker", timeout_outside_of_the_breaker),
    ("fallback inside of the breaker", fallback_inside_of_the_breaker),
    ("retry outside of the breaker", retry_outside_of_the_breaker),
    ("timeout outside of the retries", timeout_outside_of_the_retries),
    ("limit outside of the breaker", limit_outside_of_the_breaker),
];

#[tokio::main(flavor = "current_thread")]
async fn main() {
    tokio::time::pause();
    println!(
        "{:<42} {:>12} {:>12} {:>11} {:>12}",
        "", "it hangs:", "it fails:", "2nd attempt", "while open,"
    );
    println!(
        "{:<42} {:>12} {:>12} {:>11} {:>12}",
        "order", "open after", "open after", "helps", "answered in"
    );
    for (name, order) in ORDERS {
        let symptoms = symptoms(order).await;
        let after = |requests: Option<u32>| requests.map_or("never".into(), |requests| format!("{requests}"));
        println!(
            "{name:<42} {:>12} {:>12} {:>11} {:>12}",
            after(symptoms.trips_when_it_hangs),
            after(symptoms.trips_when_it_fails),
            if symptoms.second_attempt_helps { "yes" } else { "no" },
            format!("{} ms", symptoms.rejected_after.as_millis()),
        );
    }
    println!("the breaker opens at 6 failed requests in a row");
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn of(order: Order) -> Symptoms {
        tokio::time::pause();
        symptoms(order).await
    }

    #[tokio::test]
    async fn the_right_order_counts_requests_tries_again_and_rejects_at_once() {
        let expected = Symptoms {
            trips_when_it_hangs: Some(6),
            trips_when_it_fails: Some(6),
            second_attempt_helps: true,
            rejected_after: Duration::ZERO,
        };
        assert_eq!(of(right).await, expected);
    }

    #[tokio::test]
    async fn a_timeout_outside_of_the_breaker_never_trips() {
        assert_eq!(of(timeout_outside_of_the_breaker).await.trips_when_it_hangs, None);
    }

    #[tokio::test]
    async fn a_fallback_inside_of_the_breaker_hides_every_failure() {
        let symptoms = of(fallback_inside_of_the_breaker).await;
        assert_eq!((symptoms.trips_when_it_hangs, symptoms.trips_when_it_fails), (None, None));
    }

    #[tokio::test]
    async fn retries_outside_of_the_breaker_count_each_attempt() {
        assert_eq!(of(retry_outside_of_the_breaker).await.trips_when_it_fails, Some(3));
    }

    #[tokio::test]
    async fn a_timeout_outside_of_the_retries_leaves_no_time_for_a_second_attempt() {
        assert!(!of(timeout_outside_of_the_retries).await.second_attempt_helps);
    }

    #[tokio::test]
    async fn a_limit_outside_of_the_breaker_keeps_rejections_waiting() {
        assert!(of(limit_outside_of_the_breaker).await.rejected_after >= TIME);
    }
}
