//! Makes calls through a breaker, judged as configured.

use std::time::Duration;

use nanobreaker_core::window::Window;
use nanobreaker_core::{Breaker, Clock, Observer, Outcome};

use crate::call::asking::{Admitted, allow};
use crate::call::classifier::{ByBorrowed, ByResult, Classifier};
use crate::call::ending::settle;
use crate::call::guarded::Guarded;
use crate::call::limits::Limits;
use crate::call::running;
use crate::call::stage::Stage;
#[cfg(feature = "tokio")]
use crate::call::timed::Timed;
use crate::error::CallError;
use crate::identity::Identity;

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
pub struct Caller<'a, W: Window, C, O, K = ByResult> {
    breaker: &'a Breaker<W, C, O>,
    classifier: K,
    limits: Limits,
}

impl<W: Window, C, O, K: Clone> Clone for Caller<'_, W, C, O, K> {
    fn clone(&self) -> Self {
        Self { breaker: self.breaker, classifier: self.classifier.clone(), limits: self.limits }
    }
}

impl<'a, W: Window, C, O> Caller<'a, W, C, O> {
    /// A caller through `breaker` that judges as [`ByResult`] does.
    #[inline]
    pub const fn new(breaker: &'a Breaker<W, C, O>) -> Self {
        Self { breaker, classifier: ByResult, limits: Limits::NONE }
    }

    /// The same, with time limits.
    #[inline]
    pub(crate) const fn heeding(breaker: &'a Breaker<W, C, O>, limits: Limits) -> Self {
        Self { breaker, classifier: ByResult, limits }
    }
}

impl<'a, W: Window, C, O, K> Caller<'a, W, C, O, K> {
    /// The breaker that it makes calls through.
    #[inline]
    pub(crate) const fn breaker(&self) -> &'a Breaker<W, C, O> {
        self.breaker
    }

    #[cfg(feature = "tokio")]
    #[inline]
    pub(super) const fn classifier(&self) -> &K {
        &self.classifier
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
        self.judged_by(classifier)
    }

    /// The same with any classifier.
    pub(crate) fn judged_by<F>(self, classifier: F) -> Caller<'a, W, C, O, F> {
        Caller { breaker: self.breaker, classifier, limits: self.limits }
    }

    /// A success that took longer than this is [slow](Outcome::Slow), and a failure that did is a
    /// [slow failure](Outcome::SlowFailure). Slow, too, is a call whose future is
    /// dropped after it ran for longer than this: its caller gave up on it.
    ///
    /// Measured by the breaker's clock, in whole milliseconds; two clock reads a call.
    pub fn slow_after(mut self, limit: Duration) -> Self {
        self.limits = self.limits.slow_after(limit);
        self
    }

    /// A call that still runs after this long is judged a failure at that moment, while its caller
    /// goes on waiting for the answer, which then counts no more.
    ///
    /// Without it a dependency that accepts calls and never answers trips the breaker only when the
    /// first timeouts return. Takes effect for [`call_async`](Self::call_async), within a tokio
    /// runtime with its timer enabled, and costs a timer each call.
    #[cfg(feature = "tokio")]
    pub fn hung_after(mut self, limit: Duration) -> Self {
        self.limits = self.limits.hung_after(limit);
        self
    }

    /// Ends an asynchronous call that takes longer than this, with [`CallError::TimedOut`], which counts
    /// as a failure. Its future is dropped.
    ///
    /// A timeout *around* a guarded call drops the call instead, and that says nothing about the
    /// dependency: the breaker would never trip. Within a tokio runtime with its timer enabled.
    ///
    /// ```
    /// # use nanobreaker::{CallError, CallExt, SharedBreaker};
    /// # use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), nanobreaker::ConfigError> {
    /// let breaker = SharedBreaker::builder().consecutive(1).build()?;
    /// let hangs = std::future::pending::<Result<(), std::io::Error>>();
    /// let answer = breaker.calls().timeout(Duration::from_millis(5)).call_async(hangs).await;
    /// assert!(matches!(answer, Err(CallError::TimedOut)));
    /// assert!(breaker.allow().is_err());
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "tokio")]
    pub const fn timeout(self, limit: Duration) -> Timed<'a, W, C, O, K> {
        Timed::new(self, limit)
    }
}

impl<'a, W: Window, C: Clock, O: Observer, K> Caller<'a, W, C, O, K> {
    /// Makes a blocking call. A panic in it is a failure, and goes on unwinding.
    ///
    /// # Errors
    ///
    /// [`CallError::Rejected`] if the call must not be made, [`CallError::Failed`] with the call's own
    /// error.
    // Always inline: its result would have to be written to memory, and read back from there.
    #[inline(always)]
    pub fn call<T, E>(&self, call: impl FnOnce() -> Result<T, E>) -> Result<T, CallError<E>>
    where
        K: Classifier<T, E>,
    {
        let (breaker, limits) = (self.breaker, self.limits);
        let token = match allow(breaker) {
            Ok(Admitted::Counted(token)) => token,
            Ok(Admitted::WithinProbe) => return call().map_err(CallError::Failed),
            Err(rejection) => return Err(CallError::Rejected(rejection)),
        };
        let (result, started_ms) = running::run(breaker, limits, token, call);
        let (outcome, result) =
            running::judge(breaker, token, || self.classifier.judge(|| Identity::of(breaker), result));
        if limits.are_none() {
            breaker.record(token, outcome);
        } else {
            settle(breaker, token, limits, started_ms, Stage::Waits, outcome);
        }
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
        let classifier = ByBorrowed(&self.classifier);
        Guarded::new(self.breaker, self.limits, classifier, call)
    }
}

#[cfg(test)]
mod tests;
