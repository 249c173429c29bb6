//! Puts a breaker around services, and says how their calls are judged.

use tower_layer::Layer;

use nanobreaker_core::Outcome;

use super::{BreakerService, ByClassifier};

/// Puts a breaker around a service.
///
/// `breaker` is anything that makes guarded calls and is cheap to clone: a
/// [`SharedBreaker`](crate::SharedBreaker), an `Arc` or a `&'static` of a
/// [`Breaker`](crate::Breaker). All services that this layer makes share it.
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
    pub fn classify<T, E, F>(self, classifier: F) -> BreakerLayer<B, ByClassifier<F>>
    where
        F: Fn(&Result<T, E>) -> Outcome + Clone,
    {
        self.judged(ByClassifier(classifier))
    }

    pub(super) fn judged<K>(self, judge: K) -> BreakerLayer<B, K> {
        BreakerLayer { breaker: self.breaker, judge }
    }
}

impl<S, B: Clone, J: Clone> Layer<S> for BreakerLayer<B, J> {
    type Service = BreakerService<S, B, J>;

    fn layer(&self, inner: S) -> Self::Service {
        BreakerService::new(inner, self.breaker.clone(), self.judge.clone())
    }
}
