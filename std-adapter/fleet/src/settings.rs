//! What a file can say about a fleet.

use nanobreaker::fleet::{Fleet, FleetError};
use serde::Deserialize;
use thiserror::Error;

use crate::{ExchangeError, Redis};

/// A fleet as a file describes it: the group, where it meets (one of `url`, `cluster`, `sentinels`), and how
/// many must agree.
///
/// ```toml
/// [fleet]
/// group = "checkout"
/// url = "rediss://user:password@cache.internal"
/// quorum = 2
/// ```
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
/// let fleet = settings.start()?;
/// # drop(fleet);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FleetSettings {
    /// See [`Fleet::builder`].
    pub group: String,
    /// See [`Redis::connect`].
    pub url: Option<String>,
    /// See [`Redis::connect_cluster`].
    #[serde(default)]
    pub cluster: Vec<String>,
    /// See [`Redis::connect_sentinels`].
    #[serde(default)]
    pub sentinels: Vec<String>,
    /// The name that the Sentinels know the server by.
    pub service: Option<String>,
    /// See [`FleetBuilder::quorum`](crate::FleetBuilder::quorum).
    pub quorum: Option<u32>,
    /// See [`FleetBuilder::quorum_percent`](crate::FleetBuilder::quorum_percent).
    pub quorum_percent: Option<u32>,
    /// See [`FleetBuilder::count_requested_trips`](crate::FleetBuilder::count_requested_trips).
    #[serde(default)]
    pub count_requested_trips: bool,
    /// See [`FleetBuilder::allow_orders`](crate::FleetBuilder::allow_orders).
    #[serde(default)]
    pub allow_orders: bool,
}

/// Settings from which no fleet can be started.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FleetSettingsError {
    /// No place to meet, or more than one.
    #[error("a fleet needs one of url, cluster and sentinels")]
    Place,
    /// Sentinels and the name of what they watch belong together.
    #[error("sentinels and service belong together: set both or none")]
    Service,
    /// An address that is none.
    #[error(transparent)]
    Address(#[from] ExchangeError),
    /// A setting outside its limits.
    #[error(transparent)]
    Fleet(#[from] FleetError),
}

impl FleetSettings {
    /// Starts the fleet.
    ///
    /// # Errors
    ///
    /// A [`FleetSettingsError`] that names what can't be.
    pub fn start(&self) -> Result<Fleet, FleetSettingsError> {
        let redis = self.redis()?;
        let mut builder = Fleet::builder(&self.group);
        if let Some(quorum) = self.quorum {
            builder = builder.quorum(quorum);
        }
        if let Some(percent) = self.quorum_percent {
            builder = builder.quorum_percent(percent);
        }
        if self.count_requested_trips {
            builder = builder.count_requested_trips();
        }
        if self.allow_orders {
            builder = builder.allow_orders();
        }
        Ok(builder.exchange(redis).start()?)
    }

    fn redis(&self) -> Result<Redis, FleetSettingsError> {
        if self.sentinels.is_empty() != self.service.is_none() {
            return Err(FleetSettingsError::Service);
        }
        match (&self.url, &self.cluster[..], &self.sentinels[..]) {
            (Some(url), [], []) => Ok(Redis::connect(url)?),
            (None, [_, ..], []) => Ok(Redis::connect_cluster(&texts(&self.cluster))?),
            (None, [], [_, ..]) => {
                let service = self.service.as_deref().unwrap_or_default();
                Ok(Redis::connect_sentinels(&texts(&self.sentinels), service)?)
            }
            _ => Err(FleetSettingsError::Place),
        }
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
        let refused = |text: &str| read(text).start().unwrap_err().to_string();
        let url = "url = \"redis://cache\"\n";
        assert!(refused("group = \"shop\"").contains("one of url, cluster and sentinels"));
        assert!(refused(&format!("group = \"shop\"\n{url}cluster = [\"redis://a\"]")).contains("one of"));
        assert!(refused("group = \"shop\"\nsentinels = [\"redis://a\"]").contains("service"));
        assert!(refused(&format!("group = \"shop\"\n{url}service = \"main\"")).contains("service"));
        assert!(refused("group = \"shop\"\nurl = \"cache\"").contains("the fleet's store"));
        assert!(refused(&format!("group = \"\"\n{url}")).starts_with("group is \"\""));
        assert!(refused(&format!("group = \"shop\"\n{url}quorum = 0")).starts_with("quorum is 0"));
        let error = toml::from_str::<FleetSettings>("group = \"shop\"\nqourum = 2").unwrap_err();
        assert!(error.to_string().contains("qourum"), "{error}");
    }

    #[tokio::test]
    async fn a_fleet_starts_from_a_file_without_waiting_for_its_store() {
        let text = "group = \"shop\"\nurl = \"redis://127.0.0.1:1\"\nquorum = 3\nallow_orders = true";
        let fleet = read(text).start().unwrap();
        assert!(fleet.may_order());
        assert_eq!(&*fleet.status().group, "shop");
    }
}
