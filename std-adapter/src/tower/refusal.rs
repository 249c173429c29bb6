//! Refusals that say nothing about the dependency, since the call never left this process.
//!
//! A load shedder that is full, a buffer whose worker is gone, a breaker further in that is open: were they
//! counted as failures, one overload or one outage would open every breaker on the way.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::convert::Infallible;
use std::error::Error;
use std::io;

use ::tower::BoxError;
use ::tower::buffer::error::Closed;
use ::tower::load_shed::error::Overloaded;

use nanobreaker_core::Rejected;

use crate::error::CallError;
use crate::rejection::Rejection;

/// Whether the error, or one among its sources, says that a call never left this process: a
/// [`Rejection`] of a breaker, tower's `load_shed` when it is full, tower's `buffer` when it is closed.
///
/// The layers ask this of errors that are `BoxError` or `io::Error`, and of a [`CallError`] around these. Of
/// errors of your own, ask it yourself with [`BreakerLayer::refusals`](super::BreakerLayer::refusals).
pub fn is_refusal(error: &(dyn Error + 'static)) -> bool {
    let is_one = |error: &(dyn Error + 'static)| {
        error.is::<Rejection>() || error.is::<Rejected>() || error.is::<Overloaded>() || error.is::<Closed>()
    };
    let mut next = Some(error);
    while let Some(error) = next {
        if is_one(error) {
            return true;
        }
        next = error.source();
    }
    false
}

type Look = fn(&dyn Any) -> Option<bool>;

thread_local! {
    /// The errors of services behind breakers, as far as this thread has seen them.
    static ERRORS_OF_SERVICES: RefCell<Vec<(TypeId, Look)>> = const { RefCell::new(Vec::new()) };
}

/// Whether `error`, of whatever type, is known to be a refusal.
#[cold]
pub(super) fn is_known<E: 'static>(error: &E) -> bool {
    let error: &dyn Any = error;
    let by_this_crate: [Look; 6] = [
        look_into::<BoxError>,
        look_into::<io::Error>,
        look_into::<Infallible>,
        look_into::<&'static str>,
        look_into::<String>,
        look_into::<()>,
    ];
    let look_up = |errors: &RefCell<Vec<(TypeId, Look)>>| {
        let known = errors.borrow();
        known.iter().find(|(id, _)| *id == error.type_id()).map(|(_, look)| *look)
    };
    let learnt = ERRORS_OF_SERVICES.try_with(look_up).ok().flatten();
    as_error(error)
        .map(is_refusal)
        .or_else(|| learnt.into_iter().chain(by_this_crate).find_map(|look| look(error)))
        .unwrap_or(false)
}

/// Notes that a breaker's service may fail with `CallError<E>`, so that a breaker further out can look into
/// that: from a type's name alone nobody can.
#[cold]
pub(super) fn learn<E: 'static>() {
    let id = TypeId::of::<CallError<E>>();
    // Where the thread is ending there is no breaker further out to tell.
    let _ = ERRORS_OF_SERVICES.try_with(|errors| {
        let mut known = errors.borrow_mut();
        if known.iter().all(|(other, _)| *other != id) {
            known.push((id, look_into::<E>));
        }
    });
}

/// Whether a `CallError<E>` is a refusal; `None` where `error` is none.
fn look_into<E: 'static>(error: &dyn Any) -> Option<bool> {
    error.downcast_ref::<CallError<E>>().map(|error| match error {
        CallError::Rejected(_) => true,
        CallError::TimedOut => false,
        CallError::Failed(error) => is_known(error),
    })
}

fn as_error(error: &dyn Any) -> Option<&(dyn Error + 'static)> {
    if let Some(error) = error.downcast_ref::<BoxError>() {
        return Some(&**error);
    }
    if let Some(error) = error.downcast_ref::<Rejection>() {
        return Some(error);
    }
    let error = error.downcast_ref::<io::Error>()?;
    Some(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected() -> Rejection {
        let breaker = crate::SharedBreaker::builder().build().unwrap();
        breaker.isolate();
        breaker.allow().unwrap_err().into()
    }

    #[derive(Debug, thiserror::Error)]
    #[error("wrapped")]
    struct Wrapped(#[source] CallError<io::Error>);

    #[test]
    fn a_refusal_is_found_in_the_chain_of_sources() {
        assert!(is_refusal(&rejected()));
        assert!(is_refusal(&Wrapped(CallError::Rejected(rejected()))));
        assert!(!is_refusal(&Wrapped(CallError::Failed(io::Error::other("down")))));
        assert!(is_known::<BoxError>(&Overloaded::new().into()));
        assert!(is_known(&io::Error::other(Wrapped(CallError::Rejected(rejected())))));
    }

    #[test]
    fn a_call_error_around_a_box_is_looked_into() {
        let shed: BoxError = Overloaded::new().into();
        assert!(is_known(&CallError::Failed(shed)));
        assert!(!is_known(&CallError::<BoxError>::TimedOut));
        let twice: CallError<CallError<u32>> = CallError::Failed(CallError::Rejected(rejected()));
        assert!(!is_known(&twice), "nobody has said what this type is");
        learn::<u32>();
        learn::<CallError<u32>>();
        assert!(is_known(&twice));
    }
}
