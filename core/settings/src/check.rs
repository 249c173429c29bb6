//! What a file says about a check that asks in the background.

use alloc::string::String;
use core::time::Duration;

use crate::error::SettingsError;
use crate::keys::{nowhere, table};
use crate::then::Then;
use crate::{check_limits, millis};

table! {
    /// A check as a file describes it: what to ask (one of `http`, `grpc`, `tcp`), how often, and what follows.
    ///
    /// ```toml
    /// [breakers.database]
    /// check = { tcp = "db.internal:5432", every = "1s", then = "probe" }
    /// ```
    pub struct CheckSettings, "| key | default | meaning |", "| --- | ------- | ------- |" {
        http: String = "none", "well is who answers a GET of this URL with a status from 200 to 299";
        grpc: String = "none", "well is who says `SERVING` at this URL, by grpc.health.v1";
        service: String = "the server as a whole", "the service that `grpc` asks for";
        tcp: String = "none", "well is who accepts a connection at this `host:port`";
        every: Duration = "1s", "from the end of one check to the beginning of the next";
        timeout: Duration = "2s", "a check that takes longer has failed";
        healthy_after: u32 = "2", "how many checks in a row must succeed";
        then: Then = "`probe`", "what follows: the next call is the `probe`, or the breaker may `close` without one";
    }
    tables []
    renamed []
    elsewhere nowhere
}

/// Whom a check asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked<'a> {
    /// Whoever answers at this URL of HTTP.
    Http(&'a str),
    /// This service of the server at this URL, by grpc.health.v1; the empty name is the server as a whole.
    Grpc {
        /// The server's URL.
        url: &'a str,
        /// The service's name.
        service: &'a str,
    },
    /// Whoever listens at this `host:port`.
    Tcp(&'a str),
}

impl CheckSettings {
    /// These settings, and those of `base` where these say nothing. Who names another to ask than `base`
    /// takes over only how often, and what follows.
    #[must_use]
    pub fn or(self, mut base: Self) -> Self {
        if self.names_asked() {
            (base.http, base.grpc, base.service, base.tcp) = (None, None, None, None);
        }
        self.over(base)
    }

    /// Whether it says whom to ask.
    pub fn names_asked(&self) -> bool {
        self.http.is_some() || self.grpc.is_some() || self.tcp.is_some()
    }

    /// Whom to ask. Whether that is an address is for those to say who ask.
    ///
    /// # Errors
    ///
    /// A [`SettingsError`] where it names nobody or more than one, or where a number is outside its limits.
    ///
    /// ```
    /// use nanobreaker_settings::{Asked, CheckSettings};
    ///
    /// let check: CheckSettings = toml::from_str("tcp = 'db.internal:5432'\nevery = '500ms'")?;
    /// assert_eq!(check.asked(), Ok(Asked::Tcp("db.internal:5432")));
    ///
    /// let check: CheckSettings = toml::from_str("every = '500ms'")?;
    /// let error = check.asked().unwrap_err();
    /// assert_eq!(error.to_string(), "check.http, grpc or tcp is missing: a check needs it");
    /// # Ok::<(), toml::de::Error>(())
    /// ```
    pub fn asked(&self) -> Result<Asked<'_>, SettingsError> {
        self.limits()?;
        if self.service.is_some() && self.grpc.is_none() {
            return Err(SettingsError::missing("check.grpc", "service"));
        }
        match (self.http.as_deref(), self.grpc.as_deref(), self.tcp.as_deref()) {
            (Some(url), None, None) => Ok(Asked::Http(url)),
            (None, Some(url), None) => {
                Ok(Asked::Grpc { url, service: self.service.as_deref().unwrap_or_default() })
            }
            (None, None, Some(address)) => Ok(Asked::Tcp(address)),
            (Some(_), Some(_), _) => Err(SettingsError::conflict("check.http", "grpc")),
            (Some(_), None, Some(_)) => Err(SettingsError::conflict("check.http", "tcp")),
            (None, Some(_), Some(_)) => Err(SettingsError::conflict("check.grpc", "tcp")),
            (None, None, None) => Err(SettingsError::missing("check.http, grpc or tcp", "a check")),
        }
    }

    /// Whether the numbers are within their limits.
    pub(crate) fn limits(&self) -> Result<(), SettingsError> {
        let ms = |duration: Option<Duration>| duration.map_or(1, millis);
        let checked = check_limits(ms(self.every), ms(self.timeout), self.healthy_after.unwrap_or(1));
        checked.map_err(SettingsError::from)
    }
}
