//! The clock of shared breakers, chosen at run time.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use nanobreaker_core::Clock;

use crate::clock::{CoarseClock, TimerClock};

/// Which clock a breaker reads.
#[derive(Clone)]
pub(super) enum Source {
    Coarse,
    Timer,
    Own(Arc<dyn Clock + Send + Sync>),
}

impl Source {
    pub(super) fn new<C: Clock + Send + Sync + 'static>(clock: C) -> Self {
        let any: &dyn Any = &clock;
        if any.is::<CoarseClock>() {
            Self::Coarse
        } else if any.is::<TimerClock>() {
            Self::Timer
        } else {
            Self::Own(Arc::new(clock))
        }
    }

    const fn number(&self) -> u8 {
        match self {
            Self::Coarse => 0,
            Self::Timer => 1,
            Self::Own(_) => 2,
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Coarse => "CoarseClock",
            Self::Timer => "TimerClock",
            Self::Own(_) => "a clock of its own",
        })
    }
}

/// The clock of a [`SharedBreaker`](crate::SharedBreaker): [`CoarseClock`] unless its builder was given
/// another one.
///
/// [`CoarseClock`] and [`TimerClock`] cost what they cost by themselves; any other clock a lock that readers
/// share and a step of a counter more.
#[derive(Debug)]
pub struct SharedClock {
    number: AtomicU8,
    source: RwLock<Source>,
}

impl SharedClock {
    pub(super) fn new(source: Source) -> Self {
        Self { number: AtomicU8::new(source.number()), source: RwLock::new(source) }
    }

    /// Puts another clock in place. For a slot that nobody has.
    pub(super) fn replace(&self, source: Source) {
        // Relaxed: the handle to the slot is handed out afterwards. A call of the slot's last life may
        // still read either clock, but what it has to say is stale.
        self.number.store(source.number(), Ordering::Relaxed);
        *self.source.write().unwrap_or_else(PoisonError::into_inner) = source;
    }

    #[cold]
    fn read_own(&self) -> u64 {
        let source = self.source.read().unwrap_or_else(PoisonError::into_inner).clone();
        match source {
            Source::Coarse => CoarseClock.now_ms(),
            Source::Timer => TimerClock.now_ms(),
            // Outside of the lock: this is anyone's code.
            Source::Own(clock) => clock.now_ms(),
        }
    }
}

impl Clock for SharedClock {
    #[inline]
    fn now_ms(&self) -> u64 {
        match self.number.load(Ordering::Relaxed) {
            0 => CoarseClock.now_ms(),
            1 => TimerClock.now_ms(),
            _ => self.read_own(),
        }
    }
}
