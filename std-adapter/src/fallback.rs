//! What to do instead, when a call was rejected or failed.

use crate::error::CallError;
use crate::rejection::Rejection;

/// Fallbacks for the results of guarded calls. Each but the first sees why it is needed.
///
/// ```
/// # use nanobreaker::{CallError, CallExt, Fallback, SharedBreaker};
/// # use std::time::Duration;
/// # fn rate() -> Result<f64, std::io::Error> { Err(std::io::Error::other("down")) }
/// # let breaker = SharedBreaker::builder().build()?;
/// # let cached = || 1.09;
/// let rate = breaker.call(rate).fallback_with(|why| match why {
///     CallError::Rejected(_) => cached(),
///     CallError::TimedOut => cached(),
///     CallError::Failed(error) => {
///         eprintln!("rate service: {error}");
///         cached()
///     }
/// });
/// # assert_eq!(rate, 1.09);
/// # Ok::<(), nanobreaker::ConfigError>(())
/// ```
pub trait Fallback<T, E>: Sized {
    /// `value` in place of any error.
    fn fallback(self, value: T) -> T;

    /// What `instead` returns in place of any error.
    fn fallback_with(self, instead: impl FnOnce(CallError<E>) -> T) -> T;

    /// What the future that `instead` returns resolves to, in place of any error.
    ///
    /// Dropping the returned future drops the fallback's; the call itself was over before.
    fn fallback_async<F: Future<Output = T>>(
        self,
        instead: impl FnOnce(CallError<E>) -> F,
    ) -> impl Future<Output = T>;

    /// What `instead` returns where the call was rejected; any other error stays as it is.
    ///
    /// # Errors
    ///
    /// Any other error, or what `instead` returns.
    fn when_rejected(self, instead: impl FnOnce(Rejection) -> Result<T, E>) -> Result<T, CallError<E>>;
}

impl<T, E> Fallback<T, E> for Result<T, CallError<E>> {
    fn fallback(self, value: T) -> T {
        self.unwrap_or(value)
    }

    fn fallback_with(self, instead: impl FnOnce(CallError<E>) -> T) -> T {
        self.unwrap_or_else(instead)
    }

    async fn fallback_async<F: Future<Output = T>>(self, instead: impl FnOnce(CallError<E>) -> F) -> T {
        match self {
            Ok(value) => value,
            Err(why) => instead(why).await,
        }
    }

    fn when_rejected(self, instead: impl FnOnce(Rejection) -> Result<T, E>) -> Result<T, CallError<E>> {
        match self {
            Err(CallError::Rejected(rejected)) => instead(rejected).map_err(CallError::Failed),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use nanobreaker_core::window::Consecutive;
    use nanobreaker_core::{Breaker, Config, ManualClock};

    use super::*;

    type Answer = Result<u32, CallError<&'static str>>;

    fn rejected() -> Answer {
        let window = Consecutive::new(1).unwrap();
        let breaker = Breaker::new(window, Config::DEFAULT, ManualClock::new(0));
        breaker.isolate();
        Err(CallError::from(breaker.allow().unwrap_err()))
    }

    #[test]
    fn a_good_answer_needs_no_fallback() {
        let good: Answer = Ok(1);
        assert_eq!(good.clone().fallback(2), 1);
        assert_eq!(good.clone().fallback_with(|_| 2), 1);
        assert_eq!(good.when_rejected(|_| Ok(2)), Ok(1));
    }

    #[test]
    fn fallbacks_see_why() {
        let failed: Answer = Err(CallError::Failed("broken"));
        assert_eq!(failed.clone().fallback(2), 2);
        assert_eq!(failed.fallback_with(|why| why.into_failed().map_or(0, |e| e.len() as u32)), 6);
        assert_eq!(rejected().fallback_with(|why| why.rejected().map_or(0, |_| 3)), 3);
    }

    #[test]
    fn only_rejections_are_replaced_where_only_they_are_meant() {
        let failed: Answer = Err(CallError::Failed("broken"));
        assert_eq!(failed.when_rejected(|_| Ok(2)), Err(CallError::Failed("broken")));
        assert_eq!(rejected().when_rejected(|_| Ok(2)), Ok(2));
    }

    #[tokio::test]
    async fn an_async_fallback_is_awaited() {
        let failed: Answer = Err(CallError::Failed("broken"));
        assert_eq!(failed.fallback_async(|_| async { 2 }).await, 2);
    }
}
