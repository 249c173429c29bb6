//! What the result of a call says about the dependency's health.

use nanobreaker_core::Outcome;

/// Judges the result of a call. Implemented by [`ByResult`] and by functions
/// `Fn(&Result<T, E>) -> Outcome`.
pub trait Classifier<T, E> {
    /// How the call ended.
    fn classify(&self, result: &Result<T, E>) -> Outcome;
}

/// `Ok` is a success, `Err` a failure.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByResult;

impl<T, E> Classifier<T, E> for ByResult {
    #[inline]
    fn classify(&self, result: &Result<T, E>) -> Outcome {
        match result {
            Ok(_) => Outcome::Success,
            Err(_) => Outcome::Failure,
        }
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
}
