//! A bounded queue of transitions, for code that can't do anything about one where it happens.

use core::cell::RefCell;

use critical_section::Mutex;
use heapless::Deque;

use nanobreaker_core::{Observer, Transition};

/// An observer that keeps the last transitions until somebody takes them: an interrupt fills it, the
/// main loop prints them.
///
/// It holds up to `N` transitions. When it is full, further ones are dropped and
/// [counted](Self::take_dropped), so that a reader knows.
///
/// One queue may serve several breakers and be used from any thread or interrupt. Each access takes
/// a critical section for as long as one transition is copied, so the binary must
/// [provide one](https://docs.rs/critical-section); the breaker itself stays lock-free.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, Phase, checked};
/// use nanobreaker_core::window::Consecutive;
/// use nanobreaker_embedded::Queue;
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
    transitions: Deque<Transition, N>,
    dropped: u32,
}

impl<const N: usize> Queue<N> {
    /// An empty queue.
    pub const fn new() -> Self {
        Self { inside: Mutex::new(RefCell::new(Inside { transitions: Deque::new(), dropped: 0 })) }
    }

    /// Takes the oldest transition.
    pub fn take(&self) -> Option<Transition> {
        self.with(|inside| inside.transitions.pop_front()).flatten()
    }

    /// How many transitions were dropped since this was last asked, because the queue was full.
    pub fn take_dropped(&self) -> u32 {
        self.with(|inside| core::mem::take(&mut inside.dropped)).unwrap_or(0)
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
            if inside.transitions.push_back(*transition).is_err() {
                inside.dropped = inside.dropped.saturating_add(1);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use nanobreaker_core::window::Consecutive;
    use nanobreaker_core::{Breaker, Cause, Config, ManualClock};

    use super::*;

    type QueuedBreaker<'q, const N: usize> = Breaker<Consecutive, ManualClock, &'q Queue<N>>;

    fn breaker<const N: usize>(queue: &Queue<N>) -> QueuedBreaker<'_, N> {
        let window = Consecutive::new(1).unwrap();
        Breaker::with_observer(window, Config::DEFAULT, ManualClock::new(0), queue)
    }

    #[test]
    fn transitions_come_out_in_order_and_drops_are_counted() {
        let queue = Queue::<2>::new();
        let breaker = breaker(&queue);
        for _ in 0..2 {
            breaker.isolate();
            breaker.disable();
        }
        breaker.reset();
        let causes = [queue.take(), queue.take()].map(|taken| taken.map(|it| it.cause));
        assert_eq!(causes, [Some(Cause::Isolated), Some(Cause::Disabled)]);
        assert_eq!(queue.take(), None);
        assert_eq!(queue.take_dropped(), 3);
        assert_eq!(queue.take_dropped(), 0);
    }

    #[test]
    fn transitions_made_at_once_are_each_kept_or_counted() {
        const EACH: u32 = 2_000;
        let queue = Queue::<8>::new();
        let breaker = breaker(&queue);
        let mut kept = 0;
        std::thread::scope(|scope| {
            let busy = [(); 2].map(|()| {
                scope.spawn(|| {
                    for _ in 0..EACH {
                        breaker.reset(); // tells of itself whatever the phase
                    }
                })
            });
            while busy.iter().any(|thread| !thread.is_finished()) {
                kept += u32::from(queue.take().is_some());
            }
        });
        while queue.take().is_some() {
            kept += 1;
        }
        assert_eq!(kept + queue.take_dropped(), 2 * EACH);
    }
}
