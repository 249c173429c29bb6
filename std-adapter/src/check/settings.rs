//! The check that a file describes.

use nanobreaker_settings::{Asked, CheckSettings, Then};

use super::{Check, CheckError};

impl Check {
    /// The check that a file describes.
    ///
    /// # Errors
    ///
    /// A [`CheckError`] that names what can't be, or what this build can't do.
    ///
    /// ```
    /// use nanobreaker::{Check, CheckSettings, SharedBreaker};
    ///
    /// let settings: CheckSettings = toml::from_str(r#"
    ///     tcp = "db.internal:5432"
    ///     every = "500ms"
    ///     then = "close"
    /// "#)?;
    /// let database = SharedBreaker::builder().checked_by(Check::from_settings(&settings)?).build()?;
    /// # drop(database);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_settings(settings: &CheckSettings) -> Result<Self, CheckError> {
        let mut check = match settings.asked()? {
            Asked::Http(url) => http(url)?,
            Asked::Grpc { url, service } => grpc(url, service)?,
            Asked::Tcp(address) => Self::tcp(address)?,
        };
        check = match settings.then.unwrap_or_default() {
            Then::Probe => check.then_probe(),
            Then::Close => check.then_close(),
        };
        if let Some(every) = settings.every {
            check = check.every(every);
        }
        if let Some(timeout) = settings.timeout {
            check = check.timeout(timeout);
        }
        if let Some(checks) = settings.healthy_after {
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

    #[test]
    fn every_key_is_taken_over() {
        let checked = |text: &str| {
            let settings: CheckSettings = toml::from_str(text).unwrap();
            Check::from_settings(&settings).unwrap()
        };
        let check = checked(
            "http = 'http://db/health'\nevery = '3s'\ntimeout = '1m'\nhealthy_after = 7\nthen = 'close'",
        );
        let shown = format!("{check:?}");
        assert_eq!(shown, "Check { every: 3s, timeout: 60s, healthy_after: 7, then_close: true, .. }");
        let check = checked("tcp = 'db:1'");
        assert_eq!(format!("{check:?}"), format!("{:?}", Check::tcp("db:1").unwrap()));
    }
}
