//! A breaker around any tower service (feature `tower`), with HTTP and gRPC judged as tower-http
//! does (feature `tower-http`).
//!
//! ```
//! use nanobreaker::{CallError, SharedBreaker, tower::BreakerLayer};
//! use tower::{Service, ServiceBuilder, ServiceExt, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let breaker = SharedBreaker::builder().consecutive(1).build()?;
//! let mut stock = ServiceBuilder::new()
//!     .layer(BreakerLayer::new(breaker.clone()))
//!     .service(service_fn(async |article: &str| match article {
//!         "tea" => Ok(7),
//!         _ => Err(std::io::Error::other("warehouse is down")),
//!     }));
//!
//! assert_eq!(stock.ready().await?.call("tea").await?, 7);
//! assert!(matches!(stock.ready().await?.call("ink").await, Err(CallError::Failed(_))));
//! assert!(matches!(stock.ready().await?.call("tea").await, Err(CallError::Rejected(_))));
//! # Ok(())
//! # }
//! ```
//!
//! # What a call is
//!
//! A call begins with `Service::call`, which asks the breaker; `poll_ready` asks nothing of it, so a
//! service that is ready and never called holds no probe's place. The call ends when its future
//! resolves or, if the layer was told so, when the response's body ends. A future or body that is
//! dropped before gives its place back and counts as no outcome (as slow, if the call had run for
//! longer than the breaker's [`slow_after`](crate::SharedBreakerBuilder::slow_after)). A panic in the
//! service is a failure. A service whose `poll_ready` fails has failed a call, too.
//!
//! # What a call costs
//!
//! No allocation, and no counter that calls share: a call under way holds the place where its
//! [`SharedBreaker`](crate::SharedBreaker) lies, which is always valid memory. (An `Arc` of a
//! [`Breaker`](crate::Breaker) is cloned for each call; a `&'static` one is not.) A rejected call writes
//! nothing.
//!
//! Cloning the *service* clones the breaker's handle, which is counted. Where that is done for each call,
//! as axum does, hand the layer a [`PinnedBreaker`](crate::PinnedBreaker).
//!
//! # Where to put it
//!
//! From the outside: **fallback, breaker, retry, timeout, limit**.
//!
//! | wrong order | what it does |
//! | ----------- | ------------ |
//! | timeout outside of the breaker | drops the call, which says nothing about the dependency: one that hangs never trips |
//! | fallback inside of the breaker | hides each failure: it never trips |
//! | retry outside of the breaker | counts each attempt, so it trips sooner, and tries again what was rejected |
//! | timeout outside of the retries | leaves no time for a second attempt |
//! | limit outside of the breaker | keeps calls waiting that the breaker would reject at once |
//!
//! The example `stack` shows each of them. Where each attempt shall be asked for, put the breaker inside of the
//! retries with a `CountedLayer` outside of them, and let the policy not retry
//! [`CallError::Rejected`](crate::CallError::Rejected).
//!
//! Errors of other layers are often `tower::BoxError`: `.map_err(CallError::into_boxed)` outside of this layer
//! makes its errors such, and so does [`BreakerLayer::boxed`].
//!
//! # What is no failure
//!
//! A call that never left this process says nothing about the dependency: a load shedder that is full, a buffer
//! that is closed, a breaker further in that is open ([`is_refusal`]), and what
//! [`BreakerLayer::refusals`] names. These are ignored.
//!
//! # Behind a balancer
//!
//! A balancer prefers whoever answers soonest, and nothing answers sooner than an open breaker.
//! [`BreakerLayer::gate`] makes services that are not ready instead: see the example `balancer`.

#[cfg(feature = "tower-http")]
mod answer;
#[cfg(feature = "tower-http")]
mod body;
mod choose;
#[cfg(feature = "tower-http")]
mod classify;
#[cfg(feature = "tower-http")]
mod counting;
mod future;
#[cfg(feature = "tokio")]
mod gate;
#[cfg(feature = "tower-http")]
mod grpc;
#[cfg(feature = "tower-http")]
mod head;
mod judge;
mod layer;
mod refusal;
mod service;
#[cfg(all(feature = "tower-http", feature = "settings"))]
mod statuses;

#[cfg(feature = "tower-http")]
pub use crate::host::host;
#[cfg(feature = "tower-http")]
pub use body::GuardedBody;
pub use choose::Choose;
#[cfg(feature = "registry")]
pub use choose::{Keyed, KeyedBy};
#[cfg(feature = "tower-http")]
pub use classify::{ByHttp, HttpCall};
#[cfg(feature = "tower-http")]
pub use counting::{CountedLayer, CountedService};
pub use future::BreakerFuture;
#[cfg(feature = "tokio")]
pub use gate::{GateLayer, GateService};
#[cfg(feature = "tower-http")]
pub use grpc::grpc_failures;
#[cfg(feature = "tower-http")]
pub use head::{BodyCall, ByHead, HeadCall, ServerErrors, UntilBodyEnds};
pub use judge::{ByClassifier, Judge, JudgeCall, Reclassify, WithRefusals};
pub use layer::{BoxedLayer, BreakerLayer};
pub use refusal::is_refusal;
pub use service::BreakerService;
