//! A breaker behind a handle that is cheap to clone, with what a server usually wants.

mod builder;
mod clock;
mod group;
mod handles;
mod judging;
mod listeners;
mod opening;
#[cfg(any(feature = "registry", feature = "state-file"))]
mod own;
mod owner;
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
use owner::Owner;
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
/// nothing. Each thread that makes clones of its own clones has a counter for them. A clone that is made on another
/// thread than its source takes an allocation, and a step of a counter that all threads share. Where that is done
/// at each call use [`pin`](Self::pin).
#[derive(Clone)]
pub struct SharedBreaker {
    /// That of the breaker's life, two loads nearer.
    slot: &'static Slot,
    owner: Owner,
}

impl SharedBreaker {
    /// A builder that starts with the defaults: evidence that half of the calls fail, where 2 % are normal,
    /// opens it for 500 ms, up to 5 s if it trips again; three probes close it.
    pub fn builder() -> SharedBreakerBuilder {
        SharedBreakerBuilder::new()
    }

    fn new(life: Life) -> Self {
        Self::of(Arc::new(life))
    }

    /// Another handle to the breaker of this life.
    pub(crate) fn of(life: Arc<Life>) -> Self {
        Self { slot: life.slot, owner: Owner::new(life) }
    }

    /// Its name; empty unless the builder was given one.
    pub fn name(&self) -> &str {
        &self.life().name
    }

    /// Whether this is the only handle.
    #[cfg(feature = "registry")]
    pub(crate) fn is_alone(&self) -> bool {
        self.owner.is_alone()
    }

    pub(crate) fn life(&self) -> &Arc<Life> {
        self.owner.life()
    }

    #[cfg(feature = "monitor")]
    pub(crate) fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.life().name)
    }

    /// The settings that are in force.
    pub fn settings(&self) -> Settings {
        self.life().settings()
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
        self.life().adjust(builder.checked()?)
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
