//! Calls that end when their time is over.

use std::time::Duration;

use tokio::time::error::Elapsed;
use tokio::time::timeout;

use nanobreaker_core::window::Window;
use nanobreaker_core::{Clock, Observer, Outcome};

use crate::call::caller::Caller;
use crate::call::classifier::{ByResult, Classifier};
use crate::call::guarded::Guarded;
use crate::error::CallError;
use crate::identity::Identity;

/// Makes asynchronous calls through a breaker that end when their time is over: see
/// [`Caller::timeout`].
#[derive(Debug)]
#[must_use = "a caller does nothing until it makes a call"]
pub struct Timed<'a, W: Window, C, O, K = ByResult> {
    caller: Caller<'a, W, C, O, K>,
    limit: Duration,
}

impl<W: Window, C, O, K: Clone> Clone for Timed<'_, W, C, O, K> {
    fn clone(&self) -> Self {
        Self { caller: self.caller.clone(), limit: self.limit }
    }
}

impl<'a, W: Window, C, O, K> Timed<'a, W, C, O, K> {
    pub(super) const fn new(caller: Caller<'a, W, C, O, K>, limit: Duration) -> Self {
        Self { caller, limit }
    }
}

impl<W: Window, C: Clock, O: Observer, K> Timed<'_, W, C, O, K> {
    /// Makes the call. Its time begins when the returned future is first polled, which asks the breaker,
    /// too. **Dropping** that future counts as [`Caller::call_async`] says.
    ///
    /// # Errors
    ///
    /// [`CallError::TimedOut`] where the time was over first, else as [`Caller::call_async`].
    pub async fn call_async<T, E, F>(&self, call: F) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
        K: Classifier<T, E>,
    {
        let (breaker, limits) = (self.caller.breaker(), self.caller.limits());
        let within_time = async { timeout(self.limit, call).await };
        let classifier = InTime(self.caller.classifier());
        match Guarded::new(breaker, limits, classifier, within_time).await {
            Ok(result) => result.map_err(CallError::Failed),
            Err(CallError::Rejected(rejected)) => Err(CallError::Rejected(rejected)),
            Err(CallError::Failed(_) | CallError::TimedOut) => Err(CallError::TimedOut),
        }
    }
}

/// Judges what came in time by another classifier; what did not has failed.
struct InTime<'a, K>(&'a K);

impl<T, E, K: Classifier<T, E>> Classifier<Result<T, E>, Elapsed> for InTime<'_, K> {
    fn classify(&self, result: &Result<Result<T, E>, Elapsed>) -> Outcome {
        match result {
            Ok(result) => self.0.classify(result),
            Err(_) => Outcome::Failure,
        }
    }

    fn hangs(&self) -> Outcome {
        self.0.hangs()
    }

    fn judge(
        &self,
        identity: impl FnOnce() -> Option<&'static Identity>,
        result: Result<Result<T, E>, Elapsed>,
    ) -> (Outcome, Result<Result<T, E>, Elapsed>) {
        match result {
            Ok(result) => {
                let (outcome, result) = self.0.judge(identity, result);
                (outcome, Ok(result))
            }
            Err(elapsed) => (Outcome::Failure, Err(elapsed)),
        }
    }
}
