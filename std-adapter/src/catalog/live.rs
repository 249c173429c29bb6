//! A catalogue that can be read again while breakers use it.

use std::sync::{Arc, PoisonError, RwLock};
#[cfg(feature = "tokio")]
use std::time::Duration;

use nanobreaker_settings::{Catalog, PartialSettings};

use crate::catalog::{Layers, LoadError};
use crate::shared::{SharedBreaker, SharedBreakerBuilder};

/// A [`Catalog`] with the [`Layers`] that it was read from, to be read again; cheap to clone, all
/// clones are the same.
///
/// It is asked when a breaker is made or adjusted, never by a call.
///
/// ```
/// use nanobreaker::Registry;
/// use nanobreaker::catalog::{Layers, LiveCatalog};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = std::env::temp_dir().join(format!("live-{}.toml", std::process::id()));
/// # std::fs::write(&path, "[defaults]\nmax_probes = 1")?;
///
/// let catalog = LiveCatalog::load(Layers::new().file(&path))?;
/// let settings = catalog.clone();
/// let breakers = Registry::<String>::builder(move |name: &String| settings.builder(name)).build();
/// let payments = breakers.get_or_create("payments")?;
///
/// std::fs::write(&path, "[defaults]\nmax_probes = 3")?;
/// if catalog.reload()? {
///     breakers.adjust_all().expect("a catalogue is checked when it is read");
/// }
/// assert_eq!(payments.config().max_probes(), 3);
/// # std::fs::remove_file(path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct LiveCatalog {
    layers: Arc<Layers>,
    current: Arc<RwLock<Arc<Catalog>>>,
}

impl LiveCatalog {
    /// Reads the layers for the first time.
    ///
    /// # Errors
    ///
    /// As [`Layers::load`].
    pub fn load(layers: Layers) -> Result<Self, LoadError> {
        let current = Arc::new(layers.load()?);
        Ok(Self { layers: Arc::new(layers), current: Arc::new(RwLock::new(current)) })
    }

    /// The catalogue as it stands.
    pub fn catalog(&self) -> Arc<Catalog> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }

    /// The settings of the breaker called `name`.
    pub fn settings(&self, name: &str) -> PartialSettings {
        self.catalog().settings(name)
    }

    /// A builder for the breaker called `name`, with its name and its settings.
    pub fn builder(&self, name: &str) -> SharedBreakerBuilder {
        let builder = || SharedBreaker::builder().name(name);
        // Never the second: settings are checked as they enter a catalogue.
        builder().settings(&self.settings(name)).unwrap_or_else(|_| builder())
    }

    /// Reads the layers again. Returns whether anything changed; breakers then have to be told, by
    /// `Registry::adjust_all` or
    /// [`SharedBreaker::adjust`].
    ///
    /// # Errors
    ///
    /// As [`Layers::load`]; the catalogue stays as it was.
    pub fn reload(&self) -> Result<bool, LoadError> {
        let fresh = Arc::new(self.layers.load()?);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let changed = **current != *fresh;
        if changed {
            *current = fresh;
        }
        Ok(changed)
    }

    /// Reads the layers again and again, `every` so often, and tells `when_changed` of each change
    /// and of each error; never returns. An error that stands is told once.
    ///
    /// Files are read on tokio's blocking pool. **Dropping** the future ends it; a reading under way
    /// is finished and may change the catalogue, but nobody is told.
    #[cfg(feature = "tokio")]
    pub async fn follow(&self, every: Duration, mut when_changed: impl FnMut(Result<(), LoadError>)) {
        let mut told = None;
        loop {
            tokio::time::sleep(every).await;
            let catalog = self.clone();
            let Ok(reloaded) = tokio::task::spawn_blocking(move || catalog.reload()).await else {
                continue;
            };
            match reloaded {
                Ok(changed) => {
                    told = None;
                    if changed {
                        when_changed(Ok(()));
                    }
                }
                Err(error) if told.as_ref() == Some(&error) => {}
                Err(error) => {
                    told = Some(error.clone());
                    when_changed(Err(error));
                }
            }
        }
    }
}
