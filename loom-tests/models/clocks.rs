//! The clocks of the models.
//!
//! [`Time`] is the same for all threads and only goes on. Where threads let it go on, it is one word of
//! loom's. A reading is a read-modify-write, which sees the newest value: no thread reads a time that is
//! earlier than what anybody has read before. It is relaxed, so it orders nothing else.
//!
//! [`OwnTime`] is for what a clock must not do, but may: each thread has its own reading.

use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

use loom::sync::atomic::AtomicU64 as Modelled;
use nanobreaker_core::Clock;

use crate::explore::actor;

/// The time of all threads.
#[derive(Debug)]
pub(crate) struct Time {
    /// Goes on before the threads begin and after they ended. Not modelled.
    still: AtomicU64,
    moves: AtomicBool,
    /// Goes on while they run.
    moving: Modelled,
}

/// A reading that is never made.
const NEVER: u64 = u64::MAX;

impl Time {
    /// Stands at 0.
    pub(crate) fn still() -> Self {
        Self { still: AtomicU64::new(0), moves: AtomicBool::new(false), moving: Modelled::new(0) }
    }

    /// Moves on from where it stands.
    pub(crate) fn start(&self) {
        let now = self.now_ms();
        self.moves.store(true, Relaxed);
        self.go_on_to(now);
    }

    /// It is `ms` now, unless it is later already.
    pub(crate) fn go_on_to(&self, ms: u64) {
        if !self.moves.load(Relaxed) {
            assert_eq!(actor(), usize::MAX, "this model's time stands still");
            self.still.store(ms, Relaxed);
            return;
        }
        let mut seen = self.moving.fetch_add(0, Relaxed);
        while seen < ms {
            match self.moving.compare_exchange(seen, ms, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(later) => seen = later,
            }
        }
    }

    /// From here on it must not be read.
    #[cfg(not(nanobreaker_first_read_writes))]
    pub(crate) fn forbid(&self) {
        self.go_on_to(NEVER);
    }
}

impl Clock for Time {
    fn now_ms(&self) -> u64 {
        let now = if self.moves.load(Relaxed) {
            self.moving.fetch_add(0, Relaxed)
        } else {
            self.still.load(Relaxed)
        };
        assert_ne!(now, NEVER, "the clock was read");
        now
    }
}

loom::thread_local! {
    static OWN: Cell<u64> = Cell::new(0);
}

/// Each thread's own time.
#[derive(Debug)]
pub(crate) struct OwnTime;

/// From here on this thread reads `ms`.
pub(crate) fn reads(ms: u64) {
    OWN.with(|own| own.set(ms));
}

impl Clock for OwnTime {
    fn now_ms(&self) -> u64 {
        OWN.with(Cell::get)
    }
}
