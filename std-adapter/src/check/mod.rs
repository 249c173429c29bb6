//! Checks that ask in the background whether a dependency is well again, so that no user's call has to.
//!
//! A check begins when its breaker opens and ends with that: nothing runs while it is closed. While it fails,
//! hangs or panics, the open time is postponed. Once it succeeded often enough, the next call is the probe
//! ([`then_probe`](Check::then_probe)), or the check itself takes the round's permits and spends them as
//! successes ([`then_close`](Check::then_close)). A check that is not healthy for five times the longest open
//! time no longer keeps calls out: one call in each open time is a probe.
//!
//! All checks of a process share one thread, which sleeps while no breaker is open. So a check must not
//! block: it waits as async code does.

mod opening;
mod ready;
#[cfg(feature = "settings")]
mod settings;
mod thread;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use nanobreaker_core::ConfigError;
use nanobreaker_settings::{check_limits, millis};

pub(crate) use opening::Checked;
pub use ready::CheckError;

/// Whether the dependency is well; runs on the thread of checks only.
type Answer = Pin<Box<dyn Future<Output = bool>>>;
type Ask = Arc<dyn Fn() -> Answer + Send + Sync>;
type OnDisagreement = Arc<dyn Fn(&str) + Send + Sync>;

/// Asks a dependency that is thought to be broken whether it is well again.
///
/// ```
/// use nanobreaker::{Check, SharedBreaker};
/// use std::time::Duration;
/// # #[derive(Clone)] struct Pool;
/// # impl Pool { async fn ping(&self) -> Result<(), std::io::Error> { Ok(()) } }
/// # let pool = Pool;
///
/// let database = SharedBreaker::builder()
///     .name("database")
///     .checked_by(
///         Check::new(async move || pool.ping().await) // never through the breaker
///             .every(Duration::from_secs(1))
///             .timeout(Duration::from_secs(2))
///             .healthy_after(2)
///             .then_probe(),
///     )
///     .build()?;
/// # Ok::<(), nanobreaker::ConfigError>(())
/// ```
#[derive(Clone)]
#[must_use = "give it to checked_by() of a breaker's builder"]
pub struct Check {
    ask: Ask,
    every: Duration,
    timeout: Duration,
    healthy_after: u32,
    closes: bool,
    on_disagreement: Option<OnDisagreement>,
}

impl Check {
    /// Asks by this: `Ok` is well. It must not go through the breaker, which is open then.
    pub fn new<F, T, E>(ask: F) -> Self
    where
        F: AsyncFn() -> Result<T, E> + Send + Sync + 'static,
    {
        let ask = Arc::new(ask);
        let ask: Ask = Arc::new(move || {
            let ask = Arc::clone(&ask);
            Box::pin(async move { ask().await.is_ok() })
        });
        Self {
            ask,
            every: Duration::from_secs(1),
            timeout: Duration::from_secs(2),
            healthy_after: 2,
            closes: false,
            on_disagreement: None,
        }
    }

    /// From the end of one check to the beginning of the next: a second unless set.
    pub fn every(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// A check that takes longer has failed: two seconds unless set.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How many checks in a row must succeed: two unless set.
    pub fn healthy_after(mut self, checks: u32) -> Self {
        self.healthy_after = checks;
        self
    }

    /// Then the open time is over, and the next call is the probe. This is so unless set.
    pub fn then_probe(mut self) -> Self {
        self.closes = false;
        self
    }

    /// Then the breaker closes without a call, into its ramp: for breakers that traffic starves, such as a
    /// replica's that gets no traffic while it is not ready.
    pub fn then_close(mut self) -> Self {
        self.closes = true;
        self
    }

    /// Is told the breaker's name when a live probe succeeded though the check was not healthy for five times the
    /// longest open time: most likely it asks for the wrong thing.
    pub fn on_disagreement(mut self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.on_disagreement = Some(Arc::new(tell));
        self
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        check_limits(millis(self.every), millis(self.timeout), self.healthy_after)
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check")
            .field("every", &self.every)
            .field("timeout", &self.timeout)
            .field("healthy_after", &self.healthy_after)
            .field("then_close", &self.closes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
