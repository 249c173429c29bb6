//! What a file can say about a check.

use std::fmt;
use std::time::Duration;

use jiff::SignedDuration;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

use super::{Check, CheckError};

/// A check as a file describes it: what to ask (one of `http`, `grpc`, `tcp`), how often, and what follows.
///
/// ```toml
/// [checks.database]
/// tcp = "db.internal:5432"
/// every = "1s"
/// timeout = "2s"
/// healthy_after = 2
/// then = "probe"            # or "close"
/// ```
///
/// ```
/// use nanobreaker::{CheckSettings, SharedBreaker};
///
/// let settings: CheckSettings = toml::from_str(r#"
///     tcp = "db.internal:5432"
///     every = "500ms"
///     then = "close"
/// "#)?;
/// let database = SharedBreaker::builder().checked_by(settings.check()?).build()?;
/// # drop(database);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct CheckSettings {
    /// See [`Check::http`].
    pub http: Option<String>,
    /// See [`Check::grpc`].
    pub grpc: Option<String>,
    /// The service that `grpc` asks for; the server as a whole unless set.
    pub service: Option<String>,
    /// See [`Check::tcp`].
    pub tcp: Option<String>,
    /// See [`Check::every`]; such as "1s".
    #[serde(deserialize_with = "in_words")]
    pub every: Option<Duration>,
    /// See [`Check::timeout`]; such as "2s".
    #[serde(deserialize_with = "in_words")]
    pub timeout: Option<Duration>,
    /// See [`Check::healthy_after`].
    pub healthy_after: Option<u32>,
    /// What follows once it is healthy.
    pub then: Then,
}

/// What follows once a check succeeded often enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// See [`Check::then_probe`].
    #[default]
    Probe,
    /// See [`Check::then_close`].
    Close,
}

fn in_words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let refused = |why: &dyn fmt::Display| {
        D::Error::custom(format_args!("{text:?} is no duration, such as \"1s\" or \"500ms\": {why}"))
    };
    let duration: SignedDuration = text.parse().map_err(|error| refused(&error))?;
    Duration::try_from(duration).map(Some).map_err(|_| refused(&"it is negative"))
}

impl CheckSettings {
    /// The check that this describes.
    ///
    /// # Errors
    ///
    /// A [`CheckError`] where it does not say what to ask, or says more than one thing.
    pub fn check(&self) -> Result<Check, CheckError> {
        let check = match (&self.http, &self.grpc, &self.tcp) {
            (None, None, Some(address)) => Check::tcp(address.as_str())?,
            (Some(url), None, None) => http(url)?,
            (None, Some(url), None) => grpc(url, self.service.as_deref().unwrap_or_default())?,
            _ => return Err(CheckError::Kind),
        };
        if self.service.is_some() && self.grpc.is_none() {
            return Err(CheckError::Service);
        }
        let mut check = match self.then {
            Then::Probe => check.then_probe(),
            Then::Close => check.then_close(),
        };
        if let Some(every) = self.every {
            check = check.every(every);
        }
        if let Some(timeout) = self.timeout {
            check = check.timeout(timeout);
        }
        if let Some(checks) = self.healthy_after {
            check = check.healthy_after(checks);
        }
        Ok(check)
    }
}

#[cfg(feature = "check-http")]
fn http(url: &str) -> Result<Check, CheckError> {
    Check::http(url)
}

#[cfg(not(feature = "check-http"))]
fn http(_: &str) -> Result<Check, CheckError> {
    Err(CheckError::Feature { key: "http", feature: "check-http" })
}

#[cfg(feature = "check-grpc")]
fn grpc(url: &str, service: &str) -> Result<Check, CheckError> {
    Check::grpc(url, service)
}

#[cfg(not(feature = "check-grpc"))]
fn grpc(_: &str, _: &str) -> Result<Check, CheckError> {
    Err(CheckError::Feature { key: "grpc", feature: "check-grpc" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<CheckSettings, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn every_key_is_taken_over() {
        let settings = read(
            "http = \"http://db/health\"\nevery = \"3s\"\ntimeout = \"1m\"\nhealthy_after = 7\nthen = \"close\"",
        );
        let check = settings.unwrap().check().unwrap();
        let shown = format!("{check:?}");
        assert_eq!(shown, "Check { every: 3s, timeout: 60s, healthy_after: 7, then_close: true, .. }");
        let check = read("tcp = \"db:1\"").unwrap().check().unwrap();
        assert_eq!(format!("{check:?}"), format!("{:?}", Check::tcp("db:1").unwrap()));
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        for (text, named) in [
            ("htp = \"x\"", "htp"),
            ("tcp = \"db:1\"\nevery = \"soon\"", "\"soon\" is no duration"),
            ("tcp = \"db:1\"\nevery = \"-1s\"", "negative"),
            ("tcp = \"db:1\"\nthen = \"dance\"", "dance"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
        let refused = |text: &str| read(text).unwrap().check().unwrap_err();
        assert_eq!(refused(""), CheckError::Kind);
        assert_eq!(refused("tcp = \"db:1\"\nhttp = \"http://db\""), CheckError::Kind);
        assert_eq!(refused("tcp = \"db:1\"\nservice = \"payments\""), CheckError::Service);
    }
}
