//! How a guarded call can fail.

use std::time::Duration;

use nanobreaker_core::Rejected;

use crate::rejection::Rejection;

/// A guarded call was not made, or was made and failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError<E> {
    /// The breaker rejected the call: it was not made.
    #[error("the call was not made")]
    Rejected(#[source] Rejection),
    /// The call was made and did not end in its [time](crate::Caller). It was dropped.
    #[error("the call did not end in its time")]
    TimedOut,
    /// The call was made and ended with the caller's own error, unchanged.
    #[error("the call failed")]
    Failed(#[source] E),
}

impl<E> CallError<E> {
    /// Why the call was not made, and which breaker said so; `None` if it was made.
    pub const fn rejected(&self) -> Option<&Rejection> {
        match self {
            Self::Rejected(rejection) => Some(rejection),
            Self::Failed(_) | Self::TimedOut => None,
        }
    }

    /// When asking again makes sense, if the call was rejected and a time is known.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Rejected(rejection) => rejection.retry_after(),
            Self::Failed(_) | Self::TimedOut => None,
        }
    }

    /// The error as a box, as services of tower's kind pass errors on: the caller's own error, or the
    /// [`Rejection`].
    ///
    /// For errors that are boxes already, and so are no `Error` that a `CallError` could be one with.
    ///
    /// ```
    /// # use nanobreaker::CallError;
    /// type BoxError = Box<dyn std::error::Error + Send + Sync>;
    /// let failed: CallError<BoxError> = CallError::Failed("refused".into());
    /// assert_eq!(failed.into_boxed().to_string(), "refused");
    /// ```
    pub fn into_boxed(self) -> Box<dyn std::error::Error + Send + Sync>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        match self {
            Self::Rejected(rejection) => rejection.into(),
            Self::Failed(error) => error.into(),
            Self::TimedOut => "the call did not end in its time".into(),
        }
    }

    /// The caller's own error; `None` if the call was not made, or did not end in its time.
    pub fn into_failed(self) -> Option<E> {
        match self {
            Self::Rejected(_) | Self::TimedOut => None,
            Self::Failed(error) => Some(error),
        }
    }
}

/// For those who ask a breaker themselves.
impl<E> From<Rejected> for CallError<E> {
    fn from(rejected: Rejected) -> Self {
        Self::Rejected(rejected.into())
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::io;

    use nanobreaker_core::window::Consecutive;
    use nanobreaker_core::{Breaker, Config, ManualClock};

    use super::*;

    #[test]
    fn sources_lead_to_the_rejection_and_to_the_callers_error() {
        let breaker = Breaker::new(Consecutive::new(1).unwrap(), Config::DEFAULT, ManualClock::new(0));
        breaker.trip();
        let rejected: CallError<io::Error> = CallError::from(breaker.allow().unwrap_err());
        assert_eq!(rejected.retry_after(), Some(Duration::from_secs(10)));
        let source = rejected.source().unwrap().to_string();
        assert_eq!(source, "rejected by a breaker that is open; retry after 10000 ms");

        let failed = CallError::Failed(io::Error::other("refused"));
        assert_eq!(failed.source().unwrap().to_string(), "refused");
        assert_eq!(failed.into_failed().unwrap().to_string(), "refused");
    }
}
