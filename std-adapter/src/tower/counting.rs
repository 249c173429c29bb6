//! Gives each request what its attempts share, so that they count as one failure.

use std::task::{Context, Poll};

use http::Request;
use tower_layer::Layer;
use tower_service::Service;

use crate::counted::Counted;

/// Put outside of retries: puts a [`Counted`] among the extensions of each request that has none. The breaker
/// inside of the retries, if it is told to [`count`](super::BreakerLayer::counted) so, then counts at most one
/// failure for each request. (Judges by tower-http's classifiers, gRPC's among them, always do.)
///
/// The retries' policy must clone the request with its extensions, as `http::Request::clone` does.
///
/// ```
/// use nanobreaker::{SharedBreaker, tower::{BreakerLayer, CountedLayer}};
/// use tower::ServiceBuilder;
///
/// let breaker = SharedBreaker::builder().build()?;
/// let client = ServiceBuilder::new()
///     .layer(CountedLayer::new())
///     // .retry(policy)
///     .layer(BreakerLayer::http(breaker).counted());
/// # drop(client);
/// # Ok::<(), nanobreaker::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CountedLayer(());

impl CountedLayer {
    /// The layer.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

impl<S> Layer<S> for CountedLayer {
    type Service = CountedService<S>;

    fn layer(&self, inner: S) -> CountedService<S> {
        CountedService { inner }
    }
}

/// Gives each request what its attempts share; made by a [`CountedLayer`].
#[derive(Clone, Copy, Debug)]
pub struct CountedService<S> {
    inner: S,
}

impl<S: Service<Request<T>>, T> Service<Request<T>> for CountedService<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<T>) -> S::Future {
        request.extensions_mut().get_or_insert_default::<Counted>();
        self.inner.call(request)
    }
}
