//! What the doors of a shared breaker know of it, whatever its type: its name, and how it judges errors.
//!
//! It is found through the breaker's observer, stays for the rest of the process, and is used for another
//! breaker when that one is gone.

use std::any::Any;
use std::convert::Infallible;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use nanobreaker_core::window::Window;
use nanobreaker_core::{Breaker, Clock, ConfigError, Observer, Outcome};

/// Judges a result without an answer, if its error is of the type that this is for.
pub(crate) type ErrorClassifier = Arc<dyn Fn(&dyn Any) -> Option<Outcome> + Send + Sync>;

/// A breaker's name, and its own classifiers.
#[derive(Default)]
pub struct Identity {
    /// Stepped with each breaker.
    edition: AtomicU32,
    person: RwLock<Person>,
    /// Whether there are classifiers. Relaxed throughout: a call that ends as a breaker does may be judged by
    /// either, and what it has to say is stale.
    classifies: AtomicBool,
    /// Why there is no breaker.
    refused: Option<ConfigError>,
}

/// What is of one breaker alone.
#[derive(Default)]
struct Person {
    name: Arc<str>,
    classifiers: Arc<[ErrorClassifier]>,
}

impl Identity {
    /// Of nobody yet.
    pub(crate) fn leaked() -> &'static Self {
        Box::leak(Box::default())
    }

    /// Of all breakers that could not be made because of `error`. There are as many as errors.
    #[cfg(all(feature = "tower", feature = "registry"))]
    pub(crate) fn of_error(error: ConfigError) -> &'static Self {
        static ALL: std::sync::Mutex<Vec<&'static Identity>> = std::sync::Mutex::new(Vec::new());
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let there = all.iter().copied().find(|identity| identity.refused == Some(error));
        there.unwrap_or_else(|| {
            let identity = Box::leak(Box::new(Self { refused: Some(error), ..Self::default() }));
            all.push(identity);
            identity
        })
    }

    /// That of a breaker which has one.
    pub(crate) fn of<W: Window, C: Clock, O: Observer>(breaker: &Breaker<W, C, O>) -> Option<&'static Self> {
        breaker.observer().identity()?.downcast_ref()
    }

    /// It is another breaker's from here on.
    pub(crate) fn replace(&self, name: Arc<str>, classifiers: Vec<ErrorClassifier>) {
        self.classifies.store(!classifiers.is_empty(), Ordering::Relaxed);
        let next = Person { name, classifiers: classifiers.into() };
        let before = {
            let mut there = self.person.write().unwrap_or_else(PoisonError::into_inner);
            // Relaxed: the name is read under the lock, and so is the edition that counts.
            self.edition.fetch_add(1, Ordering::Relaxed);
            std::mem::replace(&mut *there, next)
        };
        // Outside of the lock: what classifiers hold is anyone's.
        drop(before);
    }

    /// Which breaker's it is now.
    pub(crate) fn edition(&self) -> u32 {
        // Relaxed: a name that changes at this moment is another breaker's, and the one that asks is gone.
        self.edition.load(Ordering::Relaxed)
    }

    /// The name of the breaker of that edition, if it has one and is still there.
    pub(crate) fn name(&self, edition: u32) -> Option<Arc<str>> {
        let person = self.person.read().unwrap_or_else(PoisonError::into_inner);
        (self.edition() == edition && !person.name.is_empty()).then(|| Arc::clone(&person.name))
    }

    pub(crate) const fn refused(&self) -> Option<ConfigError> {
        self.refused
    }

    fn classifiers(&self) -> Option<Arc<[ErrorClassifier]>> {
        if !self.classifies.load(Ordering::Relaxed) {
            return None;
        }
        let person = self.person.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&person.classifiers))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("name", &self.name(self.edition())).finish_non_exhaustive()
    }
}

/// Makes a classifier of results one that takes whatever comes.
pub(crate) fn erased<E: 'static>(
    classifier: impl Fn(&Result<Infallible, E>) -> Outcome + Send + Sync + 'static,
) -> ErrorClassifier {
    Arc::new(move |result| result.downcast_ref().map(&classifier))
}

/// Judges an answer by `by_answer`, and an error as its breaker does. Gives the result back.
#[inline]
pub(crate) fn judge<T, E: 'static>(
    identity: impl FnOnce() -> Option<&'static Identity>,
    result: Result<T, E>,
    by_answer: impl FnOnce(&T) -> Outcome,
) -> (Outcome, Result<T, E>) {
    match result {
        Ok(answer) => (by_answer(&answer), Ok(answer)),
        Err(error) => {
            let (outcome, error) = judge_error(identity(), error);
            (outcome, Err(error))
        }
    }
}

/// Judges an error as its breaker does; as a failure where that does not say. Gives the error back.
#[cold]
pub(crate) fn judge_error<E: 'static>(identity: Option<&Identity>, error: E) -> (Outcome, E) {
    let Some(classifiers) = identity.and_then(Identity::classifiers) else {
        return (Outcome::Failure, error);
    };
    let result = Err::<Infallible, E>(error);
    // The last first: it is what was said last of its type.
    let outcome = classifiers.iter().rev().find_map(|classifier| classifier(&result));
    let Err(error) = result;
    (outcome.unwrap_or(Outcome::Failure), error)
}
