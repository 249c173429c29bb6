//! Which breaker a call asks: one for all of a service's calls, or one for each key.

use nanobreaker_core::{Outcome, Phase};

use super::refusal;
use crate::call::{CallExt, Handle, Held};
use crate::rejection::Rejection;
#[cfg(feature = "registry")]
use crate::{registry::Registry, shared::PinnedBreaker};

/// Chooses the breaker that a call asks. Each [`Handle`] chooses itself; [`Keyed`] chooses by request.
/// Implemented by this crate only.
pub trait Choose<Request>: sealed::Sealed {
    /// What a call under way holds.
    type Held: CallExt;

    /// Asks the breaker of `request` and starts the call if it may be made; goes on by what came of it.
    #[doc(hidden)]
    fn start<S, T>(
        &self,
        request: Request,
        start: impl FnOnce(Request) -> S,
        started: impl FnOnce(S, Held<Self::Held>) -> T,
        rejected: impl FnOnce(Rejection) -> T,
    ) -> T;

    /// Why the next call is rejected, whatever it is; `None` where it may pass.
    #[doc(hidden)]
    fn rejects_all(&self) -> Option<Rejection>;

    /// The service failed before there was a call.
    #[doc(hidden)]
    fn fails(&self);
}

/// A service that fails as it gets ready will not be called: that counts as a failed call, unless it is a
/// refusal.
#[cold]
pub(super) fn broken<Request, B: Choose<Request>, E: 'static>(breaker: &B, error: &E) {
    refusal::learn::<E>();
    if !refusal::is_known(error) {
        breaker.fails();
    }
}

mod sealed {
    pub trait Sealed {}
}

impl<B: Handle> sealed::Sealed for B {}

impl<B: Handle, Request> Choose<Request> for B {
    type Held = B::Held;

    #[inline(always)]
    fn start<S, T>(
        &self,
        request: Request,
        start: impl FnOnce(Request) -> S,
        started: impl FnOnce(S, Held<B::Held>) -> T,
        rejected: impl FnOnce(Rejection) -> T,
    ) -> T {
        Held::start(self, || start(request), started, rejected)
    }

    #[cold]
    fn rejects_all(&self) -> Option<Rejection> {
        let breaker = self.breaker();
        let snapshot = breaker.snapshot();
        let is_held = snapshot.phase == Phase::Isolated;
        let is_waiting = snapshot.phase == Phase::Open && !snapshot.ready_to_probe();
        if snapshot.in_shadow || !(is_held || is_waiting) {
            return None;
        }
        match breaker.allow_token() {
            Err(rejected) => Some(Rejection::by(breaker, rejected)),
            // It lets calls pass since that look.
            Ok(token) => {
                breaker.record(token, Outcome::Cancelled);
                None
            }
        }
    }

    #[cold]
    fn fails(&self) {
        if let Ok(mut held) = Held::admit(self) {
            held.spend(Outcome::Failure);
        }
    }
}

/// A breaker for each key of a [`Registry`], the key being a part of the request: see
/// [`BreakerLayer::keyed`](super::BreakerLayer::keyed).
///
/// ```
/// use nanobreaker::{Registry, SharedBreaker, tower::{BreakerLayer, Keyed, host}};
///
/// let hosts = Registry::builder(|host: &String| SharedBreaker::builder().name(host.as_str())).build();
/// let layer = BreakerLayer::http(Keyed::new(hosts, host::<String>));
/// # drop(layer);
/// ```
#[cfg(feature = "registry")]
#[derive(Clone)]
pub struct Keyed<K, F> {
    registry: Registry<K>,
    key: F,
}

#[cfg(feature = "registry")]
impl<K, F> Keyed<K, F> {
    /// Asks the breaker in `registry` whose key is what `key` makes of the request.
    ///
    /// Where the settings that the registry has for a key are outside of their limits, its calls are
    /// rejected; the [`Rejection`] says which setting it is.
    pub const fn new<Request>(registry: Registry<K>, key: F) -> Self
    where
        F: Fn(&Request) -> K,
    {
        Self { registry, key }
    }
}

#[cfg(feature = "registry")]
impl<K, F> sealed::Sealed for Keyed<K, F> {}

#[cfg(feature = "registry")]
impl<K, F, Request> Choose<Request> for Keyed<K, F>
where
    K: std::hash::Hash + Eq + Clone + Send + Sync + 'static,
    F: Fn(&Request) -> K,
{
    type Held = PinnedBreaker;

    #[inline]
    fn start<S, T>(
        &self,
        request: Request,
        start: impl FnOnce(Request) -> S,
        started: impl FnOnce(S, Held<PinnedBreaker>) -> T,
        rejected: impl FnOnce(Rejection) -> T,
    ) -> T {
        match self.registry.get_or_create(&(self.key)(&request)) {
            Ok(breaker) => Held::start(&breaker, || start(request), started, rejected),
            Err(error) => rejected(Rejection::of_settings(error)),
        }
    }

    fn rejects_all(&self) -> Option<Rejection> {
        None
    }

    // Nobody knows whose call it would have been.
    fn fails(&self) {}
}

#[cfg(feature = "registry")]
impl<K, F> std::fmt::Debug for Keyed<K, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keyed").finish_non_exhaustive()
    }
}

/// By which key calls choose their breaker; [`over`](Self::over) makes it a layer.
#[cfg(feature = "registry")]
#[derive(Clone, Copy)]
#[must_use = "call over() to get the layer"]
pub struct KeyedBy<F>(F);

#[cfg(feature = "registry")]
impl<F> KeyedBy<F> {
    /// The layer over the breakers of `registry`. `Ok` is a success and `Err` a failure, unless the layer is
    /// told otherwise; for HTTP and gRPC see [`Keyed`].
    pub fn over<K, Request>(self, registry: Registry<K>) -> super::BreakerLayer<Keyed<K, F>>
    where
        F: Fn(&Request) -> K,
    {
        super::BreakerLayer::new(Keyed::new(registry, self.0))
    }
}

#[cfg(feature = "registry")]
impl<F> std::fmt::Debug for KeyedBy<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyedBy").finish_non_exhaustive()
    }
}

#[cfg(feature = "registry")]
impl super::BreakerLayer<()> {
    /// A breaker for each key: the key is what `key` makes of a request, the breaker lies in a [`Registry`].
    ///
    /// A service that is not ready keeps all keys waiting, and one that fails as it gets ready counts for none.
    ///
    /// ```
    /// use nanobreaker::{Registry, SharedBreaker, tower::BreakerLayer};
    /// use tower::{Layer, ServiceExt, service_fn};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let tenants = Registry::builder(|_: &u32| SharedBreaker::builder().consecutive(1)).build();
    /// let layer = BreakerLayer::keyed(|request: &(u32, &str)| request.0).over(tenants);
    /// let service = layer.layer(service_fn(async |(tenant, _)| if tenant == 7 { Err("down") } else { Ok(()) }));
    /// assert!(service.clone().oneshot((7, "order")).await.unwrap_err().rejected().is_none());
    /// assert!(service.clone().oneshot((7, "order")).await.unwrap_err().rejected().is_some());
    /// assert!(service.oneshot((8, "order")).await.is_ok());
    /// # }
    /// ```
    pub const fn keyed<K, Request, F>(key: F) -> KeyedBy<F>
    where
        F: Fn(&Request) -> K,
    {
        KeyedBy(key)
    }
}
