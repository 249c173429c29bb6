//! One request counts as one failure, however often it is tried.

use std::sync::{Arc, Mutex, PoisonError};

use nanobreaker_core::Outcome;

/// What all attempts of one request share, among its extensions: whether a failure of it counts already.
///
/// Behind retries a breaker sees each attempt. With this among the extensions of the request, and of its
/// clones, they count together as one failure: how often a client tries again says nothing about the
/// service. A probe is always judged, since its round waits for it. A generation of a breaker is a new one
/// to fail.
///
/// [`CountedLayer`](crate::tower::CountedLayer) puts it there, outside of tower's retries.
#[derive(Clone, Debug, Default)]
pub struct Counted(Arc<Mutex<Vec<Window>>>);

/// A breaker's address, which stands for its identity while a call holds it, and the generation in which the
/// request counts as failed.
type Window = (usize, u16);

impl Counted {
    /// Of a request that has not failed.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What an attempt that ended with `outcome` counts as; `window` is none where each one counts.
    pub(crate) fn outcome(&self, outcome: Outcome, window: impl FnOnce() -> Option<Window>) -> Outcome {
        if !matches!(outcome, Outcome::Failure | Outcome::SlowFailure) {
            return outcome;
        }
        let Some((breaker, generation)) = window() else {
            return outcome;
        };
        // One for each breaker on the way: one may be inside of another, and each attempt may ask another one.
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match counted.iter_mut().find(|window| window.0 == breaker) {
            Some(there) if there.1 == generation => return Outcome::Ignored,
            Some(there) => there.1 = generation,
            None => counted.push((breaker, generation)),
        }
        outcome
    }
}
