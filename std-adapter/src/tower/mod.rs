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
//! Outside of timeouts, so that they count as failures. Inside of retries, so that each attempt is
//! asked for (and a policy should not retry [`CallError::Rejected`](crate::CallError::Rejected)), or
//! outside of them, so that a call counts once.
//! Where the errors of other layers are `tower::BoxError`, make this one's such:
//! `.map_err(CallError::into_boxed)`.

#[cfg(feature = "tower-http")]
mod body;
#[cfg(feature = "tower-http")]
mod classify;
mod future;
mod judge;
mod layer;
mod service;
#[cfg(all(feature = "tower-http", feature = "settings"))]
mod statuses;

#[cfg(feature = "tower-http")]
pub use body::GuardedBody;
#[cfg(feature = "tower-http")]
pub use classify::{ByHttp, HttpCall, ServerErrors, UntilBodyEnds, grpc_failures};
pub use future::BreakerFuture;
pub use judge::{ByClassifier, Judge, JudgeCall};
pub use layer::BreakerLayer;
pub use service::BreakerService;
