//! A bounded queue of transitions, for code that can't do anything about one where it happens.

use core::cell::RefCell;

use critical_section::Mutex;
use heapless::spsc;

use crate::observer::{Observer, Transition};

/// An observer that keeps the last transitions until somebody takes them: an interrupt fills it, the
/// main loop prints them.
///
/// It holds up to `N` − 1 transitions. When it is full, further ones are dropped and
/// [counted](Self::take_dropped), so that a reader knows.
///
/// One queue may serve several breakers and be used from any thread or interrupt. Each access takes
/// a critical section for as long as one transition is copied, so the binary must
/// [provide one](https://docs.rs/critical-section); the breaker itself stays lock-free.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, Phase, checked};
/// use nanobreaker_core::{observer::Queue, window::Consecutive};
///
/// static TRANSITIONS: Queue<8> = Queue::new();
/// static RADIO: Breaker<Consecutive, ManualClock, &Queue<8>> = Breaker::with_observer(
///     checked!(Consecutive::new(1)),
///     Config::DEFAULT,
///     ManualClock::new(0),
///     &TRANSITIONS,
/// );
///
/// RADIO.allow()?.failure();
/// assert_eq!(TRANSITIONS.take().map(|transition| transition.to), Some(Phase::Open));
/// assert_eq!(TRANSITIONS.take_dropped(), 0);
/// # Ok::<(), nanobreaker_core::Rejected>(())
/// ```
pub struct Queue<const N: usize> {
    inside: Mutex<RefCell<Inside<N>>>,
}

struct Inside<const N: usize> {
    transitions: spsc::Queue<Transition, N>,
    dropped: u32,
}

impl<const N: usize> Queue<N> {
    /// An empty queue. `N` must be at least 2, which the compiler checks.
    pub const fn new() -> Self {
        Self {
            inside: Mutex::new(RefCell::new(Inside {
                transitions: spsc::Queue::new(),
                dropped: 0,
            })),
        }
    }

    /// Takes the oldest transition.
    pub fn take(&self) -> Option<Transition> {
        self.with(|inside| inside.transitions.dequeue()).flatten()
    }

    /// How many transitions were dropped since this was last asked, because the queue was full.
    pub fn take_dropped(&self) -> u32 {
        self.with(|inside| core::mem::take(&mut inside.dropped))
            .unwrap_or(0)
    }

    fn with<T>(&self, access: impl FnOnce(&mut Inside<N>) -> T) -> Option<T> {
        critical_section::with(|section| {
            // Never borrowed twice within a critical section; the check is there to not panic.
            let mut inside = self.inside.borrow(section).try_borrow_mut().ok()?;
            Some(access(&mut inside))
        })
    }
}

impl<const N: usize> Default for Queue<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> core::fmt::Debug for Queue<N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

impl<const N: usize> Observer for Queue<N> {
    fn transition(&self, transition: &Transition) {
        self.with(|inside| {
            if inside.transitions.enqueue(*transition).is_err() {
                inside.dropped = inside.dropped.saturating_add(1);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Cause;
    use crate::phase::Phase;

    fn transition(generation: u16) -> Transition {
        Transition {
            generation,
            from: Phase::Closed,
            to: Phase::Open,
            cause: Cause::ThresholdReached,
            at_ms: 0,
            open_for_ms: 0,
            streak: 0,
        }
    }

    #[test]
    fn transitions_come_out_in_order_and_drops_are_counted() {
        let queue = Queue::<3>::new();
        for generation in 0..5 {
            queue.transition(&transition(generation));
        }
        assert_eq!(queue.take(), Some(transition(0)));
        assert_eq!(queue.take(), Some(transition(1)));
        assert_eq!(queue.take(), None);
        assert_eq!(queue.take_dropped(), 3);
        assert_eq!(queue.take_dropped(), 0);
    }
}
