//! Puts a breaker around services, and says how their calls are judged.

use ::tower::BoxError;
use ::tower::util::{BoxCloneSyncServiceLayer, MapErrLayer};
use tower_layer::{Layer, Stack};
use tower_service::Service;

use nanobreaker_core::Outcome;

use super::judge::Reclassify;
use super::{BreakerService, ByClassifier, WithRefusals};
use crate::error::CallError;

/// What [`BreakerLayer::boxed`] makes.
pub type BoxedLayer<S, Request, Response> = BoxCloneSyncServiceLayer<S, Request, Response, BoxError>;

/// Puts a breaker around a service.
///
/// `breaker` is anything that makes guarded calls and is cheap to clone: a
/// [`SharedBreaker`](crate::SharedBreaker), an `Arc` or a `&'static` of a
/// [`Breaker`](crate::Breaker); or one for each key, see `Keyed`. All services that this layer makes share it.
///
/// ```
/// use nanobreaker::{Breaker, CoarseClock, Config, checked, window::Failures};
/// use nanobreaker::tower::BreakerLayer;
///
/// static STOCK: Breaker<Failures<5>, CoarseClock> = Breaker::new(
///     checked!(Failures::within_ms(10_000)),
///     Config::DEFAULT,
///     CoarseClock,
/// );
/// let layer = BreakerLayer::new(&STOCK);
/// # drop(layer);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BreakerLayer<B, J = ByClassifier> {
    pub(super) breaker: B,
    pub(super) judge: J,
}

impl<B> BreakerLayer<B> {
    /// A layer whose services' `Ok` are successes, and `Err` failures.
    pub const fn new(breaker: B) -> Self {
        Self { breaker, judge: ByClassifier(crate::ByResult) }
    }
}

impl<B, J> BreakerLayer<B, J> {
    /// Judges each call by what `classifier` makes of its result, as
    /// [`Caller::classify`](crate::Caller::classify) does. It is cloned for each call.
    ///
    /// ```
    /// # use nanobreaker::{Outcome, SharedBreaker, tower::BreakerLayer};
    /// # let breaker = SharedBreaker::builder().build()?;
    /// use std::io::{Error, ErrorKind};
    ///
    /// let layer = BreakerLayer::new(breaker).classify(|result: &Result<String, Error>| match result {
    ///     Ok(_) => Outcome::Success,
    ///     Err(error) if error.kind() == ErrorKind::NotFound => Outcome::Ignored,
    ///     Err(_) => Outcome::Failure,
    /// });
    /// # drop(layer);
    /// # Ok::<(), nanobreaker::ConfigError>(())
    /// ```
    pub fn classify<T, E, F>(self, classifier: F) -> BreakerLayer<B, J::By<F>>
    where
        J: Reclassify,
        F: Fn(&Result<T, E>) -> Outcome + Clone,
    {
        let judge = self.judge.by(classifier);
        BreakerLayer { breaker: self.breaker, judge }
    }

    /// Errors that `refusals` finds are no calls of the dependency's: they are ignored, beside those that
    /// [are known](super::is_refusal). Say it last, since it keeps the judge that is there.
    ///
    /// ```
    /// # use nanobreaker::{SharedBreaker, tower::{BreakerLayer, is_refusal}};
    /// # let breaker = SharedBreaker::builder().build()?;
    /// #[derive(Debug, thiserror::Error)]
    /// enum StockError {
    ///     #[error("too many calls from here")]
    ///     OurLimit,
    ///     #[error("the warehouse is down")]
    ///     Down(#[source] std::io::Error),
    /// }
    /// let layer = BreakerLayer::new(breaker)
    ///     .refusals(|error: &StockError| matches!(error, StockError::OurLimit) || is_refusal(error));
    /// # drop(layer);
    /// # Ok::<(), nanobreaker::ConfigError>(())
    /// ```
    pub fn refusals<E, F>(self, refusals: F) -> BreakerLayer<B, WithRefusals<J, F>>
    where
        F: Fn(&E) -> bool + Clone,
    {
        BreakerLayer { breaker: self.breaker, judge: WithRefusals::new(self.judge, refusals) }
    }

    /// The same with errors in boxes and in a type with a short name: for services in a field, and for stacks
    /// whose other layers fail with `tower::BoxError`. A call takes an allocation more.
    ///
    /// ```
    /// use nanobreaker::{SharedBreaker, tower::BreakerLayer};
    /// use tower::{BoxError, Layer, service_fn, util::BoxCloneSyncService};
    ///
    /// struct Shop {
    ///     stock: BoxCloneSyncService<u32, u32, BoxError>,
    /// }
    /// let layer = BreakerLayer::new(SharedBreaker::builder().build()?).boxed();
    /// let shop = Shop { stock: layer.layer(service_fn(async |article| Ok::<u32, BoxError>(article))) };
    /// # drop(shop.stock);
    /// # Ok::<(), nanobreaker::ConfigError>(())
    /// ```
    pub fn boxed<S, Request>(
        self,
    ) -> BoxedLayer<S, Request, <BreakerService<S, B, J> as Service<Request>>::Response>
    where
        Self: Layer<S, Service = BreakerService<S, B, J>> + Send + Sync + 'static,
        S: Service<Request> + Send + Sync + 'static,
        S::Error: Into<BoxError> + 'static,
        BreakerService<S, B, J>:
            Service<Request, Error = CallError<S::Error>> + Clone + Send + Sync + 'static,
        <BreakerService<S, B, J> as Service<Request>>::Future: Send + 'static,
        Request: 'static,
    {
        let boxes = MapErrLayer::new(CallError::<S::Error>::into_boxed);
        BoxCloneSyncServiceLayer::new(Stack::new(self, boxes))
    }
}

impl<S, B: Clone, J: Clone> Layer<S> for BreakerLayer<B, J> {
    type Service = BreakerService<S, B, J>;

    fn layer(&self, inner: S) -> Self::Service {
        BreakerService::new(inner, self.breaker.clone(), self.judge.clone())
    }
}
