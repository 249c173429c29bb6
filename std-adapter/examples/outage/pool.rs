//! The worker pool: what the outage uses up.
//!
//! Every request needs one of a fixed number of workers and waits for it in a fair queue, as in a server with a pool
//! of threads. The pool keeps the figures about itself: how many are busy, the most there ever were, and
//! when it was full for the first time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

// All orderings here are relaxed: the counts are figures to show and guard nothing; the semaphore does the guarding.

pub(crate) struct Pool {
    size: usize,
    free: Arc<Semaphore>,
    busy: AtomicUsize,
    waiting: AtomicUsize,
    most_busy: AtomicUsize,
    full_at: Mutex<Option<Instant>>,
}

impl Pool {
    pub(crate) fn new(size: usize) -> Arc<Self> {
        Arc::new(Pool {
            size,
            free: Arc::new(Semaphore::new(size)),
            busy: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            most_busy: AtomicUsize::new(0),
            full_at: Mutex::new(None),
        })
    }

    /// Waits for a free worker. Dropped while waiting, it leaves the queue.
    pub(crate) async fn worker(self: &Arc<Self>) -> Worker {
        let place = Waiting::enter(self);
        let permit = Arc::clone(&self.free).acquire_owned().await;
        drop(place);
        let permit = permit.expect("the semaphore is never closed");
        let busy = self.busy.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_busy.fetch_max(busy, Ordering::Relaxed);
        if busy == self.size {
            self.full_at.lock().expect("never poisoned").get_or_insert_with(Instant::now);
        }
        Worker { pool: Arc::clone(self), _permit: permit }
    }

    pub(crate) fn busy(&self) -> usize {
        self.busy.load(Ordering::Relaxed)
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    pub(crate) fn most_busy(&self) -> usize {
        self.most_busy.load(Ordering::Relaxed)
    }

    /// Forget whether the pool was full so far: the outage begins now.
    pub(crate) fn watch_from_now(&self) {
        *self.full_at.lock().expect("never poisoned") = None;
    }

    /// When every worker was busy for the first time since `watch_from_now`.
    pub(crate) fn full_at(&self) -> Option<Instant> {
        *self.full_at.lock().expect("never poisoned")
    }
}

/// A worker at work; dropped, it is free for the next request.
pub(crate) struct Worker {
    pool: Arc<Pool>,
    // Released after the count went down (fields drop after `drop`), so the count never exceeds the size.
    _permit: OwnedSemaphorePermit,
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.pool.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A place in the queue, given back also by a caller who gives up.
struct Waiting<'a>(&'a Pool);

impl<'a> Waiting<'a> {
    fn enter(pool: &'a Pool) -> Self {
        pool.waiting.fetch_add(1, Ordering::Relaxed);
        Waiting(pool)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_full_pool_makes_the_next_request_wait_and_remembers_that_it_was_full() {
        let pool = Pool::new(2);
        let first = pool.worker().await;
        assert_eq!(pool.full_at(), None);
        let second = pool.worker().await;
        assert!(pool.full_at().is_some());

        let third = tokio::spawn({
            let pool = Arc::clone(&pool);
            async move { pool.worker().await }
        });
        tokio::task::yield_now().await;
        assert_eq!((pool.busy(), pool.waiting()), (2, 1));
        drop(first);
        let third = third.await.expect("the task ends");
        assert_eq!((pool.busy(), pool.waiting(), pool.most_busy()), (2, 0, 2));
        drop((second, third));
        assert_eq!(pool.busy(), 0);
    }
}
