//! A catalogue that can be read again while breakers use it.

use std::sync::{Arc, PoisonError, RwLock};
#[cfg(feature = "tokio")]
use std::time::Duration;

#[cfg(feature = "fleet")]
use nanobreaker_settings::FleetSettings;
use nanobreaker_settings::{Catalog, PartialSettings};

use super::layers::{Layers, LoadError, Reading};
#[cfg(feature = "fleet")]
use crate::fleet::Fleet;
use crate::shared::{SharedBreaker, SharedBreakerBuilder};

/// A [`Catalog`] with the [`Layers`] that it was read from, to be read again; cheap to clone, all
/// clones are the same.
///
/// It is asked when a breaker is made or adjusted, never by a call. Whatever is wrong with a file when it is read
/// again (empty, half written, gone, unreadable, a setting that can't be), the last good settings stay.
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
    current: Arc<RwLock<Reading>>,
    #[cfg(feature = "fleet")]
    fleet: Option<Fleet>,
}

impl LiveCatalog {
    /// Reads the layers for the first time.
    ///
    /// # Errors
    ///
    /// As [`Layers::load`]; also where there is a table `[fleet]`, which takes
    /// `load_in_fleet` (feature `fleet`).
    pub fn load(layers: Layers) -> Result<Self, LoadError> {
        let current = layers.read(None)?;
        if current.catalog.fleet().is_some() {
            let message =
                "fleet is set, but nobody starts it: load the catalogue by LiveCatalog::load_in_fleet";
            return Err(LoadError::new(message.to_owned()));
        }
        Ok(Self {
            layers: Arc::new(layers),
            current: Arc::new(RwLock::new(current)),
            #[cfg(feature = "fleet")]
            fleet: None,
        })
    }

    /// The same, and has `start` start the fleet of the table `[fleet]`, if there is one: `start` of the crate
    /// nanobreaker-fleet does.
    ///
    /// ```
    /// use nanobreaker::catalog::{Format, Layers, LiveCatalog};
    /// use nanobreaker::fleet::{Exchange, Fleet};
    ///
    /// // The crate nanobreaker-fleet has exchanges, and `start`, which makes one of the whole table.
    /// fn load(exchange: impl Exchange) -> Result<(), Box<dyn std::error::Error>> {
    ///     let layers = Layers::new().text(Format::Toml, r#"
    ///         [fleet]
    ///         group = "checkout"
    ///         [breakers.search]
    ///         fleet = false            # all others are in it
    ///     "#);
    ///     let catalog = LiveCatalog::load_in_fleet(layers, |settings| {
    ///         Fleet::builder(settings.group.clone().unwrap_or_default()).exchange(exchange).start()
    ///     })?;
    ///     let payments = catalog.builder("payments").build()?;
    /// #   drop(payments);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Layers::load`], and what `start` says.
    #[cfg(feature = "fleet")]
    pub fn load_in_fleet<E: std::fmt::Display>(
        layers: Layers,
        start: impl FnOnce(&FleetSettings) -> Result<Fleet, E>,
    ) -> Result<Self, LoadError> {
        let current = layers.read(None)?;
        let fleet = current.catalog.fleet().map(start).transpose();
        let fleet = fleet.map_err(|error| LoadError::new(format!("fleet: {error}")))?;
        Ok(Self { layers: Arc::new(layers), current: Arc::new(RwLock::new(current)), fleet })
    }

    /// The fleet that was started with it.
    #[cfg(feature = "fleet")]
    pub fn fleet(&self) -> Option<&Fleet> {
        self.fleet.as_ref()
    }

    fn current(&self) -> Reading {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The catalogue as it stands.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.current().catalog
    }

    /// The settings of the breaker called `name`.
    pub fn settings(&self, name: &str) -> PartialSettings {
        self.catalog().settings(name)
    }

    /// A builder for the breaker called `name`, with its name, its settings, its check and its fleet.
    pub fn builder(&self, name: &str) -> SharedBreakerBuilder {
        let current = self.current();
        let catalog = &current.catalog;
        let named = || SharedBreaker::builder().name(name);
        // Never the second: settings are checked as they enter a catalogue.
        let builder = named().settings(&catalog.settings(name)).unwrap_or_else(|_| named());
        #[cfg(feature = "check")]
        let builder = match current.checks.check(catalog, name) {
            Some(check) => builder.checked_by(check),
            None => builder,
        };
        #[cfg(feature = "fleet")]
        let builder = match &self.fleet {
            Some(fleet) if catalog.is_in_fleet(name) => builder.fleet(fleet),
            _ => builder,
        };
        builder
    }

    /// Reads the layers again. Returns whether anything changed; breakers then have to be told, by
    /// `Registry::adjust_all` or
    /// [`SharedBreaker::adjust`]. A breaker that is there keeps the check that it was built with.
    ///
    /// # Errors
    ///
    /// As [`Layers::load`], and where the table `[fleet]` is another than the one that was started; the
    /// catalogue stays as it was.
    pub fn reload(&self) -> Result<bool, LoadError> {
        self.read().map(|reading| self.take(reading))
    }

    fn read(&self) -> Result<Reading, LoadError> {
        let before = self.current();
        let reading = self.layers.read(Some(&before))?;
        if reading.catalog.fleet() != before.catalog.fleet() {
            return Err(LoadError::new("fleet was changed: that takes a restart".to_owned()));
        }
        Ok(reading)
    }

    fn take(&self, reading: Reading) -> bool {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let changed = current.catalog != reading.catalog;
        *current = reading;
        changed
    }

    /// Reads the layers again and again, `every` so often, and tells `when_changed` of each change
    /// and of each error; never returns. An error that stands is told once.
    ///
    /// What two readings in a row find counts, so that a file that is being written is not taken for what
    /// is there of it.
    ///
    /// Files are read on tokio's blocking pool. **Dropping** the future ends it; nothing changes after that.
    #[cfg(feature = "tokio")]
    pub async fn follow(&self, every: Duration, mut when_changed: impl FnMut(Result<(), LoadError>)) {
        let (mut before, mut told) = (None, None);
        loop {
            tokio::time::sleep(every).await;
            let catalog = self.clone();
            let Ok(read) = tokio::task::spawn_blocking(move || catalog.read()).await else {
                continue;
            };
            if before.as_ref() != Some(&read) {
                before = Some(read);
                continue;
            }
            match read {
                Ok(reading) => {
                    told = None;
                    if self.take(reading) {
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
