//! A breaker behind a handle that is cheap to clone, with what a server usually wants.

mod builder;
mod limit;
mod listeners;
mod rule;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use nanobreaker_core::{Breaker, Clock, ConfigError};

use crate::call::{CallExt, Caller};
use crate::clock::CoarseClock;
use limit::Limit;

pub use builder::SharedBreakerBuilder;
#[cfg(any(feature = "registry", feature = "settings"))]
pub(crate) use limit::millis;
pub use listeners::Listeners;
#[cfg(feature = "settings")]
pub(crate) use rule::Rule;
pub use rule::SharedWindow;

/// A breaker that can be cloned and handed around: all clones are the same breaker.
///
/// It dereferences to its [`Breaker`], and makes calls through [`CallExt`]. It takes about a kilobyte,
/// since its window can be of any kind; for hundreds of thousands of breakers, or for one in a
/// `static`, build a [`Breaker`] with the very window you need.
pub struct SharedBreaker<C: Clock = CoarseClock> {
    shared: Arc<Shared<C>>,
}

pub(crate) struct Shared<C> {
    name: Arc<str>,
    breaker: Breaker<SharedWindow, C, Listeners>,
    slow_after: Limit,
    #[cfg(feature = "tokio")]
    hung_after: Limit,
}

#[cfg(feature = "monitor")]
impl<C> Shared<C> {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn breaker(&self) -> &Breaker<SharedWindow, C, Listeners> {
        &self.breaker
    }
}

#[cfg(feature = "monitor")]
impl<C: Clock> SharedBreaker<C> {
    pub(crate) fn shared(&self) -> Arc<Shared<C>> {
        Arc::clone(&self.shared)
    }

    pub(crate) fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.shared.name)
    }
}

impl SharedBreaker {
    /// A builder that starts with the defaults: 5 failures within 10 s trip, for 10 s.
    pub fn builder() -> SharedBreakerBuilder {
        SharedBreakerBuilder::new()
    }
}

impl<C: Clock> SharedBreaker<C> {
    /// Its name; empty unless the builder was given one.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// How many handles there are.
    #[cfg(feature = "registry")]
    pub(crate) fn handles(&self) -> usize {
        Arc::strong_count(&self.shared)
    }

    /// Puts the settings of `builder` in place while calls go on; its clock, its name and its
    /// listeners are not taken over. Phase, generation, streak, probes in flight, permits and the
    /// calls in the window stay: see [`Breaker::adjust`].
    ///
    /// Returns whether it did: not where another thread is adjusting this breaker right now.
    ///
    /// ```
    /// # use nanobreaker::{Phase, SharedBreaker};
    /// # use std::time::Duration;
    /// let breaker = SharedBreaker::builder().failures(5, Duration::from_secs(10)).build()?;
    /// for _ in 0..3 {
    ///     breaker.allow()?.failure();
    /// }
    /// breaker.adjust(&SharedBreaker::builder().failures(4, Duration::from_secs(10)))?;
    /// breaker.allow()?.failure();
    /// assert_eq!(breaker.snapshot().phase, Phase::Open);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first setting outside its limits; nothing has changed then.
    pub fn adjust<D: Clock>(&self, builder: &SharedBreakerBuilder<D>) -> Result<bool, ConfigError> {
        let (rules, config) = builder.checked()?;
        let adjusted = self.shared.breaker.adjust(&rules, config);
        if adjusted {
            self.shared.slow_after.set(builder.slow_after);
            #[cfg(feature = "tokio")]
            self.shared.hung_after.set(builder.hung_after);
        }
        Ok(adjusted)
    }
}

impl<C: Clock> Clone for SharedBreaker<C> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<C: Clock> Deref for SharedBreaker<C> {
    type Target = Breaker<SharedWindow, C, Listeners>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.shared.breaker
    }
}

impl<C: Clock> fmt::Debug for SharedBreaker<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedBreaker")
            .field("name", &self.name())
            .field("snapshot", &self.snapshot())
            .finish()
    }
}

impl<C: Clock> CallExt for SharedBreaker<C> {
    type Window = SharedWindow;
    type Clock = C;
    type Observer = Listeners;

    #[inline]
    fn calls(&self) -> Caller<'_, SharedWindow, C, Listeners> {
        let caller = Caller::new(&self.shared.breaker);
        let caller = match self.shared.slow_after.get() {
            Some(limit) => caller.slow_after(limit),
            None => caller,
        };
        #[cfg(feature = "tokio")]
        if let Some(limit) = self.shared.hung_after.get() {
            return caller.hung_after(limit);
        }
        caller
    }
}
