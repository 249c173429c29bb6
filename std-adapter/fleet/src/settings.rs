//! The fleet that a file describes.

use nanobreaker::fleet::{Fleet, FleetError};
use nanobreaker::{FleetSettings, SettingsError};
use nanobreaker_settings::Place;
use thiserror::Error;

use crate::{ExchangeError, Redis};

/// Settings from which no fleet can be started.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// No place to meet.
    #[error("fleet.url, cluster or sentinels is missing: they have to meet somewhere")]
    Place,
    /// Settings that can't be, or not together.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// An address that is none.
    #[error(transparent)]
    Address(#[from] ExchangeError),
    /// A setting outside its limits.
    #[error(transparent)]
    Fleet(#[from] FleetError),
}

/// Starts the fleet that a file describes.
///
/// # Errors
///
/// A [`StartError`] that names what can't be.
///
/// ```
/// use nanobreaker_fleet::FleetSettings;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let settings: FleetSettings = toml::from_str(r#"
///     group = "checkout"
///     sentinels = ["redis://one.internal:26379", "redis://two.internal:26379"]
///     service = "main"
///     quorum_percent = 5
/// "#)?;
/// let fleet = nanobreaker_fleet::start(&settings)?;
/// # drop(fleet);
/// # Ok(())
/// # }
/// ```
///
/// In a catalogue of breakers it is the table `[fleet]`:
///
/// ```
/// use nanobreaker_fleet::nanobreaker::catalog::{Format, Layers, LiveCatalog};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let layers = Layers::new().text(Format::Toml, r#"
///     [fleet]
///     group = "checkout"
///     url = "rediss://cache.internal"
/// "#);
/// let catalog = LiveCatalog::load_in_fleet(layers, nanobreaker_fleet::start)?;
/// let payments = catalog.builder("payments").build()?;
/// # drop(payments);
/// # Ok(())
/// # }
/// ```
pub fn start(settings: &FleetSettings) -> Result<Fleet, StartError> {
    let redis = redis(settings)?;
    let mut builder = Fleet::builder(settings.group()?);
    if let Some(quorum) = settings.quorum {
        builder = builder.quorum(quorum);
    }
    if let Some(percent) = settings.quorum_percent {
        builder = builder.quorum_percent(percent);
    }
    if settings.count_requested_trips == Some(true) {
        builder = builder.count_requested_trips();
    }
    if settings.allow_orders == Some(true) {
        builder = builder.allow_orders();
    }
    Ok(builder.exchange(redis).start()?)
}

fn redis(settings: &FleetSettings) -> Result<Redis, StartError> {
    match settings.place()? {
        Some(Place::Server(url)) => Ok(Redis::connect(url)?),
        Some(Place::Cluster(nodes)) => Ok(Redis::connect_cluster(&texts(nodes))?),
        Some(Place::Sentinels(urls, service)) => Ok(Redis::connect_sentinels(&texts(urls), service)?),
        None => Err(StartError::Place),
    }
}

fn texts(urls: &[String]) -> Vec<&str> {
    urls.iter().map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> FleetSettings {
        toml::from_str(text).unwrap()
    }

    #[tokio::test]
    async fn what_cannot_be_is_refused_by_name() {
        let refused = |text: &str| start(&read(text)).unwrap_err().to_string();
        let url = "url = 'redis://cache'\n";
        assert!(refused("group = 'shop'").starts_with("fleet.url, cluster or sentinels is missing"));
        assert!(refused("url = 'redis://cache'").starts_with("fleet.group is missing"));
        let both = refused(&format!("group = 'shop'\n{url}cluster = ['redis://a']"));
        assert_eq!(both, "fleet.url can't stand beside cluster: keep one");
        assert!(refused("group = 'shop'\nsentinels = ['redis://a']").starts_with("fleet.service is missing"));
        assert!(refused(&format!("group = 'shop'\n{url}service = 'main'")).starts_with("fleet.sentinels is"));
        assert!(refused("group = 'shop'\nurl = 'cache'").contains("the fleet's store"));
        assert!(refused("group = 'shop'\ncluster = []").contains("name at least one"));
        assert!(refused(&format!("group = ''\n{url}")).starts_with("group is \"\""));
        assert!(refused(&format!("group = 'shop'\n{url}quorum = 0")).starts_with("quorum is 0"));
        let percent = refused(&format!("group = 'shop'\n{url}quorum_percent = 101"));
        assert_eq!(percent, "quorum_percent is 101, but must be from 1 to 100");
    }

    #[tokio::test]
    async fn a_fleet_starts_from_a_file_without_waiting_for_its_store() {
        let text = "group = 'shop'\nurl = 'redis://127.0.0.1:1'\nquorum = 3\nallow_orders = true";
        let fleet = start(&read(text)).unwrap();
        assert!(fleet.may_order());
        assert_eq!(&*fleet.status().group, "shop");
    }
}
