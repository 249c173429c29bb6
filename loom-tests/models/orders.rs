//! Two moves at once come to what they come to one after the other, in one order or in the other.
//!
//! Both orders are played first, each on one thread. Then the two threads at once must reach these two
//! outcomes and nothing else. Some moves come to the same in both orders: then that alone is reached.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use crate::apart;
use crate::explore::{Actor, Bound, MOST_STEPS, check, model};

/// What else two moves can come to, told from the first order's outcome and the second's. For a move of
/// two steps, between which the other one can come; the reason stands beside each use.
pub(crate) type More<O> = fn(&O, &O) -> O;

/// Explores both actors at once; `end` says what each execution came to.
pub(crate) fn one_after_the_other<S, R, O, const N: usize>(
    setup: fn() -> S,
    actors: [Actor<S, R>; 2],
    end: fn(&S, [R; 2]) -> O,
    more: [More<O>; N],
) where
    S: Send + Sync + 'static,
    R: Send + 'static,
    O: Eq + Hash + Debug + Send + 'static,
{
    if apart::passed() {
        return;
    }
    let [first, second] = actors;
    let in_order = in_turn(setup, move |rig| end(rig, [first(rig), second(rig)]));
    let swapped = in_turn(setup, move |rig| {
        let second = second(rig);
        end(rig, [first(rig), second])
    });
    let more = more.map(|more| more(&in_order, &swapped));
    model(Bound::Exhaustive, setup)
        .threads(actors)
        .end(end)
        .exactly([in_order, swapped].into_iter().chain(more));
}

/// What `play` comes to on one thread.
fn in_turn<S, O>(setup: fn() -> S, play: impl Fn(&S) -> O + Send + Sync + 'static) -> O
where
    S: 'static,
    O: Send + 'static,
{
    let outcome = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&outcome);
    check(Bound::Exhaustive, MOST_STEPS, Box::new(move || *seen.lock().unwrap() = Some(play(&setup()))));
    let outcome = outcome.lock().unwrap().take();
    outcome.expect("the model ran")
}
