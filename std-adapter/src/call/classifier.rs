//! What the result of a call says about the dependency's health.

use nanobreaker_core::Outcome;

use crate::identity::{self, Identity};

/// Judges the result of a call. Implemented by [`ByResult`] and by functions
/// `Fn(&Result<T, E>) -> Outcome`.
pub trait Classifier<T, E> {
    /// How the call ended.
    fn classify(&self, result: &Result<T, E>) -> Outcome;

    /// The same, where it may leave the error to the breaker. Gives the result back.
    #[doc(hidden)]
    #[inline]
    fn judge(
        &self,
        _: impl FnOnce() -> Option<&'static Identity>,
        result: Result<T, E>,
    ) -> (Outcome, Result<T, E>) {
        (self.classify(&result), result)
    }

    /// What a call comes to that goes on for longer than it may.
    #[doc(hidden)]
    #[inline]
    fn hangs(&self) -> Outcome {
        Outcome::Failure
    }
}

/// `Ok` is a success, `Err` a failure, unless the breaker has a
/// [classifier of its own](crate::SharedBreakerBuilder::classify) for such errors.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByResult;

impl<T, E: 'static> Classifier<T, E> for ByResult {
    #[inline]
    fn classify(&self, result: &Result<T, E>) -> Outcome {
        match result {
            Ok(_) => Outcome::Success,
            Err(_) => Outcome::Failure,
        }
    }

    #[inline]
    fn judge(
        &self,
        identity: impl FnOnce() -> Option<&'static Identity>,
        result: Result<T, E>,
    ) -> (Outcome, Result<T, E>) {
        identity::judge(identity, result, |_| Outcome::Success)
    }
}

impl<T, E, F: Fn(&Result<T, E>) -> Outcome> Classifier<T, E> for F {
    #[inline]
    fn classify(&self, result: &Result<T, E>) -> Outcome {
        self(result)
    }
}

/// Judges by a classifier that lies elsewhere.
pub(super) struct ByBorrowed<'a, K>(pub(super) &'a K);

impl<T, E, K: Classifier<T, E>> Classifier<T, E> for ByBorrowed<'_, K> {
    #[inline]
    fn classify(&self, result: &Result<T, E>) -> Outcome {
        self.0.classify(result)
    }

    #[inline]
    fn hangs(&self) -> Outcome {
        self.0.hangs()
    }

    #[inline]
    fn judge(
        &self,
        identity: impl FnOnce() -> Option<&'static Identity>,
        result: Result<T, E>,
    ) -> (Outcome, Result<T, E>) {
        self.0.judge(identity, result)
    }
}
