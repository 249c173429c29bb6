//! Makes calls through a breaker, judged as configured.

use std::future::poll_fn;
use std::pin::pin;
use std::time::Duration;

use nanobreaker_core::window::Window;
use nanobreaker_core::{Breaker, Clock, Observer, Outcome};

use crate::call::classifier::{ByResult, Classifier};
use crate::call::held::Held;
use crate::call::limits::Limits;
use crate::error::CallError;

/// Makes calls through a breaker.
///
/// Comes from [`CallExt::calls`](crate::CallExt::calls); costs nothing to make, and can be kept and used
/// for any number of calls.
///
/// ```
/// use nanobreaker::{CallExt, Outcome, SharedBreaker};
/// use std::time::Duration;
///
/// # struct Response { status: u16 }
/// # fn get() -> Result<Response, std::io::Error> { Ok(Response { status: 404 }) }
/// let catalogue = SharedBreaker::builder().build()?;
/// let response = catalogue
///     .calls()
///     .classify(|result: &Result<Response, std::io::Error>| match result {
///         Ok(response) if response.status >= 500 => Outcome::Failure,
///         Ok(response) if response.status == 404 => Outcome::Ignored,
///         Ok(_) => Outcome::Success,
///         Err(_) => Outcome::Failure,
///     })
///     .slow_after(Duration::from_millis(500))
///     .call(get);
/// # assert!(response.is_ok());
/// # Ok::<(), nanobreaker::ConfigError>(())
/// ```
#[derive(Debug)]
#[must_use = "a caller does nothing until it makes a call"]
pub struct Caller<'a, W, C, O, K = ByResult> {
    breaker: &'a Breaker<W, C, O>,
    classifier: K,
    limits: Limits,
}

impl<'a, W, C, O> Caller<'a, W, C, O> {
    /// A caller through `breaker` that judges by `Ok` and `Err`.
    #[inline]
    pub const fn new(breaker: &'a Breaker<W, C, O>) -> Self {
        Self {
            breaker,
            classifier: ByResult,
            limits: Limits::NONE,
        }
    }
}

impl<'a, W, C, O, K> Caller<'a, W, C, O, K> {
    /// The breaker that it makes calls through.
    #[inline]
    pub(super) const fn breaker(&self) -> &'a Breaker<W, C, O> {
        self.breaker
    }

    /// How long calls may take.
    #[inline]
    pub(crate) const fn limits(&self) -> Limits {
        self.limits
    }

    /// Judges each call by what `classifier` makes of its result: an `Ok` may be a failure (a server
    /// error), an `Err` a success, and either [ignored](Outcome::Ignored) (a "not found", a
    /// validation error).
    ///
    /// A classifier that panics leaves the call without outcome; a probe's place is given back.
    pub fn classify<T, E, F>(self, classifier: F) -> Caller<'a, W, C, O, F>
    where
        F: Fn(&Result<T, E>) -> Outcome,
    {
        Caller {
            breaker: self.breaker,
            classifier,
            limits: self.limits,
        }
    }

    /// A success that took longer than this is [slow](Outcome::Slow). So is a call whose future is
    /// dropped after it ran for longer than this: its caller gave up on it.
    ///
    /// Measured by the breaker's clock, in whole milliseconds; two clock reads a call.
    pub fn slow_after(mut self, limit: Duration) -> Self {
        self.limits.slow_after_ms = Some(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// A call that still runs after this long is judged a failure at that moment, while its caller
    /// goes on waiting for the answer, which then counts no more.
    ///
    /// Without it a dependency that accepts calls and never answers trips the breaker only when the
    /// first timeouts return. Takes effect for [`call_async`](Self::call_async), within a tokio
    /// runtime with its timer enabled, and costs a timer each call.
    #[cfg(feature = "tokio")]
    pub const fn hung_after(mut self, limit: Duration) -> Self {
        self.limits.hung_after = Some(limit);
        self
    }
}

impl<'a, W: Window, C: Clock, O: Observer, K> Caller<'a, W, C, O, K> {
    /// Makes a blocking call. A panic in it is a failure, and goes on unwinding.
    ///
    /// # Errors
    ///
    /// [`CallError::Rejected`] if the call must not be made, [`CallError::Failed`] with the call's own
    /// error.
    #[inline]
    pub fn call<T, E>(&self, call: impl FnOnce() -> Result<T, E>) -> Result<T, CallError<E>>
    where
        K: Classifier<T, E>,
    {
        let mut held = Held::admit(&self.breaker, self.limits).map_err(CallError::Rejected)?;
        let result = held.run(call);
        held.spend(self.classifier.classify(&result));
        result.map_err(CallError::Failed)
    }

    /// Makes an asynchronous call, on any executor. A panic in it is a failure, and goes on
    /// unwinding.
    ///
    /// The breaker is asked when the returned future is first polled. **Dropping** that future gives
    /// a probe's place back and counts as no outcome, or as slow if the call had run for longer than
    /// [`slow_after`](Self::slow_after).
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    #[inline]
    pub fn call_async<T, E, F>(&self, call: F) -> impl Future<Output = Result<T, CallError<E>>>
    where
        F: Future<Output = Result<T, E>>,
        K: Classifier<T, E>,
    {
        guarded(self.breaker, self.limits, &self.classifier, call)
    }
}

/// The asynchronous call itself: one future, so that `call` is not moved from one into the next.
pub(super) async fn guarded<W, C, O, T, E, F>(
    breaker: &Breaker<W, C, O>,
    limits: Limits,
    classifier: &impl Classifier<T, E>,
    call: F,
) -> Result<T, CallError<E>>
where
    W: Window,
    C: Clock,
    O: Observer,
    F: Future<Output = Result<T, E>>,
{
    let mut call = pin!(call);
    let mut held = Held::admit(&breaker, limits).map_err(CallError::Rejected)?;
    let mut hung = pin!(limits.hung());
    let result = poll_fn(|context| {
        held.poll(context, hung.as_mut(), |context| {
            call.as_mut().poll(context)
        })
    })
    .await;
    held.spend(classifier.classify(&result));
    result.map_err(CallError::Failed)
}

#[cfg(test)]
mod tests;
