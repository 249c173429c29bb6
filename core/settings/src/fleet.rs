//! What a file says about the fleet that a process is in.

use alloc::string::String;
use alloc::vec::Vec;

use crate::error::SettingsError;
use crate::keys::{nowhere, table};

table! {
    /// A fleet as a file describes it: the group, where it meets (one of `url`, `cluster`, `sentinels`), and
    /// how many must agree.
    ///
    /// ```toml
    /// [fleet]
    /// group = "checkout"
    /// url = "rediss://user:password@cache.internal"
    /// quorum = 2
    /// ```
    pub struct FleetSettings, "| key | default | meaning |", "| --- | ------- | ------- |" {
        group: String = "none", "who shares findings: one service in one region";
        url: String = "none", "the one server where they meet";
        cluster: Vec<String> = "none", "nodes of the cluster where they meet";
        sentinels: Vec<String> = "none", "Sentinels, whose `service` is where they meet";
        service: String = "none", "the name that the Sentinels know the server by";
        quorum: u32 = "2", "how many must have found out by their own calls before all are advised";
        quorum_percent: u32 = "none", "that many per cent of the living ones as well";
        count_requested_trips: bool = "false", "whether a trip that code asked for is evidence as well";
        allow_orders: bool = "false", "whether this process may give orders to all";
    }
    tables []
    renamed []
    elsewhere nowhere
}

/// Where a fleet meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// At one server.
    Server(&'a str),
    /// In a cluster, of which these nodes are known.
    Cluster(&'a [String]),
    /// At the server that these Sentinels name for this service.
    Sentinels(&'a [String], &'a str),
}

impl FleetSettings {
    /// The group's name.
    ///
    /// # Errors
    ///
    /// A [`SettingsError`] where it is missing.
    pub fn group(&self) -> Result<&str, SettingsError> {
        self.group.as_deref().ok_or_else(|| SettingsError::missing("fleet.group", "a fleet"))
    }

    /// Where they meet; `None` where nothing is written.
    ///
    /// # Errors
    ///
    /// A [`SettingsError`] where there is more than one place, or half of one.
    ///
    /// ```
    /// use nanobreaker_settings::{FleetSettings, Place};
    ///
    /// let fleet: FleetSettings = toml::from_str("group = 'checkout'\nurl = 'redis://cache'")?;
    /// assert_eq!(fleet.place(), Ok(Some(Place::Server("redis://cache"))));
    ///
    /// let fleet: FleetSettings = toml::from_str("group = 'checkout'\nservice = 'main'")?;
    /// let error = fleet.place().unwrap_err();
    /// assert_eq!(error.to_string(), "fleet.sentinels is missing: service needs it");
    /// # Ok::<(), toml::de::Error>(())
    /// ```
    pub fn place(&self) -> Result<Option<Place<'_>>, SettingsError> {
        let conflict = |key: &str, other| Err(SettingsError::conflict(key, other));
        match (&self.url, &self.cluster, &self.sentinels, &self.service) {
            (Some(_), Some(_), _, _) => conflict("fleet.url", "cluster"),
            (Some(_), _, Some(_), _) => conflict("fleet.url", "sentinels"),
            (_, Some(_), Some(_), _) => conflict("fleet.cluster", "sentinels"),
            (_, _, Some(_), None) => Err(SettingsError::missing("fleet.service", "sentinels")),
            (_, _, None, Some(_)) => Err(SettingsError::missing("fleet.sentinels", "service")),
            (Some(url), ..) => Ok(Some(Place::Server(url))),
            (_, Some(nodes), ..) => Ok(Some(Place::Cluster(nodes))),
            (_, _, Some(sentinels), Some(service)) => Ok(Some(Place::Sentinels(sentinels, service))),
            (None, None, None, None) => Ok(None),
        }
    }

    pub(crate) fn checked(self) -> Result<Self, SettingsError> {
        self.group()?;
        self.place()?;
        Ok(self)
    }
}
