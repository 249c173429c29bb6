//! Who owns a breaker is counted, by one counter for each thread that clones its handles.
//!
//! One counter for all would be a line of memory that cores hand to one another at each clone. So a clone that is
//! made on the thread of its source counts with that. One that is made on another thread begins a counter there.
//! Each counter counts once in the breaker's life, which ends with the last of them.

use std::cell::Cell;
use std::sync::Arc;

use super::slot::Life;

/// A share in the ownership of a breaker.
pub(super) struct Owner(Arc<Counted>);

/// What handles have in common that were cloned on one thread. Aligned, so that the counter in front of it has a
/// line for itself.
#[repr(align(64))]
struct Counted {
    life: Arc<Life>,
    thread: usize,
}

impl Owner {
    pub(super) fn new(life: Arc<Life>) -> Self {
        Self(Arc::new(Counted { life, thread: this_thread() }))
    }

    #[inline]
    pub(super) fn life(&self) -> &Arc<Life> {
        &self.0.life
    }

    /// Whether there is no other.
    #[cfg(feature = "registry")]
    pub(super) fn is_alone(&self) -> bool {
        Arc::strong_count(&self.0) == 1 && Arc::strong_count(&self.0.life) == 1
    }
}

impl Clone for Owner {
    #[inline]
    fn clone(&self) -> Self {
        if self.0.thread == this_thread() {
            Self(Arc::clone(&self.0))
        } else {
            Self::new(Arc::clone(&self.0.life))
        }
    }
}

/// Tells this thread from all others that live. One that comes after may be told the same, and counts on.
#[inline]
fn this_thread() -> usize {
    thread_local! {
        // A cell, so that each thread must have one of its own.
        static HERE: Cell<u8> = const { Cell::new(0) };
    }
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;

    use crate::SharedBreaker;

    #[test]
    fn clones_count_with_others_of_their_thread_alone() {
        let breaker = SharedBreaker::builder().build().unwrap();
        let here = breaker.clone();
        assert!(Arc::ptr_eq(&breaker.owner.0, &here.owner.0));
        let there = thread::scope(|scope| {
            scope
                .spawn(|| {
                    let there = breaker.clone();
                    assert!(Arc::ptr_eq(&there.owner.0, &there.clone().owner.0));
                    there
                })
                .join()
                .unwrap()
        });
        assert!(!Arc::ptr_eq(&breaker.owner.0, &there.owner.0));
    }

    #[test]
    fn a_breaker_ends_with_the_last_of_its_handles_wherever_they_were_cloned_and_dropped() {
        for _ in 0..50 {
            let breaker = SharedBreaker::builder().build().unwrap();
            let reference = breaker.reference();
            let (sender, handles) = channel::<SharedBreaker>();
            let handles = thread::scope(|scope| {
                for _ in 0..3 {
                    let (breaker, sender) = (&breaker, sender.clone());
                    scope.spawn(move || {
                        let mut last = breaker.clone();
                        for round in 0..100 {
                            let next = if round % 3 == 0 { breaker.clone() } else { last.clone() };
                            let before = std::mem::replace(&mut last, next);
                            // Dropped here, or on another thread.
                            if round % 2 == 0 {
                                sender.send(before).unwrap();
                            }
                        }
                        sender.send(last).unwrap();
                    });
                }
                let drops = scope.spawn(move || {
                    handles.iter().take(100).for_each(|handle| drop(handle.clone()));
                    handles
                });
                drops.join().unwrap()
            });
            assert!(reference.is_alive());
            drop(breaker);
            let last = handles.try_iter().last().expect("more were sent than taken");
            assert!(reference.is_alive());
            drop(last);
            assert!(!reference.is_alive());
        }
    }
}
