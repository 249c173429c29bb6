//! A breaker behind a handle that is cheap to clone, with what a server usually wants.

mod builder;
mod clock;
mod group;
mod handles;
mod listeners;
mod percentile;
mod slot;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use nanobreaker_core::{ConfigError, Settings};

pub use builder::SharedBreakerBuilder;
pub use clock::SharedClock;
pub use group::Group;
pub use handles::{BreakerRef, PinnedBreaker};
pub use listeners::Listeners;
#[cfg(any(feature = "monitor", feature = "state-file"))]
pub(crate) use slot::Life;
pub use slot::SharedWindow;
use slot::{Guarded, Slot};

/// A breaker that can be cloned and handed around: all clones are the same breaker.
///
/// It dereferences to its [`Breaker`](crate::Breaker), and makes calls through
/// [`CallExt`](crate::CallExt). It takes about two kilobytes, since its window can be of any kind; for
/// hundreds of thousands of breakers, or for one in a `static`, build a [`Breaker`](crate::Breaker) with the
/// very window you need.
///
/// Its clones are counted: the last one ends the breaker, whose memory is used for the next. Calls count
/// nothing. Where clones are made at each call, threads share that counter: there use [`pin`](Self::pin).
#[derive(Clone)]
pub struct SharedBreaker {
    /// That of `life`, one load nearer.
    slot: &'static Slot,
    life: Arc<slot::Life>,
}

impl SharedBreaker {
    /// A builder that starts with the defaults: evidence that half of the calls fail, where 2 % are normal,
    /// opens it for 500 ms, up to 5 s if it trips again; three probes close it.
    pub fn builder() -> SharedBreakerBuilder {
        SharedBreakerBuilder::new()
    }

    fn new(life: slot::Life) -> Self {
        Self { slot: life.slot, life: Arc::new(life) }
    }

    /// Another handle to the breaker of this life.
    #[cfg(feature = "state-file")]
    pub(crate) fn of(life: Arc<slot::Life>) -> Self {
        Self { slot: life.slot, life }
    }

    /// Its name; empty unless the builder was given one.
    pub fn name(&self) -> &str {
        &self.life.name
    }

    /// How many handles there are.
    #[cfg(feature = "registry")]
    pub(crate) fn handles(&self) -> usize {
        Arc::strong_count(&self.life)
    }

    #[cfg(any(feature = "monitor", feature = "state-file"))]
    pub(crate) fn life(&self) -> &Arc<Life> {
        &self.life
    }

    #[cfg(feature = "monitor")]
    pub(crate) fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.life.name)
    }

    /// The settings that are in force.
    pub fn settings(&self) -> Settings {
        self.life.settings()
    }

    /// Puts the settings of `builder` in place while calls go on, all at once; its clock, its name,
    /// its listeners and its classifiers are not taken over. Phase, streak and the time left stay, the window starts empty,
    /// and outcomes of calls under way are stale: see [`Breaker::adjust`](crate::Breaker::adjust). Settings that are in place
    /// already change nothing. Of two threads that adjust at once one comes after the other.
    ///
    /// ```
    /// # use nanobreaker::{Phase, SharedBreaker};
    /// # use std::time::Duration;
    /// let breaker = SharedBreaker::builder().failures(5, Duration::from_secs(10)).build()?;
    /// breaker.adjust(&SharedBreaker::builder().failures(2, Duration::from_secs(10)))?;
    /// for _ in 0..2 {
    ///     breaker.allow()?.failure();
    /// }
    /// assert_eq!(breaker.phase(), Phase::Open);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first setting outside its limits; nothing has changed then.
    pub fn adjust(&self, builder: &SharedBreakerBuilder) -> Result<(), ConfigError> {
        self.life.adjust(builder.checked()?)
    }
}

impl Deref for SharedBreaker {
    type Target = Guarded;

    #[inline]
    fn deref(&self) -> &Guarded {
        &self.slot.breaker
    }
}

impl fmt::Debug for SharedBreaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedBreaker")
            .field("name", &self.name())
            .field("snapshot", &self.snapshot())
            .finish()
    }
}

#[cfg(all(test, feature = "monitor", feature = "tokio"))]
mod tests;
